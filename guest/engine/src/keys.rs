//! The keys that are held or waited for. Nothing is kept of any other.

use alloc::boxed::Box;
use alloc::string::String;
use core::hash::{BuildHasher, Hasher};

use crate::Seed;
use crate::list::{Link, List};
use crate::parts::Parts;
use crate::slab::{Place, Slab};

/// What names a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyName<'a> {
    /// The lock's or semaphore's.
    pub name: &'a str,
    /// The semaphore's; a lock has none. A lock and a semaphore of one name
    /// are two things, semaphores of one name and two limits are one.
    pub limit: Option<u32>,
    pub key: &'a str,
}

/// A key in use.
#[derive(Debug)]
pub(crate) struct Key {
    hash: u64,
    /// The name, and behind it the key.
    text: Box<str>,
    name_bytes: u8,
    semaphore: bool,
    /// How many may hold it.
    pub limit: u32,
    pub held: u32,
    pub waiting: u32,
    pub leases: List,
    /// Whether it stands among the unsettled.
    unsettled: bool,
    of_unsettled: Link,
}

impl Key {
    pub fn name(&self) -> &str {
        &self.text[..usize::from(self.name_bytes)]
    }

    pub fn key(&self) -> &str {
        &self.text[usize::from(self.name_bytes)..]
    }

    /// The limit, as who asked for the key gave it.
    pub fn asked_limit(&self) -> Option<u32> {
        self.semaphore.then_some(self.limit)
    }

    pub fn is_free(&self) -> bool {
        self.held < self.limit
    }

    /// Whether it is free, and somebody waits for it.
    pub fn may_serve(&self) -> bool {
        self.is_free() && self.waiting > 0
    }

    fn is(&self, name: &KeyName) -> bool {
        self.semaphore == name.limit.is_some() && self.name() == name.name && self.key() == name.key
    }
}

/// Keys by name.
#[derive(Debug)]
pub(crate) struct Keys {
    seed: Seed,
    table: Parts<Place>,
    slab: Slab<Key>,
    /// Those whose line is to be looked at again when there are fences, or when
    /// there is room in a step.
    unsettled: List,
}

impl Keys {
    pub fn new(seed: Seed) -> Self {
        Keys {
            seed,
            table: Parts::default(),
            slab: Slab::default(),
            unsettled: List::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// The key of a name; its hash is the caller's to compute, once.
    pub fn find(&self, hash: u64, name: &KeyName) -> Option<Place> {
        let found = self.table.find(hash, |at| self.slab[*at].is(name));
        found.copied()
    }

    pub fn add(&mut self, hash: u64, name: &KeyName) -> Place {
        let place = self.slab.insert(Key {
            hash,
            text: [name.name, name.key].concat().into(),
            // A name has at most 128 bytes.
            name_bytes: name.name.len() as u8,
            semaphore: name.limit.is_some(),
            limit: name.limit.unwrap_or(1),
            held: 0,
            waiting: 0,
            leases: List::default(),
            unsettled: false,
            of_unsettled: Link::default(),
        });
        self.table.insert(hash, place, |at| self.slab[*at].hash);
        place
    }

    /// Leaves a key's line to be looked at later, behind those left before.
    pub fn leave_unsettled(&mut self, place: Place) {
        if !core::mem::replace(&mut self[place].unsettled, true) {
            self.unsettled
                .push_last(&mut self.slab, place, |key| &mut key.of_unsettled);
        }
    }

    /// Whether lines were left to be looked at.
    pub fn has_unsettled(&self) -> bool {
        !self.unsettled.is_empty()
    }

    /// Takes the key whose line was left first.
    pub fn take_unsettled(&mut self) -> Option<Place> {
        let first = self.unsettled.first()?;
        self.take_from_unsettled(first);
        Some(first)
    }

    fn take_from_unsettled(&mut self, place: Place) {
        if core::mem::take(&mut self[place].unsettled) {
            self.unsettled
                .remove(&mut self.slab, place, |key| &mut key.of_unsettled);
        }
    }

    /// A key's line need not be looked at again: the key is full, or nobody waits.
    /// If nobody holds it either, it is forgotten.
    pub fn settled(&mut self, place: Place) {
        self.take_from_unsettled(place);
        let Key {
            hash,
            held,
            waiting,
            ..
        } = self[place];
        if held > 0 || waiting > 0 {
            return;
        }
        let hash_of = |at: &Place| self.slab[*at].hash;
        self.table.remove(hash, |at| *at == place, hash_of);
        self.slab.remove(place);
    }

    pub fn hash(&self, name: &KeyName) -> u64 {
        let mut hasher = self.seed.build_hasher();
        hasher.write(name.name.as_bytes());
        // No UTF-8 has these bytes: where the name ends is never in doubt.
        hasher.write_u8(if name.limit.is_some() { 0xff } else { 0xfe });
        hasher.write(name.key.as_bytes());
        hasher.finish()
    }
}

impl core::ops::Index<Place> for Keys {
    type Output = Key;

    fn index(&self, place: Place) -> &Key {
        &self.slab[place]
    }
}

impl core::ops::IndexMut<Place> for Keys {
    fn index_mut(&mut self, place: Place) -> &mut Key {
        &mut self.slab[place]
    }
}

/// The owned texts of a key, for a listing.
pub(crate) fn texts(key: &Key) -> (String, Option<u32>, String) {
    (key.name().into(), key.asked_limit(), key.key().into())
}
