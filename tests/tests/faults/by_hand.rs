//! The checker itself, with records written by hand.

use witlock_tests::record::{Answer, Claim, Part, Record};

use crate::breach::What;
use crate::checker::STEADY_TTL;
use crate::faults::{Restart, Span};
use crate::history::GAP;
use crate::story::{SECOND, Story, TRANSIT, TTL, ask, claim};

#[test]
fn holders_one_after_the_other_are_no_breach() {
    let mut story = Story::default();
    story.holds(1, SECOND, 2 * SECOND - 1_000_000);
    story.holds(2, 2 * SECOND, 3 * SECOND - 1_000_000);
    story.asks(3, 3 * SECOND);
    story.is_answered(3, 4 * SECOND, Answer::InUse);
    story.breaks(&[]);
}

// LOCK-01
#[test]
fn two_who_write_at_once_are_an_overlap() {
    let mut story = Story::default();
    story.begins(1, SECOND);
    story.begins(2, SECOND + 1_000_000);
    story.releases(1, SECOND + 2_000_000);
    story.releases(2, SECOND + 3_000_000);
    story.breaks(&[What::Overlap, What::GivenEarly]);
}

// LOCK-01
#[test]
fn a_semaphore_takes_as_many_as_its_limit() {
    for (holders, expected) in [(2, &[][..]), (3, &[What::Overlap, What::GivenEarly][..])] {
        let mut story = Story::default();
        for process in 1..=holders {
            let stamp = SECOND + u64::from(process) * 1_000_000;
            let begin = claim(Part::Begin, process, stamp);
            story.begins_with(stamp, Claim { limit: 2, ..begin });
        }
        for process in 1..=holders {
            let stamp = SECOND + u64::from(process) * 10_000_000;
            let end = claim(Part::End, process, stamp);
            story.claims(stamp, Claim { limit: 2, ..end });
            let (ask, how) = (ask(process), "Released".into());
            story.add(stamp + 1, Record::Released { ask, how, gap: 0 });
        }
        story.breaks(expected);
    }
}

// LOCK-08: nobody was heard of at once, but the first could count on its key.
#[test]
fn a_key_that_is_given_on_before_a_deadline_is_given_early() {
    for (wait, expected) in [(TTL, &[][..]), (TTL / 2, &[What::GivenEarly][..])] {
        let mut story = Story::default();
        story.begins(1, SECOND);
        story.faults.killed.insert(1);
        story.holds(2, SECOND + wait, SECOND + wait + 1_000_000);
        story.breaks(expected);
    }
}

// LOCK-08: the claim was made in time, and its holder did not run on its way.
#[test]
fn a_claim_that_comes_late_is_one_if_its_holder_did_not_run() {
    let late = SECOND + TTL + 3_000_000;
    let checked = SECOND + TTL / 2;
    let breach = [What::Overlap];
    for (gap, expected) in [(late - checked, &[][..]), (GAP - 1, &breach[..])] {
        let mut story = Story::default();
        story.begins(1, SECOND);
        story.begins(2, SECOND + TTL + 1_000_000);
        let write = claim(Part::Write, 1, late);
        let deadline = SECOND - TRANSIT + TTL;
        let write = Claim {
            checked,
            deadline,
            ..write
        };
        story.claims(late, write);
        story.loses(1, late + 1, "Expired", gap);
        story.releases(2, late + SECOND / 10);
        story.breaks(expected);
    }
}

// LOCK-08: one that was killed can't say whether it ran; the test knows.
#[test]
fn a_claim_that_was_the_last_is_late_if_its_holder_was_paused() {
    let late = SECOND + TTL + 3_000_000;
    for (paused, expected) in [(true, &[][..]), (false, &[What::Overlap][..])] {
        let mut story = Story::default();
        story.begins(1, SECOND);
        story.begins(2, SECOND + TTL + 1_000_000);
        let write = claim(Part::Write, 1, late);
        let (checked, deadline) = (SECOND + TTL / 2, SECOND - TRANSIT + TTL);
        story.claims(
            late,
            Claim {
                checked,
                deadline,
                ..write
            },
        );
        story.faults.killed.insert(1);
        if paused {
            let (from, until) = (checked + 1, late - 1);
            story.faults.paused.push((1, Span { from, until }));
        }
        story.releases(2, late + SECOND / 10);
        story.breaks(expected);
    }
}

