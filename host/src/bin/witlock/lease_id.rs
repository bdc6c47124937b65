//! What names a lease on the command line, as `ls` shows it and `break` takes it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use witlock::LeaseRef;

/// `FENCE-PLACE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseId(pub LeaseRef);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}-{}", self.0.fence, self.0.place))
    }
}

impl Serialize for LeaseId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for LeaseId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lease = text.split_once('-').and_then(|(fence, place)| {
            Some(LeaseRef {
                fence: fence.parse().ok()?,
                place: place.parse().ok()?,
            })
        });
        let told = "a lease is named FENCE-PLACE, as `witlock ls` shows it";
        lease.map(LeaseId).ok_or_else(|| told.to_owned())
    }
}
