//! What is measured: one task after the other, and many in one line.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::bindings::wasi::clocks::monotonic_clock::now;
use crate::opened::{Opened, standing_why, why};
use crate::words::Wait;

/// Holds a free key and releases it, so many times.
pub async fn often(opened: &Opened, key: String, times: u64) -> String {
    let start = now();
    for _ in 0..times {
        match opened.hold(key.clone(), Wait::AsOpened).await {
            Ok(lease) => drop(lease),
            Err(error) => return why(error),
        }
    }
    format!("took {}", now() - start)
}

/// Holds a free key and releases it, and says each fence, until it is refused.
pub async fn fences(opened: &Opened, key: String) -> String {
    loop {
        match opened.hold(key.clone(), Wait::AsOpened).await {
            Ok(lease) => println!("fence {}", lease.fence()),
            Err(error) => return why(error),
        }
    }
}

/// As [`often`], by `@0.2.0`.
pub fn often_standing(opened: &Opened, key: &str, times: u64) -> String {
    let start = now();
    for _ in 0..times {
        match opened.hold_standing(key, None) {
            Ok(lease) => drop(lease),
            Err(error) => return standing_why(error),
        }
    }
    format!("took {}", now() - start)
}

/// So many tasks stand in line for one key, each behind the one before; each
/// notes that it has the key and lets it go.
pub async fn crowd(opened: &Rc<Opened>, key: &str, tasks: u32) -> String {
    let first = match opened.hold(key.into(), Wait::AsOpened).await {
        Ok(lease) => lease,
        Err(error) => return why(error),
    };
    let order = Rc::new(RefCell::new(Vec::new()));
    let refused = Rc::new(Cell::new(0));
    let mut line: FuturesUnordered<_> = (0..tasks)
        .map(|number| {
            let (opened, key) = (opened.clone(), key.to_owned());
            let (order, refused) = (order.clone(), refused.clone());
            async move {
                match opened.hold(key, Wait::For(u32::MAX)).await {
                    Ok(_lease) => order.borrow_mut().push(number),
                    Err(_) => refused.set(refused.get() + 1),
                }
            }
        })
        .collect();
    // All ask, in the order in which they were made.
    poll_fn(|context| {
        while let Poll::Ready(Some(())) = line.poll_next_unpin(context) {}
        Poll::Ready(())
    })
    .await;
    let start = now();
    drop(first);
    while line.next().await.is_some() {}
    let took = now() - start;
    let in_order = order.borrow().iter().copied().eq(0..tasks);
    match (in_order, refused.get()) {
        (true, 0) => format!("in order, took {took}"),
        (_, refused) => format!("out of order, {refused} refused: {:?}", order.borrow()),
    }
}
