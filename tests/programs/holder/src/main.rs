//! A command that does with locks what its arguments say, and prints what comes
//! of it in lines that a test can read:
//!
//! ```text
//! instance=1 fence=1862379520001
//! instance=1 released
//! ```
//!
//! It fails (with 1, the only failing code that WASI 0.2 has) if it was refused
//! the key or lost it.

mod lines;
#[path = "../../tasks/src/words.rs"]
mod words;
mod work;

#[allow(missing_docs)] // documented in wit/locks-0.2
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit/locks-0.2", world: "imports" });
}

use std::env;
use std::io;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

const USAGE: &str = "\
hold LOCK KEY [WORK_MS] [MAX_HOLD_MS]  holds the key, works, and releases it
hold-and-spin LOCK KEY MAX_HOLD_MS     holds the key and never yields
hold-and-trap LOCK KEY                 holds the key and traps
keep LOCK KEY                          holds the key and returns, as if it forgot
wait LOCK KEY WAIT_MS                  waits so long for the key, and releases it
spin                                   never returns
flood                                  writes to its standard output for ever
trap                                   traps
exit CODE                              0 is success, all else is failure
write FILE TEXT                        writes a file
show FILE                              prints a file
echo                                   prints a line of its standard input
sleep MS                               sleeps
args ...                               prints its arguments, its own name first
env                                    prints its environment, sorted
lines                                  does what the lines of its standard input say
by-number DO / DO / ...                does what stands in its instance's place";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match *arguments {
        ["hold", lock, key] => work::hold(lock, key, 0, None),
        ["hold", lock, key, work] => work::hold(lock, key, number(work)?, None),
        ["hold", lock, key, work, most] => {
            work::hold(lock, key, number(work)?, Some(number(most)?))
        }
        ["hold-and-spin", lock, key, most] => {
            work::hold_and(lock, key, Some(number(most)?), || spin())
        }
        ["hold-and-trap", lock, key] => work::hold_and(lock, key, None, || trap()),
        ["keep", lock, key] => work::keep(lock, key),
        ["wait", lock, key, wait] => work::wait(lock, key, number(wait)?),
        ["spin"] => {
            work::say("spinning".into());
            spin()
        }
        ["flood"] => loop {
            println!("a line of sixty-four bytes, which fill a pipe when read by nobody")
        },
        ["trap"] => trap(),
        ["exit", "0"] => Ok(()),
        ["exit", _] => Err("failing, as asked".into()),
        ["write", file, text] => {
            std::fs::write(file, text).map_err(|why| format!("writing {file}: {why}"))
        }
        ["show", file] => {
            let text = std::fs::read_to_string(file);
            text.map(|text| print!("{text}"))
                .map_err(|why| format!("reading {file}: {why}"))
        }
        ["echo"] => {
            work::say("reading".into());
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            read.map(|_| print!("{line}"))
                .map_err(|why| format!("reading a line: {why}"))
        }
        ["sleep", time] => {
            work::say("sleeping".into());
            thread::sleep(Duration::from_millis(number(time)?.into()));
            Ok(())
        }
        ["args", ..] => {
            env::args().for_each(|argument| println!("{argument}"));
            Ok(())
        }
        ["env"] => {
            print_environment();
            Ok(())
        }
        ["lines"] => lines::follow(),
        ["by-number", ref all @ ..] => {
            let mut each = all.split(|&argument| argument == "/");
            let number = work::instance().parse().unwrap_or(0);
            run(each.nth(number).unwrap_or(&[]))
        }
        _ => Err(USAGE.into()),
    }
}

fn number(argument: &str) -> Result<u32, String> {
    let why = |why| format!("{argument} is not a number of milliseconds: {why}");
    argument.parse().map_err(why)
}

fn print_environment() {
    let mut variables: Vec<_> = env::vars().collect();
    variables.sort();
    for (name, value) in variables {
        println!("{name}={value}");
    }
}

fn spin() -> ! {
    loop {
        // A loop that does nothing at all might be taken out.
        core::hint::black_box(());
    }
}

/// A trap as it is, without a panic's message.
fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort();
}
