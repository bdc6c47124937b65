//! What happens to a store, drawn from a seed, and told without reference to
//! what came of it: so parts of it can be left out, and the rest still means
//! something.

use fastrand::Rng;

/// Sessions of a history. Those below [`REMOTE`] are reached over a connection.
pub const SESSIONS: u64 = 6;

/// Sessions below this have leases with a ttl, may be suspended and come back.
pub const REMOTE: u64 = 3;

/// What happens to a store, from its first opening on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// Keys that a session may hold, and wait for.
    pub bound: u32,
    /// Fences of one reservation.
    pub fences: u64,
    /// What happens, step by step.
    pub steps: Vec<Step>,
}

/// One step of the engine, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Time goes on, and then this is asked for.
    Do(Time, Vec<Op>),
    /// The store is closed, and opened again.
    Reopen,
    /// The store's process is killed, and the store opened again.
    Crash,
}

/// How time goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// To the moment at which something is due next, if there is one.
    ToNext,
    /// By so many nanoseconds.
    By(u64),
}

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A key.
    Hold(Ask),
    /// Somebody leaves a line.
    Cancel(Pick),
    /// A key is let go.
    Release(Pick),
    /// A lease is renewed.
    Renew(Pick),
    /// A lease is broken by what the last listing showed of it.
    Break(Pick),
    /// A session is opened; one that is open stays as it is.
    Open(u64),
    /// A session ends.
    End(u64),
    /// A session's connection is gone.
    Suspend(u64),
    /// A session is back, and names those of its leases and requests of which
    /// the bits say so.
    Resume(u64, u64),
    /// The reservation that was ordered, if one was, comes.
    FencesCome,
    /// It fails.
    FencesFail,
    /// No key is given for so many nanoseconds.
    Grace(u64),
    /// All that is held, and who waits, is listed.
    List,
    /// The store is closed, and not opened again yet.
    Close,
}

/// An ask for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // as in the engine's `Hold`
pub struct Ask {
    pub session: u64,
    pub limit: Option<u32>,
    pub key: u8,
    pub wait: u32,
    pub ttl: u32,
    pub max_hold: Option<u32>,
    pub alone: bool,
    pub request: Option<u8>,
}

/// Which of the asks or leases there are at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// One that lasts, counted around.
    Lasting(u32),
    /// Any there ever was, counted around.
    Any(u32),
}

impl History {
    /// The history of a seed.
    pub fn random(seed: u64, steps: usize) -> Self {
        let mut random = Rng::with_seed(seed);
        History {
            bound: random.u32(2..8),
            // Few, so that they run out; or many, so that they never do.
            fences: if random.bool() {
                random.u64(1..8)
            } else {
                1 << 20
            },
            steps: (0..steps).map(|_| Step::random(&mut random)).collect(),
        }
    }
}

impl Step {
    fn random(random: &mut Rng) -> Self {
        match random.u32(0..200) {
            0 => Step::Reopen,
            1 => Step::Crash,
            _ => {
                let ops = random.u32(0..5);
                Step::Do(
                    Time::random(random),
                    (0..ops).map(|_| Op::random(random)).collect(),
                )
            }
        }
    }
}

impl Time {
    fn random(random: &mut Rng) -> Self {
        match random.u32(0..10) {
            0..3 => Time::By(0),
            3..7 => Time::ToNext,
            _ => Time::By(random.u64(0..3_000_000_000)),
        }
    }
}

impl Op {
    fn random(random: &mut Rng) -> Self {
        match random.u32(0..4_000) {
            0..1_700 => Op::Hold(Ask::random(random)),
            1_700..2_000 => Op::Cancel(Pick::random(random)),
            2_000..2_800 => Op::Release(Pick::random(random)),
            2_800..3_100 => Op::Renew(Pick::random(random)),
            3_100..3_200 => Op::Break(Pick::random(random)),
            3_200..3_450 => Op::Open(random.u64(0..SESSIONS)),
            3_450..3_500 => Op::End(random.u64(0..SESSIONS)),
            3_500..3_570 => Op::Suspend(random.u64(0..REMOTE)),
            3_570..3_700 => Op::Resume(random.u64(0..REMOTE), random.u64(..)),
            3_700..3_900 => Op::FencesCome,
            3_900..3_930 => Op::FencesFail,
            3_930..3_985 => Op::List,
            3_985..3_998 => Op::Grace(random.u64(0..4_000) * 1_000_000),
            _ => Op::Close,
        }
    }
}

impl Ask {
    fn random(random: &mut Rng) -> Self {
        let key = random.u8(0..3);
        // Mostly the same for a key, or it would be refused for it.
        let limit = match random.u32(0..10) {
            0 => random.u32(1..4),
            _ => u32::from(key) + 1,
        };
        Ask {
            session: random.u64(0..SESSIONS),
            limit: random.bool().then_some(limit),
            key,
            wait: random.u32(0..6) * 1_000,
            ttl: random.u32(1..6) * 1_000,
            max_hold: random.bool().then(|| random.u32(1..6) * 1_000),
            alone: random.u32(0..4) == 0,
            request: (random.u32(0..3) == 0).then(|| random.u8(0..4)),
        }
    }
}

impl Pick {
    fn random(random: &mut Rng) -> Self {
        let nth = random.u32(..);
        match random.u32(0..5) {
            0 => Pick::Any(nth),
            _ => Pick::Lasting(nth),
        }
    }

    /// Picks from those that last, or from all there were.
    pub fn from(self, lasting: &[u64], all: u64) -> Option<u64> {
        match self {
            Pick::Lasting(_) if lasting.is_empty() => None,
            Pick::Lasting(nth) => lasting.get(nth as usize % lasting.len()).copied(),
            Pick::Any(_) if all == 0 => None,
            Pick::Any(nth) => Some(1 + u64::from(nth) % all),
        }
    }
}
