//! Which scenarios there are, what each needs, and on which faces they run.

use std::collections::BTreeMap;
use std::io::Write;

use witlock_tests::{Native, Wasm};

use crate::apps::Apps;
use crate::composed::{Composed, Here, Wasmtime};
use crate::driver::Driven;
use crate::face::{Face, Need};
use crate::guests::Guests;
use crate::hosted::Hosted;
use crate::native_api::Handles;
use crate::reached::{OverConnection, Served};
use crate::tasks::TaskGuests;

/// Runs a scenario if the face can.
fn run<F: Face>(scenario: fn(&mut F), needs: &[Need]) {
    if needs.iter().all(|need| F::cannot(*need).is_none()) {
        scenario(&mut F::start());
    }
}

/// Says how many scenarios ran on a face and why others did not, and fails if
/// they are fewer than there should be.
fn count<F: Face>(scenarios: &[(&str, &[Need])], least: usize) {
    let mut skipped = BTreeMap::<_, Vec<_>>::new();
    for (name, needs) in scenarios {
        if let Some(why) = needs.iter().find_map(|need| F::cannot(*need)) {
            skipped.entry(why).or_default().push(*name);
        }
    }
    let ran = scenarios.len() - skipped.values().flatten().count();
    let mut said = format!("{}: {ran} of {} scenarios\n", F::name(), scenarios.len());
    for (why, names) in skipped {
        said += &format!("  {why}: not {}\n", names.join(", "));
    }
    // Not by print!, which is shown only when the test fails.
    std::io::stderr()
        .write_all(said.as_bytes())
        .expect("stderr");
    assert!(ran >= least, "{ran} scenarios of at least {least}");
}

macro_rules! scenarios {
    ($($file:ident: $($scenario:ident [$($need:ident)*])*;)*) => {
        const SCENARIOS: &[(&str, &[Need])] = &[
            $($((
                concat!(stringify!($file), "::", stringify!($scenario)),
                &[$(Need::$need),*],
            ),)*)*
        ];

        /// The tests of one face. `ignored` is a condition as `cfg` has it: `any()`
        /// never holds, `all()` always.
        macro_rules! on {
            ($name:ident: $face:ty, at least $least:expr, ignored: $ignored:meta) => {
                mod $name {
                    use super::*;

                    #[test]
                    #[cfg_attr($ignored, ignore = "needs the wasmtime command: .ci/run")]
                    fn runs_enough_scenarios() {
                        count::<$face>(SCENARIOS, $least);
                    }

                    $(mod $file {
                        use super::*;

                        $(#[test]
                        #[cfg_attr($ignored, ignore = "needs the wasmtime command: .ci/run")]
                        fn $scenario() {
                            run::<$face>(crate::$file::$scenario, &[$(Need::$need),*]);
                        })*
                    })*
                }
            };
        }
    };
}

