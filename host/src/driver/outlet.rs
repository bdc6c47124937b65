//! Where the events go that concern sessions over connections.

use std::task::Waker;

use super::asks::Wakers;
use super::machine::wit;

/// In the number of every session, ticket and tag of a server's; in none of this
/// process's own.
pub(crate) const REMOTE: u64 = 1 << 63;

/// Whether a number is a server's.
pub(super) fn is_remote(number: u64) -> bool {
    number & REMOTE != 0
}

/// One thing that a server is told.
pub(crate) enum Told {
    /// An event of a step of this moment.
    Event { dated: u64, event: wit::Event },
    /// The engine trapped: nothing is left of what the server asked of it. The next
    /// gives no key before this moment.
    BeganAnew { until: u64 },
}

/// What a server was not told yet.
#[derive(Default)]
pub(super) struct Outlet {
    told: Vec<Told>,
    /// Of the server; without one nobody is told.
    waker: Option<Waker>,
}

impl Outlet {
    /// Somebody wants to be told from now on.
    pub fn open(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    pub fn tell(&mut self, told: Told, wakers: &mut Wakers) {
        if let Some(waker) = &self.waker {
            if self.told.is_empty() {
                wakers.push(waker.clone());
            }
            self.told.push(told);
        }
    }

    pub fn take(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }
}
