//! Memory that a crowd took, given back once most of it is gone. Each is called
//! where something was taken out.

use alloc::collections::VecDeque;

use core::hash::{BuildHasher, Hash};

use hashbrown::{HashMap, HashTable};

/// Room that is kept: a lock held and released over and over shall not allocate
/// each time.
const KEPT: usize = 128;

/// Whether there is so much room that it is worth the work to have less.
fn is_far_too_large(room: usize, len: usize) -> bool {
    room > KEPT && room / 16 > len
}

pub(crate) fn from_map<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) {
    // What a map says of its capacity leaves out what is marked as removed.
    let room = map.allocation_size() / (size_of::<(K, V)>() + 1);
    if is_far_too_large(room, map.len()) {
        map.shrink_to(2 * map.len());
    }
}

pub(crate) fn from_table<T>(table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) {
    if is_far_too_large(table.num_buckets(), table.len()) {
        table.shrink_to(2 * table.len(), hash);
    }
}

pub(crate) fn from_queue<T>(queue: &mut VecDeque<T>) {
    if is_far_too_large(queue.capacity(), queue.len()) {
        queue.shrink_to(2 * queue.len());
    }
}
