//! Input that no client of ours sends: each ends its own connection with a reason,
//! or is refused, and nobody else notices.

use witlock_session::server::{ConnectionId, Trust};
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Enter, Hello, Hold, Lease, Ping, Renew};

use crate::raw::{enter, frame, hello, hold};
use crate::world::{S, TOKEN, World};

/// A world in which somebody holds a key and somebody waits for it.
struct Neighbours {
    world: World,
    held: u64,
    waiter: u64,
}

impl Neighbours {
    fn new() -> Self {
        let mut world = World::with(2);
        let held = world.ask(0, "theirs");
        let waiter = world.ask(1, "theirs");
        Neighbours {
            world,
            held,
            waiter,
        }
    }

    /// They noticed nothing, and go on.
    fn assert_unharmed(mut self) {
        let world = &mut self.world;
        world.run(15 * S);
        assert_eq!(world.ending(self.held), None);
        for who in [0, 1] {
            let events = world.machines[who].events.iter();
            let welcomes = events.filter(|(_, it)| is_welcome(it));
            assert_eq!(welcomes.count(), 1, "its connection was cut");
        }
        world.release(0, self.held);
        assert_eq!(world.granted_at(self.waiter), Some(world.now));
        assert!(world.fence(self.waiter) > world.fence(self.held));
    }
}

fn is_welcome(event: &witlock_session::client::Event) -> bool {
    matches!(event, witlock_session::client::Event::Welcome { .. })
}

/// Bytes from someone who was not let in yet end its connection so.
fn strangers_end(bytes: &[u8], reason: Reason, named: &str) {
    ends(|world| world.stranger(Trust::Nobody), bytes, reason, named);
}

/// Bytes from someone who was, and entered session 1, do.
fn guests_end(bytes: &[u8], reason: Reason, named: &str) {
    ends(|world| world.guest(9), bytes, reason, named);
}

fn ends(who: impl FnOnce(&mut World) -> ConnectionId, bytes: &[u8], reason: Reason, named: &str) {
    let mut neighbours = Neighbours::new();
    let id = who(&mut neighbours.world);
    neighbours.world.send(id, bytes);
    let (why, text) = neighbours.world.goodbye(id);
    assert_eq!(why, reason, "{text}");
    assert!(text.contains(named), "{text:?} does not name {named:?}");
    neighbours.assert_unharmed();
}

fn said_hello(hello: Hello) -> Vec<u8> {
    frame(0, Said::Hello(hello))
}

#[test]
fn a_hello_that_lets_nobody_in() {
    strangers_end(&said_hello(hello("wrong")), Reason::Token, "token is wrong");
    strangers_end(&said_hello(hello("")), Reason::Token, "token is needed");
    let prefix = &TOKEN[..TOKEN.len() - 1];
    strangers_end(&said_hello(hello(prefix)), Reason::Token, "token is wrong");
    for version in [0, 2, u32::MAX] {
        let other = Hello {
            version,
            ..hello(TOKEN)
        };
        let named = format!("version 1 of the protocol, not {version}");
        strangers_end(&said_hello(other), Reason::Version, &named);
    }
}

// LOCK-12
#[test]
fn a_hello_out_of_its_bounds() {
    let long = hello(&"t".repeat(1025));
    strangers_end(&said_hello(long), Reason::Malformed, "1024 bytes");
    let named = |client: String| Hello {
        client,
        ..hello(TOKEN)
    };
    let long = named("c".repeat(129));
    strangers_end(
        &said_hello(long),
        Reason::Malformed,
        "128 bytes, this one 129",
    );
    let bell = named("\u{7}".into());
    strangers_end(&said_hello(bell), Reason::Malformed, "control characters");
    let large = named("c".repeat(5000));
    strangers_end(&said_hello(large), Reason::Malformed, "4096 bytes");
}

// LOCK-12
#[test]
fn a_frame_that_is_too_large_is_refused_by_its_length_alone() {
    let announced = [0xff; 4];
    strangers_end(
        &announced,
        Reason::Malformed,
        "4096 bytes here, this one 4294967295",
    );
    guests_end(
        &announced,
        Reason::Malformed,
        "1048576 bytes here, this one 4294967295",
    );
    let one_more = (1u32 << 20) + 1;
    guests_end(
        &one_more.to_be_bytes(),
        Reason::Malformed,
        "this one 1048577",
    );
}

#[test]
fn what_is_no_message() {
    let frame = [&[0, 0, 0, 3][..], &[0xff; 3]].concat();
    strangers_end(&frame, Reason::Malformed, "no message");
    guests_end(&frame, Reason::Malformed, "no message");
}

