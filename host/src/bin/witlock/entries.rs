//! What `ls` shows of a lease and of a waiter: as text, or as JSON.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use witlock::{Holding, Waiting};

use crate::lease_id::LeaseId;
use crate::spans::shown;

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry<'a> {
    Holding {
        lease: LeaseId,
        fence: u64,
        #[serde(flatten)]
        subject: Subject<'a>,
        #[serde(rename = "held_ms", serialize_with = "milliseconds")]
        held: Duration,
        /// None where the lease has no deadline.
        #[serde(rename = "left_ms", serialize_with = "milliseconds_if_any")]
        left: Option<Duration>,
    },
    Waiting {
        /// The place in line, from 1.
        place: u64,
        #[serde(flatten)]
        subject: Subject<'a>,
        #[serde(rename = "waited_ms", serialize_with = "milliseconds")]
        waited: Duration,
        #[serde(rename = "left_ms", serialize_with = "milliseconds")]
        left: Duration,
    },
}

/// What is held or waited for, and by whom.
#[derive(Debug, Serialize)]
pub struct Subject<'a> {
    /// The name of the lock, or of the semaphore, which has a limit.
    lock: &'a str,
    limit: Option<u32>,
    key: &'a str,
    label: Option<&'a str>,
    client: Option<&'a str>,
}

impl<'a> From<&'a Holding> for Entry<'a> {
    fn from(holding: &'a Holding) -> Self {
        Entry::Holding {
            lease: LeaseId(holding.lease),
            fence: holding.lease.fence,
            subject: holding.into(),
            held: holding.held,
            left: holding.left,
        }
    }
}

impl<'a> Entry<'a> {
    /// Of a waiter in this place.
    pub fn in_line(waiting: &'a Waiting, place: u64) -> Self {
        Entry::Waiting {
            place,
            subject: waiting.into(),
            waited: waiting.waited,
            left: waiting.left,
        }
    }
}

impl<'a> From<&'a Holding> for Subject<'a> {
    fn from(holding: &'a Holding) -> Self {
        Subject {
            lock: &holding.name,
            limit: holding.limit,
            key: &holding.key,
            label: holding.label.as_deref(),
            client: holding.client.as_deref(),
        }
    }
}

impl<'a> From<&'a Waiting> for Subject<'a> {
    fn from(waiting: &'a Waiting) -> Self {
        Subject {
            lock: &waiting.name,
            limit: waiting.limit,
            key: &waiting.key,
            label: waiting.label.as_deref(),
            client: waiting.client.as_deref(),
        }
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Holding {
                lease,
                subject,
                held,
                left,
                ..
            } => {
                let held = shown(*held);
                let left = left.map_or_else(|| "-".to_owned(), shown);
                write!(f, "{lease:<22} held {held:<7} left {left:<7} {subject}")
            }
            Entry::Waiting {
                place,
                subject,
                waited,
                left,
            } => {
                let place = format!("{place}. in line");
                let (waited, left) = (shown(*waited), shown(*left));
                write!(f, "{place:<22} waits {waited:<6} left {left:<7} {subject}")
            }
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Quoted: keys and clients may have any characters.
        match self.limit {
            None => write!(f, "lock {:?}", self.lock)?,
            Some(limit) => write!(f, "semaphore {:?} of {limit}", self.lock)?,
        }
        write!(f, " key {:?}", self.key)?;
        if let Some(label) = self.label {
            write!(f, " label {label:?}")?;
        }
        if let Some(client) = self.client {
            write!(f, " client {client:?}")?;
        }
        Ok(())
    }
}

fn milliseconds<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

fn milliseconds_if_any<S: serde::Serializer>(
    span: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match span {
        Some(span) => milliseconds(span, serializer),
        None => serializer.serialize_none(),
    }
}
