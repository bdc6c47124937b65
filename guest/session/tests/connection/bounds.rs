//! Too much of something on one connection.

use witlock_session::server::{OUT_BYTES, SESSIONS_PER_CONNECTION, Trust, WAITING_PER_CONNECTION};
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Enter, Frames, Hold, MESSAGE_BYTES, Ping, ToClient};

use crate::raw::{enter, frame, hello, hold};
use crate::world::{S, TOKEN, World};

// LOCK-12, case I8
#[test]
fn a_client_that_does_not_read_is_cut_off_and_slows_nobody() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    let deaf = world.guest(9);
    world.at(deaf).deaf = true;
    let pings = frame(1, Said::Ping(Ping {})).repeat(10_000);
    let mut sent = 0;
    while sent < 4 * OUT_BYTES && world.server.kept().connections == 3 {
        world.send(deaf, &pings);
        sent += pings.len();
    }
    // It has been answered no more than fits: the last of it says why.
    world.at(deaf).deaf = false;
    let mut bytes = Vec::new();
    assert!(world.server.outgoing(deaf, &mut bytes));
    assert!(bytes.len() < OUT_BYTES + 1_000, "{}", bytes.len());
    let mut frames = Frames::default();
    frames.push(&bytes);
    let mut last = None;
    while let Ok(Some(told)) = frames.next::<ToClient>(MESSAGE_BYTES) {
        last = told.body;
    }
    let Some(Told::Goodbye(goodbye)) = last else {
        panic!("{last:?}");
    };
    assert_eq!(goodbye.reason(), Reason::Slow);
    assert!(goodbye.text.contains("not read"), "{goodbye:?}");

    world.run(20 * S);
    assert_eq!(world.ending(held), None);
    world.release(0, held);
    assert_eq!(world.granted_at(waiter), Some(world.now));
}

fn numbered(number: u64) -> Enter {
    let id = u128::from(number).to_be_bytes().to_vec();
    Enter { id, ..enter(0) }
}

// LOCK-12
#[test]
fn a_connection_has_so_many_sessions() {
    let mut world = World::with(0);
    let id = world.stranger(Trust::Nobody);
    world.say(id, 0, Said::Hello(hello(TOKEN)));
    let most = SESSIONS_PER_CONNECTION as u64;
    let entries = (1..=most).map(|number| frame(number, Said::Enter(numbered(number))));
    let entries: Vec<u8> = entries.flatten().collect();
    world.send(id, &entries);
    assert!(!world.at(id).over);
    assert_eq!(world.server.kept().sessions, SESSIONS_PER_CONNECTION);
    world.say(id, most + 1, Said::Enter(numbered(most + 1)));
    let (why, text) = world.goodbye(id);
    assert_eq!(why, Reason::Malformed);
    assert!(text.contains("10000 sessions"), "{text}");
    // Nothing is left of them where nothing was held.
    world.run(40 * S);
    assert_eq!(world.server.kept().sessions, 0);
    assert_eq!(world.engine.counts().sessions, 0);
}

// LOCK-12: the ask is refused, and those before it go on.
#[test]
fn so_many_asks_of_a_connection_wait() {
    let mut world = World::with(0);
    let id = world.guest(1);
    world.say(id, 1, Said::Hold(hold(1, "k")));
    let sessions = WAITING_PER_CONNECTION as u64 / 10_000;
    for session in 2..sessions + 2 {
        world.say(id, session, Said::Enter(numbered(session)));
        // A line has 10 000 places.
        let key = format!("k{session}");
        world.say(id, 1, Said::Hold(hold(session, &key)));
        let mut bytes = Vec::new();
        for ask in 1..=10_000 {
            let waits = Hold {
                wait: Some(60_000),
                ..hold(ask, &key)
            };
            bytes.extend(frame(session, Said::Hold(waits)));
        }
        world.send(id, &bytes);
    }
    assert_eq!(world.engine.counts().waiters, WAITING_PER_CONNECTION as u64);
    world.heard(id);
    world.say(id, 1, Said::Hold(hold(1_000, "k")));
    let heard = world.heard(id);
    let [Told::Refused(refused)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!((refused.ask, refused.why()), (1_000, Why::TooMany));
    assert!(refused.text.contains("100000 asks"), "{}", refused.text);
    assert!(!world.at(id).over);
}

// LOCK-12: nothing is kept of an ask that was refused, so that its session is not
// either.
#[test]
fn a_ttl_out_of_its_bounds_keeps_no_session() {
    let mut world = World::with(0);
    let id = world.guest(1);
    let longest = Hold {
        ttl: Some(u32::MAX),
        ..hold(1, "k")
    };
    world.say(id, 1, Said::Hold(longest));
    let heard = world.heard(id);
    let [Told::Refused(refused)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(refused.why(), Why::Invalid);
    world.server.disconnected(world.now, id);
    world.run(40 * S);
    assert_eq!(world.server.kept().sessions, 0);
}
