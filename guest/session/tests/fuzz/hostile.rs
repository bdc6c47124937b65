//! What a server says that is up to no good: mostly what a client understands.

use fastrand::Rng;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::{self, Lease, ToClient, ended, goodbye, put, refused};

/// What the server was told, or told before.
#[derive(Default)]
pub struct Heard {
    pub now: u64,
    pub asks: Vec<u64>,
    pub leases: Vec<Lease>,
    pub tags: Vec<u64>,
}

pub fn frame(message: &ToClient) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(message, &mut bytes);
    bytes
}

pub fn welcome() -> ToClient {
    let welcome = wire::Welcome {
        version: wire::VERSION,
        operator: true,
    };
    let body = Some(Told::Welcome(welcome));
    ToClient {
        body,
        ..ToClient::default()
    }
}

impl Heard {
    pub fn tell(&self, rng: &mut Rng) -> ToClient {
        let body = match rng.u8(..100) {
            0..40 => Some(Told::Granted(self.granted(rng))),
            40..48 => Some(Told::Refused(self.refused(rng))),
            48..68 => Some(Told::Renewed(wire::Renewed {
                fence: self.lease(rng).fence,
                max_hold: span(rng),
            })),
            68..76 => Some(Told::Ended(wire::Ended {
                fence: self.lease(rng).fence,
                how: rng.i32(-1..ended::How::Closed as i32 + 2),
            })),
            76..80 => Some(Told::Pong(wire::Pong {})),
            80..82 => Some(Told::Left(wire::Left {})),
            82..96 => Some(self.answer(rng)),
            96 => welcome().body,
            97 => Some(Told::Goodbye(wire::Goodbye {
                reason: rng.i32(-1..goodbye::Reason::Replaced as i32 + 2),
                text: "go".into(),
            })),
            98 => Some(Told::Closing(wire::Closing {})),
            _ => None,
        };
        ToClient {
            session: rng.u64(..5),
            echo: self.echo(rng),
            body,
        }
    }

    /// Of the past as a rule.
    fn echo(&self, rng: &mut Rng) -> u64 {
        match rng.u8(..10) {
            0 => rng.u64(..),
            1 => 0,
            _ => self.now - rng.u64(..=self.now.min(1 << 32)),
        }
    }

    fn ask(&self, rng: &mut Rng) -> u64 {
        rng.choice(&self.asks).copied().unwrap_or(7)
    }

    fn lease(&self, rng: &mut Rng) -> Lease {
        let new = Lease {
            fence: rng.u64(..50),
            secret: rng.u64(..),
        };
        match rng.u8(..8) {
            0 => new,
            _ => rng.choice(&self.leases).copied().unwrap_or(new),
        }
    }

    fn granted(&self, rng: &mut Rng) -> wire::Granted {
        let new = Lease {
            fence: rng.u64(..1 << 53),
            secret: rng.u64(..),
        };
        let lease = match rng.u8(..8) {
            0 => None,
            1 => Some(self.lease(rng)),
            _ => Some(new),
        };
        wire::Granted {
            ask: self.ask(rng),
            lease,
            max_hold: span(rng),
        }
    }

    fn refused(&self, rng: &mut Rng) -> wire::Refused {
        wire::Refused {
            ask: self.ask(rng),
            why: rng.i32(-1..refused::Why::Cancelled as i32 + 2),
            text: "no".into(),
        }
    }

    fn answer(&self, rng: &mut Rng) -> Told {
        let tag = rng.choice(&self.tags).copied().unwrap_or(rng.u64(..));
        match rng.u8(..5) {
            0 => Told::Denied(wire::Denied { tag }),
            1 => Told::Broke(wire::Broke { tag, held: true }),
            2 => Told::Holdings(wire::Holdings {
                tag,
                ..wire::Holdings::default()
            }),
            3 => Told::Waiters(wire::Waiters {
                tag,
                ..wire::Waiters::default()
            }),
            _ => Told::Counted(wire::Counted {
                tag,
                ..wire::Counted::default()
            }),
        }
    }
}

fn span(rng: &mut Rng) -> Option<u64> {
    match rng.u8(..10) {
        0 => Some(rng.u64(..)),
        1 => Some(0),
        2 => Some(rng.u64(..20_000_000_000)),
        _ => None,
    }
}
