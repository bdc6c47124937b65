//! Entries that keep their places, in pages that are given back as they come
//! empty: also beside an entry that stays, a crowd leaves nothing behind.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// An entry's place in its slab.
pub(crate) type Place = u32;

/// Entries of a page.
const PAGE: usize = 64;

/// Some entries, each with its place.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    /// None where a page was given back.
    pages: Vec<Option<Box<Page<T>>>>,
    /// Which pages have room, those given back included. The first is filled
    /// first, so that the last come empty.
    with_room: BTreeSet<Place>,
    /// One empty page is kept, as the first page is: entries that come and go at
    /// a page's edge shall not allocate each time.
    spare: Option<Box<Page<T>>>,
    len: usize,
}

#[derive(Debug)]
struct Page<T> {
    /// A bit for each entry that is there.
    taken: u64,
    entries: [Option<T>; PAGE],
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab {
            pages: Vec::new(),
            with_room: BTreeSet::new(),
            spare: None,
            len: 0,
        }
    }
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Page {
            taken: 0,
            entries: [const { None }; PAGE],
        }
    }
}

/// Where a place is: the page, and the entry of it.
fn split(place: Place) -> (usize, usize) {
    (place as usize / PAGE, place as usize % PAGE)
}

impl<T> Slab<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Every place is below this.
    pub fn end(&self) -> Place {
        (self.pages.len() * PAGE) as Place
    }

    pub fn get(&self, place: Place) -> Option<&T> {
        let (page, at) = split(place);
        self.pages.get(page)?.as_ref()?.entries[at].as_ref()
    }

    fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let (page, at) = split(place);
        self.pages.get_mut(page)?.as_mut()?.entries[at].as_mut()
    }

    pub fn insert(&mut self, entry: T) -> Place {
        let number = self.page_with_room();
        let spare = &mut self.spare;
        let page =
            self.pages[number as usize].get_or_insert_with(|| spare.take().unwrap_or_default());
        let at = page.taken.trailing_ones() as usize;
        page.entries[at] = Some(entry);
        page.taken |= 1 << at;
        if page.taken == u64::MAX {
            self.with_room.remove(&number);
        }
        self.len += 1;
        number * PAGE as Place + at as Place
    }

    fn page_with_room(&mut self) -> Place {
        if let Some(first) = self.with_room.first() {
            return *first;
        }
        let number = self.pages.len() as Place;
        self.pages.push(None);
        self.with_room.insert(number);
        number
    }

    /// Takes out an entry that is there.
    pub fn remove(&mut self, place: Place) -> T {
        let (number, at) = split(place);
        let page = self.pages.get_mut(number).and_then(Option::as_mut);
        let Some((page, entry)) = page.and_then(|page| {
            let entry = page.entries[at].take()?;
            Some((page, entry))
        }) else {
            panic!("nothing is at {place}");
        };
        let was_full = page.taken == u64::MAX;
        page.taken &= !(1 << at);
        if page.taken == 0 && number > 0 {
            self.give_back(number);
        }
        if was_full {
            self.with_room.insert(number as Place);
        }
        self.len -= 1;
        if self.len == 0 {
            self.spare = None;
        }
        entry
    }

    fn give_back(&mut self, number: usize) {
        let empty = self.pages[number].take();
        self.spare = self.spare.take().or(empty);
        while let Some(None) = self.pages.last() {
            self.pages.pop();
            self.with_room.remove(&(self.pages.len() as Place));
        }
        if self.pages.capacity() > PAGE && self.pages.capacity() / 4 > self.pages.len() {
            self.pages.shrink_to(2 * self.pages.len());
        }
    }
}

impl<T> Index<Place> for Slab<T> {
    type Output = T;

    fn index(&self, place: Place) -> &T {
        match self.get(place) {
            Some(entry) => entry,
            None => panic!("nothing is at {place}"),
        }
    }
}

impl<T> IndexMut<Place> for Slab<T> {
    fn index_mut(&mut self, place: Place) -> &mut T {
        match self.get_mut(place) {
            Some(entry) => entry,
            None => panic!("nothing is at {place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_that_is_free_is_taken() {
        let mut slab = Slab::default();
        for n in 0..1_000 {
            assert_eq!(slab.insert(n), n);
        }
        for place in [900, 3, 64, 500] {
            assert_eq!(slab.remove(place), place);
            assert_eq!(slab.get(place), None);
        }
        let places = [0; 5].map(|_| slab.insert(7));
        assert_eq!(places, [3, 64, 500, 900, 1_000]);
        assert_eq!((slab.len(), slab.end()), (1_001, 1_024));
    }

    // LOCK-13
    #[test]
    fn pages_are_given_back_beside_an_entry_that_stays() {
        for stays in [0, 70, 999] {
            let mut slab = Slab::default();
            for n in 0..1_000 {
                slab.insert(n);
            }
            for place in (0..1_000).filter(|place| *place != stays) {
                slab.remove(place);
            }
            let pages = slab.pages.iter().flatten().count();
            assert!(pages <= 2, "but the first");
            assert_eq!((slab.len(), slab[stays]), (1, stays));
            assert_eq!(slab.pages.len() as Place, stays / 64 + 1);
            slab.remove(stays);
            assert_eq!((slab.len(), slab.end()), (0, 64));
            assert!(slab.spare.is_none() && slab.pages.capacity() <= PAGE);
            assert_eq!(slab.with_room.len(), 1);
            assert_eq!(slab.insert(5), 0);
        }
    }
}
