//! A served store, by our own client: what its users see.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::witlock::{Connector, Lock, Store};
use tokio::runtime::Runtime;

use super::link::Address;
use super::raw;
use super::serving::TOKEN;
use super::subjects::{Load, Subject};
use super::turn::Turn;

pub fn subject(runtime: &Arc<Runtime>, address: &Address, load: &Load) -> Subject {
    let runtime = runtime.clone();
    let stores: Vec<Store> = (0..load.connections).map(|_| connect(address)).collect();
    let caller = |(connection, store): (usize, &Store)| {
        let lock = |key| (store.lock("summaries").open().expect("a lock"), key);
        raw::keys(connection, load.callers)
            .into_iter()
            .map(lock)
            .collect::<Vec<_>>()
    };
    let callers: Vec<(Lock, String)> = stores.iter().enumerate().flat_map(caller).collect();
    Box::new(move |span| {
        let start = Instant::now();
        let latencies = runtime.block_on(async {
            let work = |(lock, key): &(Lock, String)| {
                tokio::spawn(hold_until(lock.clone(), key.clone(), start + span))
            };
            let mut latencies = Vec::new();
            for task in callers.iter().map(work).collect::<Vec<_>>() {
                latencies.extend(task.await.expect("no panic"));
            }
            latencies
        });
        Turn {
            took: start.elapsed(),
            latencies,
        }
    })
}

fn connect(address: &Address) -> Store {
    let address = match address {
        Address::Unix(path) => format!("unix:{}", path.display()),
        Address::Tcp(address) => format!("tcp:{address}"),
    };
    let connector = Connector::new(address).token(TOKEN);
    connector.connect().expect("a connection")
}

async fn hold_until(lock: Lock, key: String, until: Instant) -> Vec<Duration> {
    let mut latencies = Vec::new();
    let mut asked = Instant::now();
    while asked < until {
        lock.hold(&key, async |_| ()).await.expect("a free key");
        let now = Instant::now();
        latencies.push(now - asked);
        asked = now;
    }
    latencies
}
