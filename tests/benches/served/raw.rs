//! The thin client that all servers have: frames put and cut by hand, one task for
//! each connection, all on one thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::link::{Address, Arrived, Link};
use super::subjects::{Load, Subject};
use super::turn::Turn;

/// What a server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Welcome,
    /// A caller's key is held.
    Held(usize),
    /// It is free again.
    Released(usize),
}

/// What a connection says, and how it reads what it is answered. Its callers have
/// numbers from 0 on; each has one thing under way at a time.
pub trait Protocol: Send + 'static {
    /// What comes before everything else. It is answered by a welcome.
    fn greet(&mut self, out: &mut Vec<u8>);
    fn hold(&mut self, caller: usize, out: &mut Vec<u8>);
    fn release(&mut self, caller: usize, out: &mut Vec<u8>);
    /// Takes out the next answer, if all of it has arrived. Panics on one that is not
    /// what was hoped for.
    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer>;
}

/// The keys of a connection's callers: nobody else's.
pub fn keys(connection: usize, callers: usize) -> Vec<String> {
    let key = |caller| format!("chat-{connection:03}-{caller:03}");
    (0..callers).map(key).collect()
}

/// Connects, and does what the load is over and over, in turns.
pub fn subject<P: Protocol>(
    runtime: &Arc<Runtime>,
    address: &Address,
    load: &Load,
    protocol: impl Fn(Vec<String>) -> P,
) -> Subject {
    let runtime = runtime.clone();
    let open = |connection| {
        let protocol = protocol(keys(connection, load.callers));
        runtime.block_on(Connection::open(address, protocol, load.callers))
    };
    let mut connections: Vec<_> = (0..load.connections).map(open).collect();
    Box::new(move |span| {
        let start = Instant::now();
        let mut latencies = Vec::new();
        runtime.block_on(async {
            let turn = |connection: Connection<P>| tokio::spawn(connection.turn(start + span));
            let turns: Vec<_> = connections.drain(..).map(turn).collect();
            for turn in turns {
                let (connection, of_its_callers) = turn.await.expect("no panic");
                connections.push(connection);
                latencies.extend(of_its_callers);
            }
        });
        Turn {
            took: start.elapsed(),
            latencies,
        }
    })
}

struct Connection<P> {
    link: Link,
    protocol: P,
    /// When each caller asked for its key.
    asked: Vec<Instant>,
}

impl<P: Protocol> Connection<P> {
    async fn open(address: &Address, mut protocol: P, callers: usize) -> Self {
        let mut link = address.connect().await.expect("a connection");
        protocol.greet(&mut link.out);
        let answer = loop {
            link.exchange().await;
            if let Some(answer) = protocol.hear(&mut link.arrived) {
                break answer;
            }
        };
        assert_eq!(answer, Answer::Welcome);
        Connection {
            link,
            protocol,
            asked: vec![Instant::now(); callers],
        }
    }

    /// Until then each caller asks anew as soon as its key is free.
    async fn turn(mut self, until: Instant) -> (Self, Vec<Duration>) {
        let mut latencies = Vec::new();
        let mut at_work = self.asked.len();
        for caller in 0..at_work {
            self.hold(caller, Instant::now());
        }
        while at_work > 0 {
            self.link.exchange().await;
            while let Some(answer) = self.protocol.hear(&mut self.link.arrived) {
                match answer {
                    Answer::Welcome => panic!("welcomed twice"),
                    Answer::Held(caller) => self.protocol.release(caller, &mut self.link.out),
                    Answer::Released(caller) => {
                        let now = Instant::now();
                        latencies.push(now - self.asked[caller]);
                        match now < until {
                            true => self.hold(caller, now),
                            false => at_work -= 1,
                        }
                    }
                }
            }
        }
        (self, latencies)
    }

    fn hold(&mut self, caller: usize, now: Instant) {
        self.asked[caller] = now;
        self.protocol.hold(caller, &mut self.link.out);
    }
}
