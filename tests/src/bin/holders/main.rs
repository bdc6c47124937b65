//! A process of several holders that go on until their standard input ends:
//! `holders <process> <address> <token> <resource> <manner>`. They tell the resource
//! all that they ask for, hold and lose. `bounded`, they hold and wait for keys in
//! haste, some with a max-hold; `unbounded`, none with one; `lasting`, the same with a
//! longer ttl. With a number of milliseconds they hold keys of their own, with that ttl,
//! for long.

#![allow(clippy::expect_used)] // a tool of the tests

mod holder;
mod patience;
mod plan;
mod teller;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use holder::Holder;
use plan::{Hasty, Plans, Steady};
use teller::Teller;
use witlock::{Connector, Store};

const HOLDERS: u64 = 6;

/// How long after the end of its input a process is there at most. Far more than an
/// ask waits; whoever started it is gone, or says that it hangs.
const LINGERING: Duration = Duration::from_secs(90);

static STOPS: AtomicBool = AtomicBool::new(false);

/// What all holders of a process share.
pub struct Process {
    number: u32,
    resource: String,
    asks: AtomicU64,
}

impl Process {
    /// A number that no other ask has.
    pub fn next_ask(&self) -> u64 {
        u64::from(self.number) << 32 | self.asks.fetch_add(1, Ordering::Relaxed)
    }
}

/// Whether the holders are to come to their ends.
pub fn stops() -> bool {
    STOPS.load(Ordering::Relaxed)
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().expect("an argument");
    let number = next().parse().expect("a number");
    let (address, token, resource) = (next(), next(), next());
    let manner = next();
    thread::spawn(stop_with_input);
    let process = Process {
        number,
        resource,
        asks: AtomicU64::new(0),
    };
    let name = format!("process {number}");
    let Some(store) = connect(|| Connector::new(&address).name(&name).token(&token)) else {
        return;
    };
    let process = &process;
    thread::scope(|scope| {
        for holder in 0..HOLDERS {
            let plans = plans(&manner, &store, u64::from(number) << 8 | holder);
            scope.spawn(move || live(process, holder, plans));
        }
    });
    store.close();
}

/// Those of one holder, who has a session of its own.
fn plans(manner: &str, store: &Store, holder: u64) -> Box<dyn Plans + Send> {
    match manner.parse() {
        Ok(ttl) => Box::new(Steady::open(store, holder, Duration::from_millis(ttl))),
        Err(_) => Box::new(Hasty::open(store, holder, manner)),
    }
}

fn live(process: &Process, holder: u64, plans: Box<dyn Plans + Send>) {
    let teller = Teller::new(&process.resource, &format!("{}-{holder}", process.number));
    Holder::new(process, teller).go_on(plans);
}

fn stop_with_input() {
    let _ = std::io::read_to_string(std::io::stdin());
    STOPS.store(true, Ordering::Relaxed);
    thread::sleep(LINGERING);
    std::process::exit(1);
}

/// Tries until there is a server, or it is time to stop.
fn connect(connector: impl Fn() -> Connector) -> Option<Store> {
    while !stops() {
        if let Ok(store) = connector().connect() {
            return Some(store);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}