scenarios! {
    order:
        one_holder_at_a_time []
        as_many_holders_as_the_limit []
        first_come_first_served []
        who_left_the_line_holds_up_nobody [Leave]
        head_is_cancelled_as_the_key_comes_free [Leave]
        head_ends_as_the_key_comes_free [Leave]
        head_is_cancelled_before_it_learns_that_it_was_served [Leave]
        head_waited_too_long_as_the_key_comes_free []
        who_waited_when_a_lease_ended_is_served_however_late [InProcess Listing]
        all_that_fit_are_served_at_once [InProcess]
        leases_end_before_waits_run_out [InProcess]
        nobody_takes_a_key_from_who_waits []
        one_release_serves_one [Crowd]
        keys_and_locks_are_apart []
        a_key_has_one_limit_while_it_is_used []
        a_wait_runs_out_when_it_says []
        a_hold_waits_10_seconds_unless_it_says []
        releasing_twice_adds_no_place []
        who_goes_on_while_it_waits_stands_in_its_own_line [Tasks];
    fences:
        fences_grow_over_all_locks_and_keys []
        fences_grow_over_restarts [Reopen]
        without_fences_asks_wait_for_them [Fences]
        who_waits_for_a_fence_is_served_when_it_comes [Fences]
        who_waits_for_a_fence_may_leave [Fences]
        fences_that_fail_are_said_to [Fences];
    max_hold:
        a_lease_ends_at_its_max_hold_and_the_key_goes_on [InProcess]
        max_hold_at_its_bounds [InProcess]
        max_hold_counts_from_the_grant [InProcess]
        a_lease_past_its_max_hold_is_over_however_late [InProcess]
        no_lease_of_this_process_ends_by_itself [InProcess Listing]
        renewing_does_not_outlast_max_hold [Ttl]
        ttl_and_max_hold_at_one_moment [Ttl];
    alone:
        holding_what_one_holds_is_refused_at_once [Alone]
        two_handles_of_one_holder_are_one_holder [Alone]
        nobody_else_is_refused_so [Alone]
        a_semaphore_is_refused_once_its_limit_is_ones_own [Alone]
        a_lease_that_is_over_is_not_in_ones_own_way [Alone]
        a_lease_whose_ttl_ran_out_is_not_in_ones_own_way [Alone Ttl];
    ttl:
        a_lease_lasts_its_ttl [Ttl]
        a_ttl_is_30_seconds_unless_given [Ttl]
        a_lease_lasts_from_its_last_renewal [Ttl]
        what_ran_out_is_never_renewed [Ttl]
        a_late_renewal_is_late_however_late_the_engine [Ttl]
        releasing_late_changes_nothing [Ttl]
        nothing_revives_what_was_released [Ttl]
        a_ttl_begins_at_the_grant [Ttl]
        a_renewal_keeps_one_lease [Ttl]
        ttls_end_before_waits_run_out [Ttl]
        head_is_cancelled_as_the_lease_runs_out [Ttl]
        what_is_left_of_a_lease_is_never_negative [Ttl];
    leaving:
        who_ends_lets_its_keys_go []
        who_ends_leaves_the_line [Leave]
        what_is_dropped_is_free_at_once [Leave]
        closing_ends_every_lease_and_answers_everyone [Close]
        closing_twice_is_closing_once [Close]
        closing_leaves_leases_over_connections [Ttl]
        a_store_opened_again_begins_with_free_keys [Reopen]
        a_crowd_of_keys_goes_with_its_holder [Crowd Tasks]
        a_crowd_of_leases_is_closed [Crowd Tasks Close];
    endings:
        the_second_release_says_so_and_changes_nothing []
        an_operator_breaks_what_a_listing_shows [Listing]
        every_ending_is_told_apart [Listing Close]
        an_ending_stays_told [Close]
        one_lease_of_a_semaphore_is_not_another [];
    again:
        asking_again_keeps_the_place [Connection]
        asking_again_finds_the_lease_and_renews_it [Connection]
        asking_again_after_the_lease_ended_is_a_new_ask [Connection]
        asking_again_late_is_late_however_late_the_engine [Connection]
        asking_again_after_a_release_or_a_refusal_is_a_new_ask [Connection]
        what_was_granted_during_a_cut_is_there [Connection]
        a_place_without_a_connection_is_kept_5_seconds [Connection]
        a_lease_nobody_can_have_seen_ends_with_the_5_seconds [Connection]
        leases_outlast_a_cut_by_their_ttl [Connection]
        who_comes_back_loses_what_it_does_not_name [Connection]
        an_ask_given_up_by_coming_back_is_a_new_ask [Connection];
    bounds:
        names []
        labels []
        keys []
        limits []
        ttls []
        max_holds [SameClock]
        waits []
        waiters_of_one_key [Crowd Tasks]
        keys_of_one_holder [Crowd Tasks]
        keys_held_with_a_bound_of_ones_own [HolderBounds]
        keys_waited_for_with_a_bound_of_ones_own [HolderBounds Tasks]
        who_may_hold_no_more_is_passed_over [HolderBounds Tasks]
        waits_for_fences_are_waits [HolderBounds Fences Tasks];
    listing:
        a_listing_shows_who_holds_what [Listing]
        a_listing_shows_who_waits_in_their_order [Listing]
        a_listing_comes_in_pages [Tasks Listing]
        what_stays_is_listed_once_while_things_go_on [Listing];
    nothing_left:
        nothing_is_kept_of_a_key_that_is_not_used [Listing]
        nothing_is_kept_of_who_left_the_line [Leave Listing]
        nothing_is_kept_of_holders_that_ended [Leave Listing];
}

on!(native: Driven<Native>, at least 90, ignored: any());
on!(wasm: Driven<Wasm>, at least 90, ignored: any());
on!(native_api: Hosted<Handles>, at least 50, ignored: any());
on!(native_api_over_a_connection: Hosted<Handles, OverConnection>, at least 40, ignored: any());
on!(p2_guest: Hosted<Guests>, at least 50, ignored: any());
on!(p3_guest: Hosted<TaskGuests>, at least 50, ignored: any());
on!(p2_guest_over_a_connection: Hosted<Guests, OverConnection>, at least 40, ignored: any());
on!(p3_guest_over_a_connection: Hosted<TaskGuests, OverConnection>, at least 40, ignored: any());
on!(client_under_wasmtime: Hosted<Apps, Served>, at least 35, ignored: all());
on!(composition: Composed<Here>, at least 30, ignored: any());
on!(wasmtime: Composed<Wasmtime>, at least 30, ignored: all());
