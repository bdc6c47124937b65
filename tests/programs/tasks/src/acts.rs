//! What the lines say.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use futures_util::future::{AbortHandle, Abortable, Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::asks::{Ask, ending};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::crowd;
use crate::opened::{Opened, standing_why, why};
use crate::words::{self, Terms, Wait, number, option, place, text};

/// Times that others get their turn before a line is answered: as many as news
/// take on their way through two components.
const TURNS: usize = 8;

/// All that the program has.
#[derive(Default)]
pub struct Player {
    opened: Vec<Rc<Opened>>,
    asks: Vec<Rc<Ask>>,
    tasks: FuturesUnordered<Task>,
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

impl Player {
    /// Waits for something while all tasks go on.
    pub async fn meanwhile<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            while let Poll::Ready(Some(())) = self.tasks.poll_next_unpin(context) {}
            future.as_mut().poll(context)
        })
        .await
    }

    /// Lets everything happen that can happen now.
    async fn settle(&mut self) {
        for _ in 0..TURNS {
            self.meanwhile(wit_bindgen::yield_async()).await;
        }
    }

    /// Does what a line says; gives the answer.
    pub async fn act(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            ["open", name, limit, ttl, wait, max_hold, label] => {
                self.open(&words::terms([name, limit, ttl, wait, max_hold, label]))
            }
            ["ask", lock, key, wait] => {
                self.ask(place(lock), text(key), words::wait(wait));
                self.settle().await;
                "asked".into()
            }
            ["answer", ask] => {
                self.settle().await;
                self.asks[place(ask)].answer()
            }
            ["cancel", ask] => {
                self.asks[place(ask)].cancel();
                self.settle().await;
                "cancelled".into()
            }
            ["release-and-cancel", ask, other] => {
                self.release(place(ask), Some(place(other))).await
            }
            ["release", ask] => self.release(place(ask), None).await,
            ["ended", ask] => {
                self.settle().await;
                self.asks[place(ask)].ended()
            }
            ["watch", ask] => {
                self.watch(place(ask));
                self.settle().await;
                "watching".into()
            }
            ["watched", ask] => {
                self.settle().await;
                self.asks[place(ask)].watched()
            }
            ["stand-still", lock, key, wait] => self.stand_still(place(lock), &text(key), wait),
            ["try-standing", lock, key] => self.try_standing(place(lock), &text(key)),
            ["race", lock, key, ms] => self.race(place(lock), text(key), number(ms)).await,
            ["poll", lock, key, times] => self.poll(place(lock), text(key), number(times)).await,
            ["often", lock, key, times] => {
                crowd::often(&self.opened[place(lock)], text(key), number(times)).await
            }
            ["often-standing", lock, key, times] => {
                crowd::often_standing(&self.opened[place(lock)], &text(key), number(times))
            }
            ["fences", lock, key] => crowd::fences(&self.opened[place(lock)], text(key)).await,
            ["crowd", lock, key, tasks] => {
                crowd::crowd(&self.opened[place(lock)], &text(key), number(tasks)).await
            }
            ["advance", ms] => {
                self.advance(number(ms)).await;
                self.settle().await;
                "advanced".into()
            }
            #[cfg(feature = "time")]
            ["sleep", ms] => {
                crate::bindings::witlock::tasks::time::sleep(number(ms));
                "slept".into()
            }
            ["settle"] => {
                self.settle().await;
                "settled".into()
            }
            ["spin"] => spin(),
            ["spin-until-ended", ask] => self.asks[place(ask)].spin_until_ended(),
            ["trap"] => trap(),
            _ => format!("unknown {line}"),
        }
    }

    fn open(&mut self, terms: &Terms) -> String {
        match Opened::open(terms) {
            Ok(opened) => {
                self.opened.push(Rc::new(opened));
                "opened".into()
            }
            Err(why) => why,
        }
    }

    fn ask(&mut self, lock: usize, key: String, wait: Wait) {
        let (abort, registration) = AbortHandle::new_pair();
        let ask = Ask::new(abort);
        self.asks.push(ask.clone());
        let opened = self.opened[lock].clone();
        let asking = Abortable::new(async move { opened.hold(key, wait).await }, registration);
        self.tasks.push(Box::pin(async move {
            // Aborted, nobody looks for the answer.
            if let Ok(answer) = asking.await {
                ask.answered(answer.map_err(why));
            }
        }));
    }

    /// Releases a lease; another ask may be cancelled while its grant is on its
    /// way.
    async fn release(&mut self, ask: usize, cancelled: Option<usize>) -> String {
        let Some(lease) = self.asks[ask].lease() else {
            return "no lease".into();
        };
        let released = lease.release().await;
        if let Some(other) = cancelled {
            self.asks[other].cancel();
        }
        self.settle().await;
        released.map_or_else(
            |how| format!("ended {}", ending(how)),
            |()| "released".into(),
        )
    }

    fn watch(&mut self, ask: usize) {
        let ask = self.asks[ask].clone();
        if let Some(lease) = ask.lease() {
            self.tasks.push(Box::pin(async move {
                ask.saw_end(lease.until_ended().await);
            }));
        }
    }

    fn stand_still(&self, lock: usize, key: &str, wait: &str) -> String {
        match self.opened[lock].hold_standing(key, option(wait)) {
            Ok(lease) => format!("held {}", lease.fence()),
            Err(error) => standing_why(error),
        }
    }

    fn try_standing(&self, lock: usize, key: &str) -> String {
        match self.opened[lock].try_standing(key) {
            Ok(Some(lease)) => format!("held {}", lease.fence()),
            Ok(None) => "none".into(),
            Err(error) => standing_why(error),
        }
    }

    async fn race(&mut self, lock: usize, key: String, ms: u64) -> String {
        let opened = self.opened[lock].clone();
        let hold = pin!(opened.hold(key, Wait::For(60_000)));
        let timer = pin!(monotonic_clock::wait_for(ms * 1_000_000));
        match self.meanwhile(select(hold, timer)).await {
            Either::Left((Ok(_), _)) => "held".into(),
            Either::Left((Err(error), _)) => why(error),
            Either::Right(_) => "timer".into(),
        }
    }

    async fn poll(&mut self, lock: usize, key: String, times: usize) -> String {
        let opened = self.opened[lock].clone();
        let mut hold = Box::pin(opened.hold(key, Wait::For(60_000)));
        for _ in 0..times {
            let polled = poll_fn(|context| Poll::Ready(hold.as_mut().poll(context))).await;
            match polled {
                Poll::Ready(Ok(_)) => return "held".into(),
                Poll::Ready(Err(error)) => return why(error),
                Poll::Pending => self.meanwhile(wit_bindgen::yield_async()).await,
            };
        }
        "waiting".into()
    }

    async fn advance(&mut self, ms: u64) {
        #[cfg(feature = "time")]
        self.meanwhile(crate::bindings::witlock::tasks::time::advance(ms))
            .await;
        #[cfg(not(feature = "time"))]
        self.meanwhile(monotonic_clock::wait_for(ms * 1_000_000))
            .await;
    }
}

/// A trap as it is, without a panic's message.
fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort();
}

fn spin() -> ! {
    println!("spinning");
    loop {
        // A loop that does nothing at all might be taken out.
        std::hint::black_box(());
    }
}
