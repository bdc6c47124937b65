//! What the ways to hold a key cost beside each other. They take turns, some
//! milliseconds each, so that a machine that is slow for a second is slow for all
//! of them: what is printed are medians over the turns, of the times and of the
//! ratios.
#![allow(missing_docs)]

mod common;

use std::time::Duration;

use common::Subject;

const TURNS: usize = 100;

/// How long a turn is meant to be.
const TURN: Duration = Duration::from_millis(5);

fn main() {
    compare(
        "hold + release of a free key",
        vec![
            ("tinystore", common::tinystore()),
            ("engine natively", common::engine_natively()),
            ("engine.wasm alone", common::engine_alone()),
            ("native API", common::native_api()),
            ("p2 guest", common::p2_guest()),
            ("p3 guest", common::p3_guest()),
            ("p3 guest, by @0.2.0", common::p3_guest_standing()),
            ("composition", common::composition()),
            ("composition, by @0.2.0", common::composition_standing()),
        ],
    );
    compare(
        "hand-over of one key for which 10 000 wait",
        vec![
            ("native API", common::natively_crowded()),
            ("tasks of a p3 guest", common::crowd_of_a_guest()),
            ("tasks of a composition", common::crowd_of_a_composition()),
        ],
    );
    compare(
        "hand-over of one key among 8",
        vec![
            ("tinystore, threads", common::tinystore_threads()),
            ("native API, threads", common::threads()),
            ("native API, tasks", common::native_tasks()),
            (
                "native API, tasks of one thread",
                common::tasks_of_one_thread(),
            ),
        ],
    );
    compare(
        "hold + release beside keys held",
        vec![
            ("1 000", common::beside_keys_held(1_000)),
            ("1 000 000", common::beside_keys_held(1_000_000)),
        ],
    );
}

/// Prints each subject's time, and its ratio to the first's.
fn compare(what: &str, mut subjects: Vec<(&str, Subject)>) {
    let times: Vec<u64> = subjects.iter_mut().map(|it| in_a_turn(&mut it.1)).collect();
    let mut each: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    for _ in 0..TURNS {
        for ((_, subject), (times, each)) in subjects.iter_mut().zip(times.iter().zip(&mut each)) {
            each.push(subject(*times).as_secs_f64() / *times as f64);
        }
    }
    println!("{what}");
    for ((name, _), own) in subjects.iter().zip(&each) {
        let ratios = own.iter().zip(&each[0]).map(|(own, first)| own / first);
        let time = median(own.iter().copied()) * 1e9;
        println!("  {name:<32} {time:>8.0} ns  {:>5.2}", median(ratios));
    }
}

/// How often a subject does its work in a turn.
fn in_a_turn(subject: &mut Subject) -> u64 {
    const SOME: u64 = 1_000;
    subject(SOME);
    let each = subject(SOME).as_secs_f64() / SOME as f64;
    (TURN.as_secs_f64() / each).max(8.0) as u64
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
