//! How locks and semaphores are opened.

use std::time::Duration;

use crate::{Lock, LockError, blocking};

/// A lock by its name, 1 to 128 bytes: each of its keys has one holder at a time.
pub fn lock(name: impl Into<String>) -> LockBuilder {
    LockBuilder::new(name.into(), None)
}

/// A semaphore by its name, 1 to 128 bytes, and its limit, 1 to 1000: each of its keys
/// has as many holders at a time. A lock and a semaphore of one name are two things. A
/// hold of a key that is in use under another limit is [`LockError::Invalid`].
pub fn semaphore(name: impl Into<String>, limit: u32) -> LockBuilder {
    LockBuilder::new(name.into(), Some(limit))
}

/// How a lock or semaphore is opened.
#[derive(Debug, Clone)]
#[must_use = "nothing is opened until `open` is called"]
pub struct LockBuilder {
    pub(crate) name: String,
    pub(crate) limit: Option<u32>,
    ttl: Option<Duration>,
    wait: Option<Duration>,
    max_hold: Option<Duration>,
    label: Option<String>,
}

/// The options of the WIT.
pub(crate) struct Options {
    pub ttl: Option<u32>,
    pub wait: Option<u32>,
    pub max_hold: Option<u32>,
    pub label: Option<String>,
}

impl LockBuilder {
    fn new(name: String, limit: Option<u32>) -> Self {
        LockBuilder {
            name,
            limit,
            ttl: None,
            wait: None,
            max_hold: None,
            label: None,
        }
    }

    /// Where the store is reached over a connection: how long a lease lasts from its
    /// last renewal, 1 s to 1 h; 30 s unless given. A host renews it while the guest
    /// lives.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How long a hold waits in line, up to 2^32 - 1 ms (49 days); 10 s unless given.
    /// What is less than a millisecond counts as one; zero takes a key only if it is
    /// free.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// How long one lease may last from its grant, 1 ms to 2^32 - 1 ms. Past it the
    /// lease is [`Revoked`](crate::Ending::Revoked) and the key goes to the next in
    /// line, whatever its holder does. No bound unless given.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.max_hold = Some(max_hold);
        self
    }

    /// What an operator sees beside the leases, at most 128 bytes. It decides nothing.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Opens the lock or semaphore.
    ///
    /// # Errors
    ///
    /// [`LockError::Invalid`] if the name, the limit or an option is out of its bounds,
    /// and says which; [`LockError::Closed`] once the store is.
    pub fn open(self) -> Result<Lock, LockError> {
        blocking::open(self)
    }

    /// As [`open`](LockBuilder::open), for the async twin.
    ///
    /// # Errors
    ///
    /// As [`open`](LockBuilder::open).
    #[cfg(feature = "p3")]
    pub fn open_p3(self) -> Result<crate::p3::Lock, LockError> {
        crate::p3::open(self)
    }

    pub(crate) fn options(&self) -> Result<Options, LockError> {
        Ok(Options {
            ttl: milliseconds("ttl", self.ttl)?,
            wait: milliseconds("wait", self.wait)?,
            max_hold: milliseconds("max-hold", self.max_hold)?,
            label: self.label.clone(),
        })
    }
}

/// A span as the WIT takes it. Less than a millisecond is not nothing.
pub(crate) fn milliseconds(what: &str, span: Option<Duration>) -> Result<Option<u32>, LockError> {
    let Some(span) = span else { return Ok(None) };
    let millis = span.as_nanos().div_ceil(1_000_000);
    let fits = u32::try_from(millis).map(Some);
    fits.map_err(|_| {
        LockError::Invalid(format!("a {what} is at most {} ms, not {millis}", u32::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-11
    #[test]
    fn a_span_is_whole_milliseconds_and_none_is_nothing() {
        let millis = |span| milliseconds("wait", Some(span)).expect("it fits");
        assert_eq!(millis(Duration::ZERO), Some(0));
        assert_eq!(millis(Duration::from_nanos(1)), Some(1));
        assert_eq!(millis(Duration::from_micros(1_001)), Some(2));
        let longest = Duration::from_millis(u32::MAX.into());
        assert_eq!(millis(longest), Some(u32::MAX));
        assert_eq!(milliseconds("wait", None), Ok(None));
    }

    // LOCK-11, LOCK-12
    #[test]
    fn a_span_too_long_is_told_with_its_bound() {
        let past = Duration::from_millis(u64::from(u32::MAX) + 1);
        let told = lock("jobs").max_hold(past).options().err();
        let text = "a max-hold is at most 4294967295 ms, not 4294967296";
        assert_eq!(told, Some(LockError::Invalid(text.into())));
        assert!(milliseconds("wait", Some(Duration::MAX)).is_err());
    }
}
