//! What only who steps the engine can see: its bounds, its requests, its
//! fences, its ids; natively, and as a component.

#![allow(clippy::expect_used)] // tests

mod bounded;
mod fences;
mod grace;
mod ids;
mod requests;
mod restoring;
mod same;
mod sessions;
mod steps;
mod times;

use witlock_tests::{Native, Wasm};

macro_rules! scenarios {
    ($($file:ident: $($scenario:ident)*;)*) => {
        /// The tests of one machine.
        macro_rules! on {
            ($name:ident: $machine:ty) => {
                mod $name {
                    use super::*;

                    $(mod $file {
                        use super::*;

                        $(#[test]
                        fn $scenario() {
                            crate::$file::$scenario::<$machine>();
                        })*
                    })*
                }
            };
        }
    };
}

scenarios! {
    bounded:
        a_step_handles_1024_commands
        a_step_gives_4096_events
        a_full_step_has_room_to_ask_for_fences
        a_step_handles_1000_deadlines
        commands_get_their_turn_while_a_million_leases_are_due
        what_is_due_is_over_though_no_step_had_room
        a_lease_that_is_due_is_not_released_renewed_or_broken
        asking_again_for_a_lease_that_is_due_is_a_new_ask
        who_stands_still_is_not_in_its_own_way_by_what_is_due
        a_key_whose_lease_is_due_goes_to_who_waits_first
        what_is_due_ends_in_the_order_of_its_deadlines
        a_step_lists_once_and_at_most_256
        a_listing_passes_over_empty_places_in_bounded_steps
        a_long_line_is_refused_in_bounded_steps
        a_line_left_for_want_of_room_keeps_its_order;
    times:
        a_time_set_back_counts_as_the_one_seen
        moments_past_the_end_of_time_never_come
        the_end_of_time_is_survived
        spans_are_counted_to_the_nanosecond
        a_wait_of_nothing_is_refused_at_once;
    sessions:
        a_session_ends_in_bounded_steps
        what_a_session_gave_up_is_over_though_no_step_had_room
        a_key_of_a_session_that_ended_is_free_at_once
        a_session_that_ended_asks_for_nothing_more
        a_store_closes_in_bounded_steps
        ending_after_closing_does_not_call_a_loss_a_release
        a_session_comes_back_in_bounded_steps
        who_gave_up_its_keys_is_served_its_place
        what_was_given_up_by_coming_back_does_not_count_against_the_bounds
        what_was_given_up_by_coming_back_is_not_in_ones_own_way
        a_place_is_given_up_as_the_key_comes_free
        a_session_may_come_back_before_it_was_missed
        nobody_comes_back_to_anothers_lease
        places_are_given_up_in_bounded_steps
        asking_again_is_survived_by_a_session_that_is_gone
        who_is_not_there_is_told_so
        opening_a_session_twice_changes_nothing
        places_in_line_count_as_what_is_held
        places_in_line_of_a_semaphore_count_with_what_is_held;
    restoring:
        a_restored_lease_goes_on
        a_restored_lease_ends_at_its_time
        a_restored_lease_is_asked_for_again
        a_restored_lease_is_resumed_or_given_up
        leases_are_restored_in_the_grace
        a_restored_semaphore_is_as_full_as_before
        what_has_no_room_is_not_restored;
    requests:
        the_older_ticket_is_superseded
        the_wait_of_an_ask_is_that_of_the_first_time
        a_request_names_one_key
        asking_again_under_another_limit_is_refused
        asking_again_counts_once_against_the_bounds;
    fences:
        no_fence_is_given_twice_or_below_another
        fences_end_below_2_to_the_53
        few_fences_are_said_once
        no_fences_are_told_to_all_who_wait_in_bounded_steps
        fences_that_come_serve_all_who_wait_in_bounded_steps
        what_is_held_goes_on_without_fences
        a_line_that_came_empty_has_lost_its_turn_for_a_fence;
    grace:
        no_key_is_given_before_the_grace_is_over
        a_line_of_the_grace_keeps_its_order
        a_wait_runs_out_in_the_grace_as_behind_a_holder
        the_latest_grace_counts
        a_grace_till_the_end_of_time_is_survived
        what_is_held_in_the_grace_is_renewed_and_released
        fences_come_and_fail_in_the_grace
        the_bounds_of_a_holder_hold_in_the_grace
        sessions_come_and_go_in_the_grace
        closing_in_the_grace_answers_everyone
        lines_of_the_grace_are_served_in_bounded_steps
        a_grace_is_over_though_no_step_had_room;
    ids:
        a_fence_and_a_guess_release_nothing
        a_listing_does_not_tell_the_secret
        an_id_names_no_second_lease
        a_break_names_a_fence_and_a_place;
    same:
        the_same_steps_give_the_same_events
        another_seed_changes_nothing_but_the_secrets;
}

on!(native: Native);
on!(wasm: Wasm);
