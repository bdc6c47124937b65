//! The holders, each known by its session.

use crate::bounds::KEYS_PER_HOLDER;
use crate::command::OpenSession;
use crate::deadlines::{Due, Ends};
use crate::event::Ending;
use crate::list::List;
use crate::parts::Map;
use crate::seed::Numbers;
use crate::slab::{Place, Slab};
use crate::{NEVER, Nanoseconds, Session};

/// One holder.
#[derive(Debug)]
pub(crate) struct Holder {
    pub number: Session,
    pub remote: bool,
    pub max_held: u32,
    pub max_waiting: u32,
    /// Keys held and waited for, without what was given up and is not swept.
    pub held: u32,
    pub waiting: u32,
    pub leases: List,
    pub tickets: List,
    /// Counts the sweeps of its leases: those of an earlier epoch are over,
    /// and stand before all others in the list.
    pub lease_epoch: u32,
    /// The same of its asks.
    pub ticket_epoch: u32,
    /// How swept leases end.
    pub swept: Ending,
    /// Whether it stands in the queue of those to be swept.
    pub sweeping: bool,
    /// Until when its asks keep their places without a connection.
    pub reconnect: Option<Nanoseconds>,
    pub ended: bool,
}

impl Holder {
    fn new(open: &OpenSession) -> Self {
        Holder {
            number: open.session,
            remote: open.remote,
            max_held: open.max_held.unwrap_or(KEYS_PER_HOLDER),
            max_waiting: open.max_waiting.unwrap_or(KEYS_PER_HOLDER),
            held: 0,
            waiting: 0,
            leases: List::default(),
            tickets: List::default(),
            lease_epoch: 0,
            ticket_epoch: 0,
            swept: Ending::Released,
            sweeping: false,
            reconnect: None,
            ended: false,
        }
    }

    pub fn due(&self, place: Place) -> Due {
        let at = self.reconnect.unwrap_or(NEVER);
        Due {
            at,
            ends: Ends::Reconnect,
            serial: self.number,
            place,
        }
    }

    /// Whether nothing of it need be kept.
    fn is_done(&self) -> bool {
        let gone = self.ended || self.reconnect.is_some();
        gone && !self.sweeping && self.leases.is_empty() && self.tickets.is_empty()
    }
}

/// All holders.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    pub slab: Slab<Holder>,
    by_number: Map<Session, Place, Numbers>,
}

impl Sessions {
    pub fn find(&self, number: Session) -> Option<Place> {
        self.by_number.get(&number).copied()
    }

    pub fn open(&mut self, open: &OpenSession) {
        if self.find(open.session).is_none() {
            let place = self.slab.insert(Holder::new(open));
            self.by_number.insert(open.session, place);
        }
    }

    /// Forgets a session that is gone and of which nothing is left; tells its
    /// deadline, which is to be removed with it.
    pub fn forget_done(&mut self, place: Place) -> Option<Due> {
        // It may have been forgotten by what was done for it before.
        let holder = self.slab.get(place).filter(|holder| holder.is_done())?;
        let (number, due) = (holder.number, holder.due(place));
        self.by_number.remove(&number);
        self.slab.remove(place);
        Some(due)
    }
}

impl core::ops::Index<Place> for Sessions {
    type Output = Holder;

    fn index(&self, place: Place) -> &Holder {
        &self.slab[place]
    }
}

impl core::ops::IndexMut<Place> for Sessions {
    fn index_mut(&mut self, place: Place) -> &mut Holder {
        &mut self.slab[place]
    }
}
