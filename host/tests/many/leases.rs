//! Leases by the hundred thousand, renewed by a few clients.

use std::thread;
use std::time::{Duration, Instant};

use witlock::{Lease, Store};

use crate::common::block_on;
use crate::server::Server;

const CLIENTS: usize = 4;

/// Holders of a client: each may have 10 000 keys.
const HOLDERS: usize = 5;

/// Keys of a holder.
const KEYS: usize = 5_000;

const ALL: usize = CLIENTS * HOLDERS * KEYS;

const TTL: Duration = Duration::from_secs(10);

/// Six ttls: each lease is renewed some twenty times.
const SPAN: Duration = Duration::from_secs(60);

/// All that one client holds.
fn hold_all(address: &str, client: usize) -> (Store, Vec<Lease>) {
    let store = Store::connect(address).unwrap();
    let mut leases = Vec::new();
    for holder in 0..HOLDERS {
        let lock = store.lock("many").ttl(TTL).open().unwrap();
        for key in 0..KEYS {
            let key = format!("{client}/{holder}/{key}");
            leases.push(lock.blocking_lease(&key).unwrap());
        }
    }
    (store, leases)
}

// LOCK-05, case I5
#[test]
#[ignore = "takes more than a minute"]
fn a_hundred_thousand_leases_are_renewed_and_none_is_lost() {
    let server = Server::start();
    let address = server.address();
    let clients: Vec<(Store, Vec<Lease>)> = thread::scope(|scope| {
        let address = &address;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| scope.spawn(move || hold_all(address, client)))
            .collect();
        clients.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let bystander = Store::connect(&address).unwrap();
    assert_eq!(block_on(bystander.counts()).unwrap().leases, ALL as u64);

    let (busy, began) = (server.busy(), Instant::now());
    let slowest = hold_meanwhile(&bystander, began);
    let share = (server.busy() - busy).as_secs_f64() / began.elapsed().as_secs_f64();
    println!(
        "{ALL} leases: the server was at work for {:.0} % of a processor, had {} MiB and a \
         journal of {} KiB; the slowest hold and release of another key took {slowest:?}",
        share * 100.0,
        server.memory(),
        server.journal() / 1024,
    );

    let leases = clients.iter().flat_map(|(_, leases)| leases);
    let lost: Vec<_> = leases.filter_map(Lease::ended).collect();
    assert_eq!(lost.len(), 0, "{:?}", lost.first());
    assert_eq!(block_on(bystander.counts()).unwrap().leases, ALL as u64);
    // Each has been renewed by its own clock, and none is as long as it was held.
    for (store, leases) in clients {
        let renewed = leases.iter().all(|lease| lease.deadline().is_some());
        assert!(renewed && began.elapsed() > 5 * TTL);
        drop(leases);
        store.close();
    }
}

/// What else the store does: the longest that a hold and its release took.
fn hold_meanwhile(store: &Store, began: Instant) -> Duration {
    let lock = store.lock("others").open().unwrap();
    let mut slowest = Duration::ZERO;
    while began.elapsed() < SPAN {
        let asked = Instant::now();
        lock.blocking_hold("k", |_| ()).unwrap();
        slowest = slowest.max(asked.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    slowest
}
