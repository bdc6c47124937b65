//! Bytes at random.

use witlock_session::server::Trust;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Lease, Ping, Renew};

use crate::neighbours::Neighbours;
use crate::raw::{enter, frame, hello, hold};
use crate::world::TOKEN;

/// A number below `most`, from a seed that it changes.
fn random(seed: &mut u64, most: usize) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed % most as u64) as usize
}

/// Garbage, or some messages with a few bytes changed.
fn garbage(seed: &mut u64) -> Vec<u8> {
    if random(seed, 2) == 0 {
        return (0..random(seed, 200))
            .map(|_| random(seed, 256) as u8)
            .collect();
    }
    let mut bytes = [
        frame(0, Said::Hello(hello(TOKEN))),
        frame(1, Said::Enter(enter(9))),
        frame(1, Said::Hold(hold(1, "mine"))),
        frame(
            1,
            Said::Renew(Renew {
                leases: vec![Lease::default()],
            }),
        ),
        frame(1, Said::Ping(Ping {})),
    ]
    .concat();
    for _ in 0..1 + random(seed, 4) {
        let at = random(seed, bytes.len());
        bytes[at] = random(seed, 256) as u8;
    }
    bytes
}

// LOCK-12
#[test]
fn garbage_harms_nobody_else() {
    let mut neighbours = Neighbours::new();
    let world = &mut neighbours.world;
    let mut dismissed = 0;
    for first in 1..2_000u64 {
        let mut seed = first.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = world.stranger(Trust::Nobody);
        let bytes = garbage(&mut seed);
        let (front, back) = bytes.split_at(random(&mut seed, bytes.len() + 1));
        world.send(id, front);
        world.send(id, back);
        if world.at(id).over {
            let (why, text) = world.goodbye(id);
            assert!(!text.is_empty(), "seed {first}: {why:?}");
            dismissed += 1;
        } else {
            world.server.disconnected(world.now, id);
        }
    }
    assert!(dismissed > 1_000, "{dismissed}");
    neighbours.assert_unharmed();
}
