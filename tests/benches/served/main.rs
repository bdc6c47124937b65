//! What holding and releasing a key costs at a served store, beside a bare echo, Redis,
//! tinystore's server and etcd. Each server is a process of its own; the clients of all
//! are in this one, and just as thin, so that it is servers that are compared. What our
//! own client costs is beside that, in rows of its own.
//!
//! Each caller holds and releases a key of its own, over and over. The subjects take
//! turns, so that a machine that is slow for a second is slow for all of them: what is
//! printed are medians over the turns, of the figures and of the ratios.
//!
//! Words behind `--` pick tables: `cargo bench --bench served -- "Unix socket"`.
#![allow(missing_docs)]

mod client;
mod echo;
mod etcd;
mod link;
mod peers;
mod raw;
mod redis;
mod server;
mod serving;
mod subjects;
mod table;
mod tinystore;
mod turn;
mod witlock;

use std::time::Duration;

use link::Transport;
use subjects::{Load, Servers};

const TURNS: usize = 21;

/// How long a turn is.
const TURN: Duration = Duration::from_millis(100);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(asked) = serving::asked(&arguments) {
        return asked.serve();
    }
    let loads: Vec<Load> = loads().filter(|load| is_picked(load, &arguments)).collect();
    let servers = Servers::start();
    for load in loads {
        table::compare(&load.to_string(), servers.subjects(&load));
    }
}

fn loads() -> impl Iterator<Item = Load> {
    [Transport::Unix, Transport::Tcp]
        .into_iter()
        .flat_map(|transport| {
            [(1, 1), (20, 1), (1, 20)].map(|(connections, callers)| Load {
                transport,
                connections,
                callers,
            })
        })
}

/// Whether one of the words names it, if there are any; cargo's own are none.
fn is_picked(load: &Load, arguments: &[String]) -> bool {
    let mut words = arguments.iter().filter(|word| !word.starts_with("--"));
    let name = load.to_string();
    match words.clone().next() {
        None => true,
        Some(_) => words.any(|word| name.contains(word.as_str())),
    }
}
