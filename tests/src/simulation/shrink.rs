//! A history that fails, made as short as it fails still.

use super::history::{History, Step, Time};

/// Leaves out of a history what it fails without.
pub fn shrink(history: &History, fails: impl Fn(&History) -> bool) -> History {
    let mut shortest = history.clone();
    loop {
        let before = shortest.clone();
        without_steps(&mut shortest, &fails);
        without_ops(&mut shortest, &fails);
        with_less_time(&mut shortest, &fails);
        if shortest == before {
            return shortest;
        }
    }
}

/// Leaves out runs of steps, long ones first.
fn without_steps(history: &mut History, fails: &impl Fn(&History) -> bool) {
    let mut run = history.steps.len();
    while run > 0 {
        let mut at = 0;
        while at < history.steps.len() {
            let mut shorter = history.clone();
            let end = (at + run).min(shorter.steps.len());
            shorter.steps.drain(at..end);
            match fails(&shorter) {
                true => *history = shorter,
                false => at += run,
            }
        }
        run /= 2;
    }
}

fn without_ops(history: &mut History, fails: &impl Fn(&History) -> bool) {
    for at in 0..history.steps.len() {
        let mut op = 0;
        while let Step::Do(_, ops) = &history.steps[at]
            && op < ops.len()
        {
            let mut shorter = history.clone();
            if let Step::Do(_, ops) = &mut shorter.steps[at] {
                ops.remove(op);
            }
            match fails(&shorter) {
                true => *history = shorter,
                false => op += 1,
            }
        }
    }
}

fn with_less_time(history: &mut History, fails: &impl Fn(&History) -> bool) {
    for at in 0..history.steps.len() {
        let mut sooner = history.clone();
        if let Step::Do(time, _) = &mut sooner.steps[at] {
            *time = Time::By(0);
        }
        if fails(&sooner) {
            *history = sooner;
        }
    }
}
