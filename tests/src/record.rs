//! What holders of other processes tell a guarded resource, one datagram each.

use std::fmt;
use std::str::FromStr;

/// Nanoseconds of the boot-time clock, which all processes of a machine share.
pub type Moment = u64;

/// Names an ask, and the hold that comes of it: the process's number in the upper
/// half.
pub type AskNumber = u64;

/// The process that made an ask.
pub fn process_of(ask: AskNumber) -> u32 {
    (ask >> 32) as u32
}

/// A thing that a holder tells.
#[allow(missing_docs)] // they say themselves
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// It asks for a key, with this wait, at this moment or later.
    Asked {
        ask: AskNumber,
        at: Moment,
        wait: u64,
    },
    /// It was answered, at this moment or earlier.
    Answered {
        ask: AskNumber,
        at: Moment,
        answer: Answer,
    },
    /// It says that it holds the key; answered by whether that is accepted.
    Claim(Claim),
    /// It saw, at this moment or earlier, that its lease had ended.
    Lost {
        ask: AskNumber,
        at: Moment,
        /// As `Ending` says it.
        how: String,
        /// As in [`Claim`].
        gap: u64,
    },
    /// It let its lease go after the claim that ended it.
    Released {
        ask: AskNumber,
        /// How it went: `released`, or how the lease had ended.
        how: String,
        /// As in [`Claim`].
        gap: u64,
    },
}

/// How an ask was answered.
#[allow(missing_docs)] // they say themselves
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    Granted,
    InUse,
    /// The asker gave it up itself.
    Cancelled,
    Unavailable,
    Other,
}

/// What of its hold a claim is.
#[allow(missing_docs)] // they say themselves
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Begin,
    Write,
    /// The last; the holder lets go after it was told that this is known.
    End,
}

/// That a holder holds a key.
#[allow(missing_docs)] // they say themselves
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub part: Part,
    pub ask: AskNumber,
    pub key: String,
    /// 1 for a lock.
    pub limit: u32,
    /// Of the lease's ttl, in nanoseconds.
    pub ttl: u64,
    pub fence: u64,
    /// Read before the holder looked whether its lease lasts, and found that it does.
    pub checked: Moment,
    /// The lease's own deadline, read after that.
    pub deadline: Moment,
    /// For how long the holder did not run, as it measured itself, between having looked
    /// and having said the claim before this one. It errs to longer: what it waited to
    /// say it counts too.
    pub gap: u64,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Record::Asked { ask, at, wait } => write!(f, "asked {ask} {at} {wait}"),
            Record::Answered { ask, at, answer } => write!(f, "answered {ask} {at} {answer:?}"),
            Record::Claim(claim) => {
                let Claim {
                    part,
                    ask,
                    key,
                    limit,
                    ttl,
                    fence,
                    checked,
                    deadline,
                    gap,
                } = claim;
                write!(
                    f,
                    "{part:?} {ask} {key} {limit} {ttl} {fence} {checked} {deadline} {gap}"
                )
            }
            Record::Lost { ask, at, how, gap } => write!(f, "lost {ask} {at} {how} {gap}"),
            Record::Released { ask, how, gap } => write!(f, "released {ask} {how} {gap}"),
        }
    }
}

/// What is no record.
#[derive(Debug)]
pub struct NoRecord;

impl FromStr for Record {
    type Err = NoRecord;

    fn from_str(text: &str) -> Result<Self, NoRecord> {
        let mut words = Words(text.split(' '));
        let kind = words.next()?;
        let ask = words.number()?;
        Ok(match kind {
            "asked" => Record::Asked {
                ask,
                at: words.number()?,
                wait: words.number()?,
            },
            "answered" => Record::Answered {
                ask,
                at: words.number()?,
                answer: answer(words.next()?)?,
            },
            "lost" => Record::Lost {
                ask,
                at: words.number()?,
                how: words.next()?.to_owned(),
                gap: words.number()?,
            },
            "released" => Record::Released {
                ask,
                how: words.next()?.to_owned(),
                gap: words.number()?,
            },
            kind => Record::Claim(Claim {
                part: part(kind)?,
                ask,
                key: words.next()?.to_owned(),
                limit: words.number()?,
                ttl: words.number()?,
                fence: words.number()?,
                checked: words.number()?,
                deadline: words.number()?,
                gap: words.number()?,
            }),
        })
    }
}

struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<&'a str, NoRecord> {
        self.0.next().ok_or(NoRecord)
    }

    fn number<T: FromStr>(&mut self) -> Result<T, NoRecord> {
        self.next()?.parse().map_err(|_| NoRecord)
    }
}

fn answer(word: &str) -> Result<Answer, NoRecord> {
    use Answer::{Cancelled, Granted, InUse, Other, Unavailable};
    let all = [Granted, InUse, Cancelled, Unavailable, Other];
    named(&all, word)
}

fn part(word: &str) -> Result<Part, NoRecord> {
    named(&[Part::Begin, Part::Write, Part::End], word)
}

fn named<T: Copy + fmt::Debug>(all: &[T], word: &str) -> Result<T, NoRecord> {
    let mut all = all.iter().copied();
    all.find(|one| format!("{one:?}") == word).ok_or(NoRecord)
}
