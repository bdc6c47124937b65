//! Asks out of their bounds, from a client that does not look first.

use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Hold, Renew};

use crate::neighbours::Neighbours;
use crate::raw::hold;

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
