//! What only operators may do.

use witlock_session::client::Event;
use witlock_session::server::Trust;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Break, Count, Denied, ListHoldings, ListWaiters};

use crate::world::{OPERATOR_TOKEN, S, TOKEN, World};

/// The answers to questions, in their order.
fn ask(world: &mut World, who: usize, questions: Vec<Said>) -> Vec<Option<Told>> {
    let first = world.machines[who].events.len();
    for (tag, question) in questions.into_iter().enumerate() {
        let now = world.now;
        world.machines[who]
            .client
            .question(now, tag as u64, question);
        world.settle();
    }
    let events = world.machines[who].events[first..].iter();
    let answers = events.filter_map(|(_, event)| match event {
        Event::Answered { answer, .. } => Some(answer.clone()),
        _ => None,
    });
    answers.collect()
}

fn list(tag: u64) -> Said {
    Said::ListHoldings(ListHoldings { tag, cursor: 0 })
}

fn waiters(tag: u64) -> Said {
    let list = ListWaiters {
        tag,
        ..ListWaiters::default()
    };
    Said::ListWaiters(list)
}

fn break_lease(tag: u64, fence: u64, place: u32) -> Said {
    Said::Break(Break { tag, fence, place })
}

fn count(tag: u64) -> Said {
    Said::Count(Count { tag })
}

// LOCK-10, case J6
#[test]
fn a_plain_client_lists_breaks_and_counts_nothing() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let fence = world.fence(held);
    for who in [0, 1] {
        let questions = vec![list(0), waiters(1), break_lease(2, fence, 0), count(3)];
        let answers = ask(&mut world, who, questions);
        let denied = (0..4).map(|tag| Some(Told::Denied(Denied { tag })));
        assert_eq!(answers, denied.collect::<Vec<_>>());
    }
    assert_eq!(world.ending(held), None);
    assert_eq!(world.server.kept().under_way, 0);
}

// LOCK-10, case B3, case J5, case J6
#[test]
fn an_operator_lists_breaks_and_counts() {
    for (token, trust) in [
        (OPERATOR_TOKEN, Trust::Nobody),
        ("", Trust::SameUser),
        (TOKEN, Trust::SameUser),
    ] {
        let mut world = World::with(2);
        let operator = world.add_client(token, trust);
        world.settle();
        let welcome = Event::Welcome { operator: true };
        assert_eq!(world.machines[operator].events, [(0, welcome)]);

        let held = world.ask(0, "k");
        let waiter = world.ask(1, "k");
        world.run(2 * S);
        let answers = ask(&mut world, operator, vec![list(0), waiters(1), count(2)]);
        let [
            Some(Told::Holdings(holdings)),
            Some(Told::Waiters(waiting)),
            Some(Told::Counted(counted)),
        ] = &answers[..]
        else {
            panic!("{answers:?}");
        };
        let item = &holdings.items[0];
        assert_eq!((item.name.as_str(), item.key.as_str()), ("jobs", "k"));
        assert_eq!(item.client.as_deref(), Some("client 0"));
        assert_eq!((item.fence, item.held), (world.fence(held), 2 * S));
        assert_eq!(waiting.items[0].client.as_deref(), Some("client 1"));
        assert_eq!((counted.leases, counted.waiters), (1, 1));

        let (fence, place) = (item.fence, item.place);
        let twice = vec![break_lease(0, fence, place), break_lease(1, fence, place)];
        let answers = ask(&mut world, operator, twice);
        let broke = |answer: &Option<Told>| match answer {
            Some(Told::Broke(broke)) => broke.held,
            other => panic!("{other:?}"),
        };
        assert_eq!(answers.iter().map(broke).collect::<Vec<_>>(), [true, false]);
        let how = witlock_session::client::Ending::Broken;
        assert_eq!(world.ending(held), Some(how));
        assert!(world.fence(waiter) > fence);
    }
}

// Case J6: the operator was gone before its answer.
#[test]
fn an_answer_to_an_operator_that_is_gone_goes_to_nobody() {
    let mut world = World::with(1);
    world.ask(0, "k");
    let operator = world.stranger(Trust::SameUser);
    world.say(operator, 0, Said::Hello(crate::raw::hello("")));
    let asked = crate::raw::frame(0, list(1));
    world.server.received(world.now, operator, &asked);
    world.server.disconnected(world.now, operator);
    let next = world.stranger(Trust::Nobody);
    world.say(next, 0, Said::Hello(crate::raw::hello(TOKEN)));
    let heard = world.heard(next);
    assert!(matches!(heard[..], [Told::Welcome(_)]), "{heard:?}");
    assert_eq!(world.server.kept().under_way, 0);
}

// A question has an answer, though it be none.
#[test]
fn a_question_is_given_up_with_its_connection() {
    let mut world = World::new();
    let operator = world.add_client("", Trust::SameUser);
    assert_eq!(ask(&mut world, operator, vec![count(0)]), [None]);
    world.settle();
    let network = &mut world.machines[operator].network;
    network.to_client = Box::new(|_| crate::network::Fate::Lost);
    assert_eq!(ask(&mut world, operator, vec![count(0)]), []);
    world.run(5 * S);
    let answered = |event: &&(u64, Event)| matches!(event.1, Event::Answered { .. });
    let events = &world.machines[operator].events;
    assert_eq!(events.iter().filter(answered).count(), 2);
}
