//! Lists threaded through the entries of a slab: an entry is put at the end, or
//! taken out from anywhere, in O(1), and a list takes no memory of its own.

use alloc::collections::VecDeque;

use hashbrown::HashMap;
use slab::Slab;

use crate::Seed;

/// An entry's place in its slab.
pub(crate) type Place = u32;

/// Places that an empty slab keeps room for: a lock held and released over and
/// over shall not allocate each time, and what a million keys took is given back.
const PLACES_KEPT: usize = 64;

/// Gives back the memory of a slab in which nothing is left; tells whether it did.
pub(crate) fn give_back<T>(slab: &mut Slab<T>) -> bool {
    let large = slab.is_empty() && slab.capacity() > PLACES_KEPT;
    if large {
        *slab = Slab::new();
    }
    large
}

/// The same of a table.
pub(crate) fn give_back_table<K, V>(table: &mut HashMap<K, V, Seed>) {
    if table.is_empty() && table.capacity() > PLACES_KEPT {
        *table = HashMap::with_hasher(*table.hasher());
    }
}

/// The same of a queue.
pub(crate) fn give_back_queue<T>(queue: &mut VecDeque<T>) {
    if queue.is_empty() && queue.capacity() > PLACES_KEPT {
        *queue = VecDeque::new();
    }
}

/// No place. A slab never grows to it: memory ends before.
const NOWHERE: Place = Place::MAX;

/// An entry's neighbours in a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    previous: Place,
    next: Place,
}

impl Default for Link {
    fn default() -> Self {
        Link {
            previous: NOWHERE,
            next: NOWHERE,
        }
    }
}

/// The two ends of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    first: Place,
    last: Place,
}

impl Default for List {
    fn default() -> Self {
        List {
            first: NOWHERE,
            last: NOWHERE,
        }
    }
}

/// Where an entry keeps its link of one list.
type LinkOf<T> = fn(&mut T) -> &mut Link;

impl List {
    pub fn first(&self) -> Option<Place> {
        (self.first != NOWHERE).then_some(self.first)
    }

    pub fn is_empty(&self) -> bool {
        self.first == NOWHERE
    }

    pub fn push_last<T>(&mut self, slab: &mut Slab<T>, place: Place, link: LinkOf<T>) {
        *link(&mut slab[place as usize]) = Link {
            previous: self.last,
            next: NOWHERE,
        };
        match self.last {
            NOWHERE => self.first = place,
            last => link(&mut slab[last as usize]).next = place,
        }
        self.last = place;
    }

    pub fn remove<T>(&mut self, slab: &mut Slab<T>, place: Place, link: LinkOf<T>) {
        let Link { previous, next } = core::mem::take(link(&mut slab[place as usize]));
        match previous {
            NOWHERE => self.first = next,
            previous => link(&mut slab[previous as usize]).next = next,
        }
        match next {
            NOWHERE => self.last = previous,
            next => link(&mut slab[next as usize]).previous = previous,
        }
    }

    /// The place after this one.
    pub fn next(link: &Link) -> Option<Place> {
        (link.next != NOWHERE).then_some(link.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn places(list: &List, slab: &Slab<Link>) -> Vec<Place> {
        core::iter::successors(list.first(), |at| List::next(&slab[*at as usize])).collect()
    }

    #[test]
    fn entries_leave_from_anywhere() {
        for left_out in 0..3 {
            let mut slab = Slab::new();
            let mut list = List::default();
            for _ in 0..3 {
                let place = slab.insert(Link::default()) as Place;
                list.push_last(&mut slab, place, |link| link);
            }
            list.remove(&mut slab, left_out, |link| link);
            let rest: Vec<_> = (0..3).filter(|at| *at != left_out).collect();
            assert_eq!(places(&list, &slab), rest);
            for at in rest {
                list.remove(&mut slab, at, |link| link);
            }
            assert!(list.is_empty());
        }
    }
}
