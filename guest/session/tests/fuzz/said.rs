//! What clients say at random: mostly what makes sense.

use fastrand::Rng;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{self, Enter, Hello, Hold, Lease, ToStore, VERSION, put};

/// Sessions that there are at most at a time; two connections may mean the same.
pub const SESSIONS: usize = 5;

/// Numbers of asks.
const ASKS: u64 = 6;

pub const TOKEN: &str = "a token";

pub const OPERATOR_TOKEN: &str = "an operator's";

/// What a client may know, of itself and of others.
#[derive(Default)]
pub struct Known {
    pub now: u64,
    /// Numbers under which sessions are at the connection.
    pub owns: Vec<u64>,
    /// Sessions that are not.
    pub elsewhere: Vec<u8>,
    /// The latest entry of each session.
    pub entries: [u64; SESSIONS],
    /// Leases that were given lately, and where they are listed.
    pub leases: Vec<(Lease, u32)>,
}

pub fn frame(message: &ToStore) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(message, &mut bytes);
    bytes
}

pub fn hello(token: &str) -> ToStore {
    let hello = Hello {
        version: VERSION,
        token: token.into(),
        client: "a client".into(),
    };
    let body = Some(Said::Hello(hello));
    ToStore {
        body,
        ..ToStore::default()
    }
}

/// A session that nobody else has enters.
pub fn enter_at(session: u64) -> ToStore {
    let enter = Enter {
        id: vec![u8::MAX; 16],
        entry: 1,
        ..Enter::default()
    };
    let body = Some(Said::Enter(enter));
    ToStore {
        session,
        body,
        ..ToStore::default()
    }
}

/// It asks for a key that is as long as may be.
pub fn hold_long(session: u64) -> ToStore {
    let hold = Hold {
        name: "long".into(),
        key: "k".repeat(1_024),
        ..Hold::default()
    };
    let body = Some(Said::Hold(hold));
    ToStore {
        session,
        body,
        ..ToStore::default()
    }
}

impl Known {
    pub fn say(&self, rng: &mut Rng) -> ToStore {
        let body = match rng.u8(..100) {
            _ if self.owns.is_empty() && rng.u8(..20) > 0 => Some(Said::Enter(self.enter(rng))),
            0..30 => Some(Said::Hold(hold(rng))),
            30..45 => Some(Said::Release(wire::Release {
                lease: Some(self.lease(rng)),
            })),
            45..58 => Some(Said::Renew(self.renew(rng))),
            58..66 => Some(Said::Cancel(wire::Cancel {
                ask: rng.u64(..=ASKS),
            })),
            66..72 => Some(Said::Enter(self.enter(rng))),
            72..74 => Some(Said::Leave(wire::Leave {})),
            74..80 => Some(Said::Ping(wire::Ping {})),
            80..98 => Some(self.operate(rng)),
            98 if rng.u8(..4) == 0 => hello(TOKEN).body,
            _ => None,
        };
        let session = self.own(rng, &body);
        let sent = self.now;
        ToStore {
            sent,
            session,
            body,
        }
    }

    fn own(&self, rng: &mut Rng, body: &Option<Said>) -> u64 {
        let known = rng.choice(&self.owns).copied();
        match known {
            _ if rng.u8(..60) == 0 => rng.u64(..6),
            Some(own) if !matches!(body, Some(Said::Enter(_))) => own,
            _ => (1..)
                .find(|own| !self.owns.contains(own))
                .unwrap_or_default(),
        }
    }

    fn enter(&self, rng: &mut Rng) -> Enter {
        let anyone = rng.u8(..SESSIONS as u8);
        let who = match rng.u8(..20) {
            0 => anyone,
            _ => rng.choice(&self.elsewhere).copied().unwrap_or(anyone),
        };
        let latest = self.entries[usize::from(who)];
        let bytes = if rng.u8(..60) == 0 { 15 } else { 16 };
        let entry = match rng.u8(..12) {
            0 => rng.u64(..=latest),
            _ => latest + 1,
        };
        Enter {
            id: vec![who; bytes],
            leases: self.some_leases(rng),
            asks: (1..=ASKS).filter(|_| rng.bool()).collect(),
            max_held: rng.bool().then(|| rng.u32(..20)),
            max_waiting: None,
            entry,
        }
    }

    /// One that was given to anyone, or none at all.
    fn lease(&self, rng: &mut Rng) -> Lease {
        let known = rng.choice(&self.leases).map(|(lease, _)| *lease);
        let mut lease = known.unwrap_or_default();
        match rng.u8(..20) {
            0 => lease.secret ^= 1 << rng.u8(..64),
            1 => lease.fence = lease.fence.wrapping_add(1),
            _ => {}
        }
        lease
    }

    fn some_leases(&self, rng: &mut Rng) -> Vec<Lease> {
        let all = self.leases.iter().map(|(lease, _)| *lease);
        let mut some: Vec<Lease> = all.filter(|_| rng.u8(..4) > 0).collect();
        some.extend((rng.u8(..4) == 0).then(|| self.lease(rng)));
        some
    }

    fn renew(&self, rng: &mut Rng) -> wire::Renew {
        let leases = match rng.u8(..200) {
            0 => vec![self.lease(rng); wire::RENEWED_AT_ONCE + 1],
            1..100 => self.some_leases(rng),
            _ => vec![self.lease(rng)],
        };
        wire::Renew { leases }
    }

    fn operate(&self, rng: &mut Rng) -> Said {
        let tag = rng.u64(..);
        let (lease, place) = rng.choice(&self.leases).copied().unwrap_or_default();
        match rng.u8(..4) {
            0 => Said::ListHoldings(list(rng, tag)),
            1 => Said::ListWaiters(wire::ListWaiters {
                tag,
                key: rng.u64(..3),
                arrival: rng.u64(..3),
            }),
            2 => Said::Break(wire::Break {
                tag,
                fence: lease.fence,
                place: place.wrapping_add(u32::from(rng.u8(..8) == 0)),
            }),
            _ => Said::Count(wire::Count { tag }),
        }
    }
}

fn list(rng: &mut Rng, tag: u64) -> wire::ListHoldings {
    let cursor = match rng.bool() {
        true => 0,
        false => rng.u64(..),
    };
    wire::ListHoldings { tag, cursor }
}

fn hold(rng: &mut Rng) -> Hold {
    let is_seat = rng.u8(..4) == 0;
    let is_wrong = rng.u8(..40) == 0;
    let waits = [None, Some(0), Some(500), Some(3_000), Some(20_000)];
    let ttls = [Some(1_000), Some(5_000), Some(10_000), None];
    let wrong = [Some(0), Some(999), Some(3_600_001), Some(u32::MAX)];
    let key = rng.choice(["a", "b", "c", "d"]).unwrap_or_default();
    Hold {
        ask: rng.u64(..=ASKS),
        name: if is_seat { "seats" } else { "jobs" }.into(),
        limit: is_seat.then(|| rng.u32(2..4)),
        // Long ones fill a reader's room.
        key: key.repeat(if rng.u8(..4) == 0 { 1_024 } else { 1 }),
        wait: rng.choice(waits).flatten(),
        ttl: rng.choice(if is_wrong { wrong } else { ttls }).flatten(),
        max_hold: (rng.u8(..5) == 0).then(|| rng.u32(..8_000)),
        label: (rng.u8(..8) == 0).then(|| "labelled".into()),
        alone: rng.u8(..8) == 0,
    }
}
