//! The asks that are not answered yet, each with its place in a line.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use crate::deadlines::{Due, Ends};
use crate::list::Link;
use crate::parts::Map;
use crate::seed::Numbers;
use crate::slab::{Place, Slab};
use crate::{Milliseconds, Nanoseconds, Request, Ticket};

/// What is asked for, and stays with the lease that comes of it.
#[derive(Debug)]
pub(crate) struct Ask {
    pub number: Ticket,
    pub session: Place,
    pub key: Place,
    /// None where leases last until they are released.
    pub ttl: Option<Milliseconds>,
    pub max_hold: Option<Milliseconds>,
    pub label: Option<Box<str>>,
    pub request: Option<Box<Request>>,
}

/// An ask in line.
#[derive(Debug)]
pub(crate) struct InLine {
    pub ask: Ask,
    pub since: Nanoseconds,
    pub deadline: Nanoseconds,
    /// The session's count of its sweeps of tickets when the ask came; once the
    /// two differ the ask is gone.
    pub epoch: u32,
    pub of_session: Link,
    arrival: u64,
}

impl InLine {
    pub fn due(&self, place: Place) -> Due {
        Due {
            at: self.deadline,
            ends: Ends::Wait,
            serial: self.arrival,
            place,
        }
    }
}

/// All asks in line.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    pub slab: Slab<InLine>,
    by_number: Map<Ticket, Place, Numbers>,
    /// Every line, in its order, one behind the other.
    lines: BTreeMap<(Place, u64), Place>,
    arrivals: u64,
}

impl Tickets {
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    pub fn find(&self, number: Ticket) -> Option<Place> {
        self.by_number.get(&number).copied()
    }

    /// Who is first in the line of a key.
    pub fn head(&self, key: Place) -> Option<Place> {
        self.from((key, 0))
            .next()
            .filter(|(at, _)| at.0 == key)
            .map(|(_, place)| place)
    }

    /// Places in line from one on, key by key.
    pub fn from(&self, cursor: (Place, u64)) -> impl Iterator<Item = ((Place, u64), Place)> + '_ {
        self.lines.range(cursor..).map(|(at, place)| (*at, *place))
    }

    /// Puts an ask at the end of its key's line.
    pub fn add(
        &mut self,
        ask: Ask,
        since: Nanoseconds,
        deadline: Nanoseconds,
        epoch: u32,
    ) -> Place {
        self.arrivals += 1;
        let (number, key, arrival) = (ask.number, ask.key, self.arrivals);
        let of_session = Link::default();
        let in_line = InLine {
            ask,
            since,
            deadline,
            epoch,
            of_session,
            arrival,
        };
        let place = self.slab.insert(in_line);
        self.by_number.insert(number, place);
        self.lines.insert((key, arrival), place);
        place
    }

    /// Gives an ask another number.
    pub fn rename(&mut self, place: Place, number: Ticket) -> Ticket {
        let before = core::mem::replace(&mut self[place].ask.number, number);
        self.by_number.remove(&before);
        self.by_number.insert(number, place);
        before
    }

    pub fn remove(&mut self, place: Place) -> InLine {
        let in_line = self.slab.remove(place);
        self.by_number.remove(&in_line.ask.number);
        self.lines.remove(&(in_line.ask.key, in_line.arrival));
        in_line
    }
}

impl core::ops::Index<Place> for Tickets {
    type Output = InLine;

    fn index(&self, place: Place) -> &InLine {
        &self.slab[place]
    }
}

impl core::ops::IndexMut<Place> for Tickets {
    fn index_mut(&mut self, place: Place) -> &mut InLine {
        &mut self.slab[place]
    }
}
