//! Memory that a crowd took, given back once most of it is gone.

use alloc::collections::VecDeque;

/// Room that is kept: what is filled and emptied over and over shall not allocate
/// each time.
const KEPT: usize = 128;

/// Called where something was taken out.
pub(crate) fn from_queue<T>(queue: &mut VecDeque<T>) {
    let room = queue.capacity();
    if room > KEPT && room / 16 > queue.len() {
        queue.shrink_to(2 * queue.len());
    }
}
