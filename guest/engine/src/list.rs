//! Lists threaded through the entries of a slab: an entry is put at the end, or
//! taken out from anywhere, in O(1), and a list takes no memory of its own.

use crate::slab::{Place, Slab};

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
        *link(&mut slab[place]) = Link {
            previous: self.last,
            next: NOWHERE,
        };
        match self.last {
            NOWHERE => self.first = place,
            last => link(&mut slab[last]).next = place,
        }
        self.last = place;
    }

    pub fn remove<T>(&mut self, slab: &mut Slab<T>, place: Place, link: LinkOf<T>) {
        let Link { previous, next } = core::mem::take(link(&mut slab[place]));
        match previous {
            NOWHERE => self.first = next,
            previous => link(&mut slab[previous]).next = next,
        }
        match next {
            NOWHERE => self.last = previous,
            next => link(&mut slab[next]).previous = previous,
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
        core::iter::successors(list.first(), |at| List::next(&slab[*at])).collect()
    }

    #[test]
    fn entries_leave_from_anywhere() {
        for left_out in 0..3 {
            let mut slab = Slab::default();
            let mut list = List::default();
            for _ in 0..3 {
                let place = slab.insert(Link::default());
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
