//! The signals that are given on to the command.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::dispositions;

/// Those that end a process which only waits for its key.
const ENDING: [SignalKind; 4] = [
    SignalKind::hangup(),
    SignalKind::interrupt(),
    SignalKind::quit(),
    SignalKind::terminate(),
];

/// Those that are given on besides.
const OTHERS: [SignalKind; 4] = [
    SignalKind::user_defined1(),
    SignalKind::user_defined2(),
    SignalKind::alarm(),
    SignalKind::window_change(),
];

/// SIGCONT, of which tokio has no name.
fn go_on() -> SignalKind {
    SignalKind::from_raw(rustix::process::Signal::CONT.as_raw())
}

pub struct Signals(Vec<(i32, Signal)>);

impl Signals {
    /// Catches them from here on, but for those that are ignored: caught, they
    /// would no longer be ignored in the command.
    pub fn catch() -> io::Result<Signals> {
        let all = ENDING.iter().chain(&OTHERS);
        let all = all.copied().chain([go_on()]);
        let heard = all.filter(|kind| !dispositions::is_ignored(kind.as_raw_value()));
        heard
            .map(|kind| Ok((kind.as_raw_value(), signal(kind)?)))
            .collect::<io::Result<_>>()
            .map(Signals)
    }

    /// The number of the next. Dropping this future loses none.
    pub async fn next(&mut self) -> i32 {
        poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The number of the next that ends a process which waits.
    pub async fn next_ending(&mut self) -> i32 {
        loop {
            let number = self.next().await;
            if ENDING.iter().any(|kind| kind.as_raw_value() == number) {
                return number;
            }
        }
    }
}
