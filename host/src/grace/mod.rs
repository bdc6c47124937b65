//! How long leases over connections may last beyond what gave them.
//!
//! Such a lease outlives its server's process, and the engine that gave it. The next
//! one may not know it: the journal of leases is not synced, and may be damaged. So
//! the longest ttl that one may have is kept in the file `grace` of the store's
//! directory, and an opening that does not know all gives no key before it is over.
//!
//! The file never tells less than what may be live, whenever the process is killed
//! or the power cut: a ttl longer than it tells is durable before it is used, and
//! what may be live only shrinks as time goes on. In whole seconds it grows at most
//! 3600 times, so it costs next to nothing.

mod files;
mod kept;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::driver::lock;
use files::{Dir, Files};
use kept::{Kept, LONGEST};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// What may be live of leases over connections, of one opening of a store. A store
/// without a directory keeps it in memory alone.
pub(crate) struct Grace {
    clock: Arc<dyn Clock>,
    /// The longest ttl, in seconds, that this opening's leases may have.
    covered: AtomicU32,
    /// Until when leases of an earlier opening may be live that the engine does not
    /// know. 0 once that was settled.
    unknown_until: AtomicU64,
    /// Somebody looks whether anything of this opening is left.
    lowering: AtomicBool,
    kept: Mutex<Kept>,
}

/// What an opening knows of leases that may be live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// None.
    Nothing,
    /// Some.
    Some,
    /// All, but for those that are over at this moment.
    AllButUntil(u64),
    /// Whoever opens it says that others than are known last so long at most.
    Told(Duration),
}

impl Grace {
    /// Reads what an earlier opening left in the directory.
    pub fn open(clock: Arc<dyn Clock>, dir: Option<&Path>, known: Known) -> Self {
        let files = dir.map(|dir| Box::new(Dir::new(dir.to_owned())) as Box<dyn Files>);
        Self::on(clock, files, known)
    }

    fn on(clock: Arc<dyn Clock>, files: Option<Box<dyn Files>>, known: Known) -> Self {
        let kept = Kept::read(files);
        let grace = Grace {
            clock,
            covered: AtomicU32::new(0),
            unknown_until: AtomicU64::new(0),
            lowering: AtomicBool::new(false),
            kept: Mutex::new(kept),
        };
        grace.begin(known);
        grace
    }

    fn begin(&self, known: Known) {
        let left = lock(&self.kept).told;
        if known != Known::Nothing {
            // What is known is renewed from now on.
            self.covered.store(left, Ordering::Release);
        }
        let now = self.clock.now();
        let unknown_until = match known {
            Known::Nothing | Known::Some => now.saturating_add(span(left)),
            Known::AllButUntil(moment) => moment,
            Known::Told(ttl) => now.saturating_add(span(whole_seconds(ttl))),
        };
        if unknown_until > now {
            let seconds = whole_seconds(Duration::from_nanos(unknown_until - now));
            log::warn!(
                "keys are given in {seconds} s: until then leases over connections may be live \
                 that an earlier opening of the store gave, and this one does not know"
            );
            self.unknown_until.store(unknown_until, Ordering::Release);
        }
    }

    /// The moment before which no key may be given, if it is yet to come.
    pub fn until(&self) -> Option<u64> {
        let until = self.unknown_until.load(Ordering::Acquire);
        (until > self.clock.now()).then_some(until)
    }

    /// The engine trapped: the moment before which the next may give no key, unless it
    /// learns of all that is live.
    pub fn until_after_a_trap(&self) -> u64 {
        let covered = span(self.covered.load(Ordering::Acquire));
        let unknown_until = self.unknown_until.load(Ordering::Acquire);
        unknown_until.max(self.clock.now().saturating_add(covered))
    }

    /// Before a hold with this ttl is handed to the engine for a holder over a
    /// connection.
    ///
    /// # Errors
    ///
    /// If the ttl could not be made durable. Then the hold must not be handed on.
    pub fn cover(&self, ttl: Duration) -> io::Result<()> {
        let ttl = whole_seconds(ttl);
        if self.covers(ttl) && !self.may_tell_less() {
            return Ok(());
        }
        let mut kept = lock(&self.kept);
        let covered = self.covered.load(Ordering::Acquire).max(ttl);
        let grows = covered > kept.told;
        match self.tell(&mut kept, covered) {
            Err(error) if grows => return Err(error),
            told => warn(told),
        }
        self.covered.store(covered, Ordering::Release);
        Ok(())
    }

    /// Whether a ttl is durable already. The flag is looked at first: once it is
    /// down again, what is covered is what was found left.
    fn covers(&self, ttl: u32) -> bool {
        !self.lowering.load(Ordering::Acquire) && ttl <= self.covered.load(Ordering::Acquire)
    }

    /// Has the file tell what may be live still: nothing of this opening, if
    /// `none_left` says that no hold that was covered has a lease, or can come to
    /// one. A cover that is begun while it looks waits for it.
    pub fn lower(&self, none_left: impl FnOnce() -> bool) {
        let mut kept = lock(&self.kept);
        self.lowering.store(true, Ordering::Release);
        if none_left() {
            self.covered.store(0, Ordering::Release);
        }
        self.lowering.store(false, Ordering::Release);
        let covered = self.covered.load(Ordering::Acquire);
        warn(self.tell(&mut kept, covered));
    }

    /// The store is closed: its directory may be another opening's soon.
    pub fn close(&self, none_left: impl FnOnce() -> bool) {
        self.lower(none_left);
        lock(&self.kept).let_go();
    }

    fn tell(&self, kept: &mut Kept, covered: u32) -> io::Result<()> {
        let until = self.unknown_until.load(Ordering::Acquire);
        let unknown = until.saturating_sub(self.clock.now());
        if unknown == 0 {
            self.unknown_until.store(0, Ordering::Release);
        }
        let seconds = covered.max(whole_seconds(Duration::from_nanos(unknown)));
        match seconds == kept.told {
            true => Ok(()),
            false => kept.tell(seconds),
        }
    }

    /// Whether leases that the engine did not know are over, and the file may tell
    /// of them still.
    fn may_tell_less(&self) -> bool {
        self.unknown_until.load(Ordering::Acquire) != 0 && self.until().is_none()
    }
}

fn span(seconds: u32) -> u64 {
    u64::from(seconds) * NS_PER_SECOND
}

/// Rounded up; no lease lasts longer than the longest ttl there may be.
fn whole_seconds(span: Duration) -> u32 {
    let seconds = span.as_secs() + u64::from(span.subsec_nanos() > 0);
    u32::try_from(seconds).map_or(LONGEST, |seconds| seconds.min(LONGEST))
}

/// A file that tells more than it must does no harm but to the next opening, which
/// waits longer.
fn warn(told: io::Result<()>) {
    if let Err(error) = told {
        log::warn!("the store's file `grace` can't be written: {error}");
    }
}
