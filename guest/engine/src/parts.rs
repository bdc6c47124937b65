//! Hash tables in parts. A table that grows or shrinks moves all its entries in one
//! go; with a million of them that would be a tenth of a second in which nobody is
//! served. A part moves its share alone.

use core::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

/// With a million entries a part moves some tens of thousands at most: a few
/// milliseconds.
const PARTS: usize = 32;

/// Room that a part keeps: what is held and released over and over shall not
/// allocate each time.
const KEPT: usize = 16;

/// How many times as much room as entries the first part may have: shrinking
/// sooner would move more. Every other may have a little more, so that parts which
/// come empty together do not shrink together.
const TOO_MUCH: usize = 32;

/// A table whose hashes are the caller's to compute.
#[derive(Debug)]
pub(crate) struct Parts<T>([HashTable<T>; PARTS]);

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Parts([const { HashTable::new() }; PARTS])
    }
}

impl<T> Parts<T> {
    pub fn find(&self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&T> {
        self.0[part(hash)].find(hash, is_it)
    }

    pub fn find_mut(&mut self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<&mut T> {
        self.0[part(hash)].find_mut(hash, is_it)
    }

    /// Adds an entry that is not there yet.
    pub fn insert(&mut self, hash: u64, entry: T, hash_of: impl Fn(&T) -> u64) {
        self.0[part(hash)].insert_unique(hash, entry, hash_of);
    }

    pub fn remove(
        &mut self,
        hash: u64,
        is_it: impl FnMut(&T) -> bool,
        hash_of: impl Fn(&T) -> u64,
    ) -> Option<T> {
        let number = part(hash);
        let part = &mut self.0[number];
        let (entry, _) = part.find_entry(hash, is_it).ok()?.remove();
        let (room, len) = (part.num_buckets(), part.len());
        if room > KEPT && (len == 0 || room / (TOO_MUCH + number) > len) {
            part.shrink_to(2 * len, hash_of);
        }
        Some(entry)
    }
}

/// By bits that a table itself does not look at: it takes the lowest for the place
/// and the highest for the tag.
fn part(hash: u64) -> usize {
    (hash >> 32) as usize % PARTS
}

/// A map in parts.
#[derive(Debug, Default)]
pub(crate) struct Map<K, V, S> {
    entries: Parts<(K, V)>,
    hasher: S,
}

impl<K: Eq + Hash, V, S: BuildHasher> Map<K, V, S> {
    pub fn with_hasher(hasher: S) -> Self {
        Map {
            entries: Parts::default(),
            hasher,
        }
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        let found = self
            .entries
            .find(self.hasher.hash_one(key), |it| it.0 == *key);
        found.map(|it| &it.1)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let hash = self.hasher.hash_one(key);
        let found = self.entries.find_mut(hash, |it| it.0 == *key);
        found.map(|it| &mut it.1)
    }

    /// Sets what there is for a key.
    pub fn insert(&mut self, key: K, value: V) {
        let hash = self.hasher.hash_one(&key);
        match self.entries.find_mut(hash, |it| it.0 == key) {
            Some(entry) => entry.1 = value,
            None => {
                let hash_of = |it: &(K, V)| self.hasher.hash_one(&it.0);
                self.entries.insert(hash, (key, value), hash_of);
            }
        }
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let hash = self.hasher.hash_one(key);
        let hash_of = |it: &(K, V)| self.hasher.hash_one(&it.0);
        let removed = self.entries.remove(hash, |it| it.0 == *key, hash_of);
        removed.map(|it| it.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    fn room(map: &Map<u64, u64, Seed>) -> usize {
        map.entries.0.iter().map(HashTable::num_buckets).sum()
    }

    // LOCK-13
    #[test]
    fn what_a_crowd_took_is_given_back() {
        let mut map = Map::with_hasher(Seed { low: 1, high: 2 });
        for n in 0..100_000 {
            map.insert(n, n);
            map.insert(n, n + 1);
        }
        assert!(room(&map) > 100_000);
        for n in 1..100_000 {
            assert_eq!(map.remove(&n), Some(n + 1));
            assert_eq!(map.remove(&n), None);
        }
        assert_eq!(map.get(&0), Some(&1));
        assert!(room(&map) <= PARTS * KEPT, "{}", room(&map));
        assert_eq!(map.remove(&0), Some(1));
    }

    #[test]
    fn the_parts_share() {
        let mut map = Map::with_hasher(Seed { low: 1, high: 2 });
        for n in 0..10_000u64 {
            map.insert(n, ());
        }
        let most = map.entries.0.iter().map(HashTable::len).max();
        assert!(most < Some(10_000 / PARTS * 2));
    }

    /// Numbers in a row, as a driver gives them, spread over the parts too.
    #[test]
    fn numbers_share_the_parts() {
        for step in [1, 2, 1 << 32] {
            let mut map = Map::with_hasher(crate::seed::Numbers);
            for n in 0..10_000u64 {
                map.insert(n * step, ());
            }
            let most = map.entries.0.iter().map(HashTable::len).max();
            assert!(most < Some(10_000 / PARTS * 2), "{step}: {most:?}");
        }
    }
}
