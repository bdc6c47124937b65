//! Locks and semaphores, by both versions of the interface: the difference ends
//! where they are opened.

use crate::bindings::witlock::{locks0_2_0::locks as standing, locks0_3_0::locks};
use crate::words::{Terms, Wait};
use locks::{Lease, LockError};

/// A lock or a semaphore.
pub enum Opened {
    Lock(locks::Lock, standing::Lock),
    Semaphore(locks::Semaphore, standing::Semaphore),
}

impl Opened {
    pub fn open(terms: &Terms) -> Result<Self, String> {
        let Terms { name, limit, .. } = terms;
        let (options, same) = (options(terms), standing_options(terms));
        match *limit {
            None => Ok(Opened::Lock(
                locks::Lock::open(name, &options).map_err(why)?,
                standing::Lock::open(name, &same).map_err(standing_why)?,
            )),
            Some(limit) => Ok(Opened::Semaphore(
                locks::Semaphore::open(name, limit, &options).map_err(why)?,
                standing::Semaphore::open(name, limit, &same).map_err(standing_why)?,
            )),
        }
    }

    pub async fn hold(&self, key: String, wait: Wait) -> Result<Lease, LockError> {
        let span = match wait {
            Wait::AsOpened => None,
            Wait::For(span) => Some(span),
            Wait::Try => return self.try_hold(key).await?.ok_or(LockError::InUse),
        };
        match self {
            Opened::Lock(lock, _) => lock.hold(key, span).await,
            Opened::Semaphore(semaphore, _) => semaphore.hold(key, span).await,
        }
    }

    async fn try_hold(&self, key: String) -> Result<Option<Lease>, LockError> {
        match self {
            Opened::Lock(lock, _) => lock.try_hold(key).await,
            Opened::Semaphore(semaphore, _) => semaphore.try_hold(key).await,
        }
    }

    /// By `@0.2.0`.
    pub fn hold_standing(
        &self,
        key: &str,
        wait: Option<u32>,
    ) -> Result<standing::Lease, standing::LockError> {
        match self {
            Opened::Lock(_, lock) => lock.hold(key, wait),
            Opened::Semaphore(_, semaphore) => semaphore.hold(key, wait),
        }
    }

    /// By `@0.2.0`.
    pub fn try_standing(&self, key: &str) -> Result<Option<standing::Lease>, standing::LockError> {
        match self {
            Opened::Lock(_, lock) => lock.try_hold(key),
            Opened::Semaphore(_, semaphore) => semaphore.try_hold(key),
        }
    }
}

fn options(terms: &Terms) -> locks::Options {
    locks::Options {
        ttl: terms.ttl,
        wait: terms.wait,
        max_hold: terms.max_hold,
        label: terms.label.clone(),
    }
}

fn standing_options(terms: &Terms) -> standing::Options {
    standing::Options {
        ttl: terms.ttl,
        wait: terms.wait,
        max_hold: terms.max_hold,
        label: terms.label.clone(),
    }
}

/// Why an ask was refused, as a line says it.
pub fn why(error: LockError) -> String {
    match error {
        LockError::InUse => "refused in-use".into(),
        LockError::HeldByCaller => "refused held-by-caller".into(),
        LockError::Invalid(why) => format!("refused invalid {why}"),
        LockError::TooMany(why) => format!("refused too-many {why}"),
        LockError::Closed => "refused closed".into(),
        LockError::Unavailable(why) => format!("refused unavailable {why}"),
    }
}

/// The same of the other version.
pub fn standing_why(error: standing::LockError) -> String {
    use standing::LockError as Error;
    why(match error {
        Error::InUse => LockError::InUse,
        Error::HeldByCaller => LockError::HeldByCaller,
        Error::Invalid(why) => LockError::Invalid(why),
        Error::TooMany(why) => LockError::TooMany(why),
        Error::Closed => LockError::Closed,
        Error::Unavailable(why) => LockError::Unavailable(why),
    })
}
