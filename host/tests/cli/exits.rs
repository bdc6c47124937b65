//! Exit codes, and what is said of a trap.

use crate::child::{Ended, witlock};
use crate::guests::{Place, command, exit_with_code};

fn run(text: &str) -> Ended {
    let place = Place::new();
    witlock(["run", &place.component(text)]).end()
}

#[test]
fn a_run_that_answers_ok_is_0() {
    run(&command("i32.const 0")).expect_code(0);
}

#[test]
fn a_run_that_answers_an_error_is_1() {
    run(&command("i32.const 1")).expect_code(1);
}

#[test]
fn the_code_of_exit_with_code_is_given_on() {
    for code in [0, 1, 7, 255] {
        run(&exit_with_code(code)).expect_code(code.into());
    }
}

#[test]
fn a_trap_is_134_and_says_why_and_where() {
    run(&command("unreachable")).expect_error(
        134,
        &[
            "witlock: the guest trapped: ",
            "`unreachable`",
            "wasm backtrace",
            "!run",
        ],
    );
}

#[test]
fn endless_recursion_is_a_trap() {
    run(&command("call 0")).expect_error(134, &["stack"]);
}

#[test]
fn the_trap_of_an_instance_is_told_with_its_number() {
    let place = Place::new();
    let app = place.component(&command("unreachable"));
    let ended = witlock(["run", &app, "--instances", "3"]).end();
    ended.expect_error(
        134,
        &[
            "instance 0 trapped",
            "instance 1 trapped",
            "instance 2 trapped",
        ],
    );
}
