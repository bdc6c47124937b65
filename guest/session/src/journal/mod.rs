//! What is kept of leases beyond the server that gave them, so that the next one goes
//! on with every one of them. The records are those of `proto/journal.proto`; where
//! they are kept is for who drives the server to say.

#[rustfmt::skip]
#[allow(missing_docs, clippy::doc_markdown, clippy::large_enum_variant)]
mod messages;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use prost::Message as _;

pub use messages::record::Body;
pub use messages::*;

use crate::{Nanoseconds, millis};

/// Puts a record behind others.
pub fn put(record: &Record, out: &mut Vec<u8>) {
    let encoded = record.encode_length_delimited(out);
    debug_assert!(encoded.is_ok(), "a Vec grows");
}

/// Records that were [`put`] one behind the other; none if these are no such bytes, or
/// are of a later version.
pub fn read(mut bytes: &[u8]) -> Option<Vec<Record>> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let record = Record::decode_length_delimited(&mut bytes).ok()?;
        record.body.as_ref()?;
        records.push(record);
    }
    Some(records)
}

/// The leases that a server gave and that did not end: what its records come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Journal {
    /// By their fences.
    leases: BTreeMap<u64, Given>,
}

impl Journal {
    /// Does what a record tells. One of a lease that is not there changes nothing.
    pub fn apply(&mut self, record: Record) {
        match record.body {
            Some(Body::Given(given)) => {
                self.leases.insert(given.fence, given);
            }
            Some(Body::Renewed(Renewed { fence })) => {
                if let Some(lease) = self.leases.get_mut(&fence) {
                    lease.expires = None;
                }
            }
            Some(Body::Ended(Ended { fence })) => {
                self.leases.remove(&fence);
            }
            // A record that a later version added has no body here.
            Some(Body::Start(_)) | None => {}
        }
    }

    /// A server starts. Every lease lasts its ttl from now, but one that was not
    /// renewed since an earlier start keeps the deadline which that gave: so restarts
    /// add one ttl at most. Those that are over are left out.
    pub fn start(&mut self, now: Nanoseconds) {
        for lease in self.leases.values_mut() {
            lease
                .expires
                .get_or_insert(now.saturating_add(millis(lease.ttl)));
        }
        self.leases.retain(|_, lease| lease.ends() > now);
    }

    /// The leases, in the order in which they were given.
    pub fn leases(&self) -> impl Iterator<Item = &Given> {
        self.leases.values()
    }

    /// Records that come to the same.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.leases()
            .cloned()
            .map(|lease| Body::Given(lease).into())
    }

    /// Whether there is no lease.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// Forgets every lease.
    pub fn clear(&mut self) {
        self.leases.clear();
    }

    /// The latest moment of which it tells that it is past.
    pub fn latest(&self) -> Nanoseconds {
        self.leases().map(|lease| lease.since).max().unwrap_or(0)
    }
}

impl Given {
    /// When it ends, as far as is known: a start tells until when it lasts unrenewed.
    fn ends(&self) -> Nanoseconds {
        let never = Nanoseconds::MAX;
        self.expires
            .unwrap_or(never)
            .min(self.revoked.unwrap_or(never))
    }
}

impl From<Body> for Record {
    fn from(body: Body) -> Self {
        Record { body: Some(body) }
    }
}