#[test]
fn messages_out_of_their_order() {
    let ping = frame(0, Said::Ping(Ping {}));
    strangers_end(&ping, Reason::Malformed, "first message is a hello");
    let ask = frame(1, Said::Hold(hold(1, "k")));
    strangers_end(&ask, Reason::Malformed, "first message is a hello");
    strangers_end(&[0, 0, 0, 0], Reason::Malformed, "first message is a hello");
    guests_end(&said_hello(hello(TOKEN)), Reason::Malformed, "one hello");
    let of_another = frame(2, Said::Hold(hold(1, "k")));
    guests_end(&of_another, Reason::Malformed, "has not entered");
    let of_none = frame(0, Said::Hold(hold(1, "k")));
    guests_end(&of_none, Reason::Malformed, "has not entered");
}

// LOCK-12
#[test]
fn entries_out_of_their_bounds() {
    let entry = |number, enter| frame(number, Said::Enter(enter));
    for length in [0, 15, 17] {
        let id = vec![1; length];
        let short = Enter { id, ..enter(1) };
        guests_end(&entry(2, short), Reason::Malformed, "16 bytes");
    }
    guests_end(&entry(0, enter(2)), Reason::Malformed, "not 0");
    guests_end(&entry(1, enter(2)), Reason::Malformed, "number of its own");
    guests_end(&entry(2, enter(9)), Reason::Malformed, "enters once");
    let uncounted = Enter {
        entry: 0,
        ..enter(2)
    };
    guests_end(&entry(2, uncounted), Reason::Malformed, "count from 1");
}

// LOCK-12, case F7
#[test]
fn a_renewal_of_too_many() {
    let lease = |fence| Lease { fence, secret: 0 };
    let leases = (0..1001).map(lease).collect();
    let renewal = frame(1, Said::Renew(Renew { leases }));
    guests_end(&renewal, Reason::Malformed, "1000 leases");
}

// LOCK-12
#[test]
fn silence_ends_a_connection() {
    let whole = said_hello(hello(TOKEN));
    for (bytes, after) in [(&whole[..whole.len() / 2], 5), (&whole[..], 15)] {
        let mut neighbours = Neighbours::new();
        let world = &mut neighbours.world;
        let id = world.stranger(Trust::Nobody);
        world.send(id, bytes);
        world.run((after - 1) * S);
        assert!(!world.at(id).over);
        world.run(2 * S);
        let (why, text) = world.goodbye(id);
        assert_eq!(why, Reason::Silent);
        assert!(text.contains(&format!("{after} s")), "{text}");
        neighbours.assert_unharmed();
    }
}

// LOCK-12: however slowly it trickles.
#[test]
fn a_hello_has_5_s_as_a_whole() {
    let mut neighbours = Neighbours::new();
    let world = &mut neighbours.world;
    let id = world.stranger(Trust::Nobody);
    for byte in &said_hello(hello(TOKEN))[..6] {
        world.send(id, &[*byte]);
        world.run(S);
    }
    let (why, _) = world.goodbye(id);
    assert_eq!(why, Reason::Silent);
    neighbours.assert_unharmed();
}

/// An ask that is refused, and by what text.
fn refused(asked: Hold) -> String {
    let mut neighbours = Neighbours::new();
    let world = &mut neighbours.world;
    let id = world.guest(9);
    let mine = world.hold(id, 1, "mine");
    let ask = asked.ask;
    world.say(id, 1, Said::Hold(asked));
    let heard = world.heard(id);
    let [Told::Refused(refused)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!((refused.ask, refused.why()), (ask, Why::Invalid));
    // Nothing is kept of it, and its own lease goes on.
    assert_eq!(world.engine.counts().leases, 2);
    let leases = vec![mine];
    world.say(id, 1, Said::Renew(Renew { leases }));
    assert!(matches!(world.heard(id)[..], [Told::Renewed(_)]));
    let text = refused.text.clone();
    neighbours.assert_unharmed();
    text
}

// LOCK-12, case F7, case J1
#[test]
fn asks_out_of_their_bounds_are_refused_by_the_bound_s_name() {
    let named = |name: &str| Hold {
        name: name.into(),
        ..hold(2, "k")
    };
    assert!(refused(named("")).contains("1 to 128 bytes, this one 0"));
    assert!(refused(named(&"n".repeat(129))).contains("this one 129"));
    assert!(refused(named("a\nb")).contains("control characters"));
    assert!(refused(hold(2, "")).contains("1 to 1024 bytes, this one 0"));
    assert!(refused(hold(2, &"k".repeat(1025))).contains("this one 1025"));
    for ttl in [0, 999, 3_600_001, u32::MAX] {
        let asked = Hold {
            ttl: Some(ttl),
            ..hold(2, "k")
        };
        let named = format!("1000 to 3600000 ms, not {ttl}");
        assert!(refused(asked).contains(&named));
    }
    for limit in [0, 1001] {
        let asked = Hold {
            limit: Some(limit),
            ..hold(2, "k")
        };
        assert!(refused(asked).contains(&format!("1 to 1000, not {limit}")));
    }
    let at_once = Hold {
        max_hold: Some(0),
        ..hold(2, "k")
    };
    assert!(refused(at_once).contains("max-hold is 1 to"));
}

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
        said_hello(hello(TOKEN)),
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