// LOCK-08
#[test]
fn who_believes_past_its_deadline_is_found() {
    let mut story = Story::default();
    story.begins(1, SECOND);
    let stamp = SECOND + 2 * TTL;
    let end = claim(Part::End, 1, stamp);
    let deadline = SECOND + TTL;
    story.claims(stamp, Claim { deadline, ..end });
    let (ask, how) = (ask(1), "Released".into());
    story.add(stamp + 1, Record::Released { ask, how, gap: 0 });
    story.breaks(&[What::Believed]);
}

// LOCK-05, LOCK-08
#[test]
fn a_lease_that_ended_before_its_time_is_found() {
    let mut story = Story::default();
    story.begins(1, SECOND);
    story.loses(1, SECOND + TTL / 2, "Expired", 0);
    story.breaks(&[What::EndedEarly]);
}

// LOCK-02
#[test]
fn a_fence_that_goes_back_is_found_on_another_key_too() {
    for key in ["k", "other"] {
        let mut story = Story::default();
        story.holds(2, SECOND, SECOND + 1_000_000);
        let stamp = SECOND + 2_000_000;
        let of_key = |part| Claim {
            key: key.into(),
            ..claim(part, 1, stamp)
        };
        story.begins_with(stamp, of_key(Part::Begin));
        story.claims(stamp + 1, of_key(Part::End));
        let (ask, how) = (ask(1), "Released".into());
        story.add(stamp + 2, Record::Released { ask, how, gap: 0 });
        story.breaks(&[What::Fence]);
    }
}

// LOCK-02
#[test]
fn a_fence_that_is_given_twice_is_found() {
    let mut story = Story::default();
    story.begins(1, SECOND);
    let stamp = SECOND + 1_000;
    let begin = claim(Part::Begin, 2, stamp);
    let key = String::from("other");
    let fence = 1;
    story.begins_with(
        stamp,
        Claim {
            key,
            fence,
            ..begin
        },
    );
    story.faults.killed.extend([1, 2]);
    story.breaks(&[What::Fence]);
}

#[test]
fn a_guard_that_accepts_an_older_fence_is_found() {
    let mut story = Story::default();
    story.begins(1, SECOND);
    story.begins(2, SECOND + 2 * TTL);
    let stamp = SECOND + 2 * TTL + 1_000;
    let write = claim(Part::Write, 1, stamp);
    story.history.add(stamp, Record::Claim(write), Some(true));
    story.faults.killed.extend([1, 2]);
    story.breaks(&[What::Record]);
}

// LOCK-09, LOCK-12
#[test]
fn who_is_not_answered_is_found_unless_it_was_killed() {
    let mut story = Story::default();
    story.asks(1, SECOND);
    story.begins(2, SECOND);
    story.breaks(&[What::Unanswered]);
    story.faults.killed.extend([1, 2]);
    story.breaks(&[]);
}

// LOCK-12
#[test]
fn answers_that_come_too_soon_or_much_too_late_are_found() {
    let mut story = Story::default();
    story.asks(1, SECOND);
    story.is_answered(1, 2 * SECOND - 1, Answer::InUse);
    story.breaks(&[What::Impatient]);
    let mut story = Story::default();
    story.asks(1, SECOND);
    story.is_answered(1, 60 * SECOND, Answer::Unavailable);
    story.breaks(&[What::Hang]);
    let (from, until) = (2 * SECOND, 50 * SECOND);
    story.faults.paused.push((1, Span { from, until }));
    story.breaks(&[]);
}

// LOCK-05, case G7
#[test]
fn a_steady_lease_that_a_restart_cost_is_found() {
    for (trouble, expected) in [
        (SECOND / 2, &[What::LostForNothing][..]),
        (3 * SECOND, &[][..]),
    ] {
        let mut story = Story::default();
        let begin = claim(Part::Begin, 1, SECOND);
        let (ttl, deadline) = (STEADY_TTL, SECOND + STEADY_TTL);
        story.begins_with(
            SECOND,
            Claim {
                ttl,
                deadline,
                ..begin
            },
        );
        let (from, until) = (2 * SECOND, 2 * SECOND + trouble);
        story.faults.server.push(Span { from, until });
        story.loses(1, deadline, "Unreachable", 0);
        story.breaks(expected);
    }
}

#[test]
fn a_server_that_starts_slowly_is_found_unless_it_was_in_trouble_again() {
    let mut story = Story::default();
    story.faults.restarts.push(Restart {
        listening: SECOND,
        first_grant: Some(3 * SECOND),
    });
    story.breaks(&[What::SlowStart]);
    let (from, until) = (SECOND + 1, 2 * SECOND);
    story.faults.server.push(Span { from, until });
    story.breaks(&[]);
}
