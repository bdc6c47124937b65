//! What a person reads when it cannot be.

use witlock_programs::{PUPPET, STRANGER};

use crate::child::{Ended, witlock};
use crate::guests::{Place, assemble, command, exporting, importing};

fn run(app: &str) -> Ended {
    witlock(["run", app]).end()
}

/// Runs a file with these bytes.
fn run_bytes(bytes: &[u8]) -> Ended {
    let place = Place::new();
    run(&place.file("app.wasm", bytes))
}

#[test]
fn a_missing_file_is_named() {
    let place = Place::new();
    let app = place.text("nothing.wasm");
    run(&app).expect_error(1, &[&app, "there is no such file"]);
}

#[test]
fn a_directory_is_not_a_component() {
    let place = Place::new();
    run(&place.text("")).expect_error(1, &["this is a directory"]);
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    run_bytes(b"").expect_error(1, &["app.wasm", "the file is empty"]);
}

#[test]
fn of_a_core_module_it_is_told_how_to_make_a_component() {
    let module = assemble("(module)");
    run_bytes(&module).expect_error(
        1,
        &[
            "core module",
            "--target wasm32-wasip2",
            "wasm-tools component new",
        ],
    );
}

#[test]
fn of_text_it_is_told_how_to_make_a_component() {
    run_bytes(b"(component)").expect_error(1, &["this is text", "wasm-tools parse"]);
}

#[test]
fn other_files_are_not_webassembly() {
    run_bytes(b"\x7fELF\xff\xfe").expect_error(1, &["this is not WebAssembly"]);
}

/// At most so many sections has a component of `guests::command`.
const SECTIONS: usize = 10;

#[test]
fn a_truncated_file_is_known_wherever_it_was_cut() {
    let whole = assemble(&command("i32.const 0"));
    let place = Place::new();
    let cut_short = (1..whole.len()).filter(|&length| {
        let ended = run(&place.file("cut.wasm", &whole[..length]));
        ended.err().contains("cut.wasm: the file was cut short")
    });
    // A cut between two sections leaves a component, though not the same one.
    let between = whole.len() - 1 - cut_short.count();
    assert!(
        between <= SECTIONS,
        "{between} cuts of {} weren't told",
        whole.len()
    );
}

#[test]
fn a_damaged_file_is_not_a_valid_component() {
    let mut damaged = assemble(&command("i32.const 0"));
    damaged[8] = 0x7f;
    run_bytes(&damaged).expect_error(1, &["not a valid component"]);
}

#[test]
fn a_component_that_the_compiler_refuses_is_not_valid() {
    // `run` promises an i32 and gives nothing.
    let mut refused = assemble(&command("i32.const 0"));
    let at = refused
        .windows(3)
        .position(|bytes| bytes == [0x41, 0, 0x0b]);
    let at = at.expect("the body of `run`");
    refused[at..at + 2].copy_from_slice(&[0x01, 0x01]);
    run_bytes(&refused).expect_error(1, &["app.wasm", "not a valid component"]);
}

#[test]
fn a_component_without_run_is_not_a_command() {
    let place = Place::new();
    run(&place.component("(component)")).expect_error(1, &["not a command", "wasi:cli/run@0.2"]);
    let other = exporting("wasi:http/incoming-handler@0.2.0");
    run(&place.component(&other)).expect_error(
        1,
        &["not a command", "only wasi:http/incoming-handler@0.2.0"],
    );
    run(PUPPET).expect_error(1, &["puppet.wasm: it is not a command", "witlock:puppet/"]);
}

#[test]
fn locks_of_wasi_0_3_want_a_run_of_wasi_0_3() {
    let place = Place::new();
    let text = importing("witlock:locks/locks@0.3.0");
    // Async functions are what the compiler would refuse first.
    let app = place.component(&text.replace("(func))))", "(func async))))"));
    run(&app).expect_error(
        1,
        &[
            "witlock:locks/locks@0.3.0, whose functions are async",
            "export wasi:cli/run@0.3",
            "@0.2.0",
        ],
    );
}

#[test]
fn a_run_of_wasi_0_3_has_to_be_one() {
    let place = Place::new();
    let app = place.component(&exporting("wasi:cli/run@0.3.0"));
    run(&app).expect_error(1, &["app.wasm", "wasi:cli/run"]);
}

#[test]
fn imports_that_we_do_not_have_are_named() {
    let place = Place::new();
    for name in [
        "wasi:http/types@0.2.0",
        "acme:shop/orders@1.0.0",
        "plain",
        "wasi:cli/run@1.0.0",
        "wasi:io/poll@0.3.0",
    ] {
        run(&place.component(&importing(name))).expect_error(1, &[name, "does not have"]);
    }
}

#[test]
fn a_built_component_is_told_the_same() {
    let named = "witlock:nowhere/nothing@0.1.0";
    run(STRANGER).expect_error(1, &["stranger.wasm: it imports", named, "does not have"]);
}

#[test]
fn imports_that_an_offered_package_lacks_are_named() {
    let place = Place::new();
    for name in ["wasi:clocks/timezone@0.2.0", "witlock:locks/queues@0.2.0"] {
        run(&place.component(&importing(name))).expect_error(1, &[name, "app.wasm"]);
    }
}

#[test]
fn a_function_of_ours_with_another_type_is_named() {
    let place = Place::new();
    let text = command("i32.const 0").replacen(
        "(component",
        r#"(component (import "wasi:cli/environment@0.2.0" (instance
            (export "get-arguments" (func (result u32)))))"#,
        1,
    );
    run(&place.component(&text)).expect_error(1, &["get-arguments", "wasi:cli/environment@0.2.0"]);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    let missing = place.text("missing");
    let ended = witlock(["run", &app, "--dir", &format!("{missing}::/data")]).end();
    ended.expect_error(2, &["--dir", &format!("there is no directory {missing}")]);
    let ended = witlock(["run", &app, "--dir", &app]).end();
    ended.expect_error(2, &["--dir", "is not a directory"]);
    let ended = witlock(["run", &app, "--dir", "::/data"]).end();
    ended.expect_error(2, &["--dir", "HOST::GUEST"]);
}

#[test]
fn malformed_variables_are_refused() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    for (given, said) in [
        ("LEVEL", "it has no `=`"),
        ("=debug", "it has no name"),
        ("WITLOCK_INSTANCE=7", "is set by witlock"),
    ] {
        let ended = witlock(["run", &app, "--env", given]).end();
        ended.expect_error(2, &["--env", given, said]);
    }
}

// LOCK-12
#[test]
fn too_few_and_too_many_instances_are_refused() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    for given in ["0", "10001", "-1", "many"] {
        let ended = witlock(["run", &app, &format!("--instances={given}")]).end();
        ended.expect_error(2, &["--instances", given]);
    }
}

#[test]
fn a_store_that_cannot_be_a_directory_is_named() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    let ended = witlock(["run", &app, "--store", &app]).end();
    ended.expect_error(1, &[&app, "cannot be opened"]);
}

#[test]
fn help_teaches() {
    let help = witlock(["run", "--help"]).end();
    help.expect_code(0);
    for part in [
        "Examples:",
        "witlock run app.wasm --store",
        "Exit codes:",
        "134",
        "WITLOCK_INSTANCE",
    ] {
        assert!(
            help.out().contains(part),
            "{part:?} is not in: {}",
            help.out()
        );
    }
    witlock(["--help"]).end().expect_code(0);
    witlock(["--version"]).end().expect_code(0);
}
