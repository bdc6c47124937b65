//! A command of WASI 0.3 that does with locks what the lines of its stdin say,
//! and answers each by a line. Whatever waits goes on while it does the next.
//!
//! | line | answer |
//! | --- | --- |
//! | `open NAME LIMIT TTL WAIT MAX-HOLD LABEL` | `opened` |
//! | `ask LOCK KEY WAIT` | `asked` |
//! | `answer ASK` | `waiting` or `held FENCE` |
//! | `cancel ASK` | `cancelled` |
//! | `release ASK` | `released` |
//! | `release-and-cancel ASK ASK` | `released`: the second before it learns of its grant |
//! | `ended ASK` | `lasts`, or how it ended |
//! | `watch ASK` | `watching`: waits for the end from now on |
//! | `watched ASK` | `lasts`, or what the wait for the end told |
//! | `stand-still LOCK KEY WAIT` | `held FENCE`: by `@0.2.0`, let go at once |
//! | `try-standing LOCK KEY` | `held FENCE` or `none`: by `@0.2.0`, let go at once |
//! | `race LOCK KEY MS` | `held` or `timer`, whichever is first; the other is dropped |
//! | `poll LOCK KEY TIMES` | `held` or `waiting`, after which it is dropped |
//! | `often LOCK KEY TIMES` | `took NS`: holds and releases a free key |
//! | `often-standing LOCK KEY TIMES` | the same by `@0.2.0` |
//! | `fences LOCK KEY` | `fence FENCE`, again and again: holds and releases a free key |
//! | `crowd LOCK KEY TASKS` | `in order, took NS`: each holds the key once |
//! | `advance MS` | `advanced` |
//! | `sleep MS` | `slept`: as `advance`, but nobody is woken for it |
//! | `settle` | `settled` |
//! | `spin` | `spinning`, and nothing after it |
//! | `spin-until-ended ASK` | how it ended; no other task has a turn until then |
//! | `trap` | none |
//!
//! Locks and asks are numbers, from 0 on in the order in which they came. Texts
//! are hexadecimal; `-` is none. What was refused is answered by `refused` and
//! why. The program returns as its stdin ends.

mod acts;
mod asks;
mod crowd;
mod input;
mod opened;
mod words;

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    #[cfg(not(feature = "time"))]
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "../../../wit/locks-0.3", "wit"],
        world: "witlock:tasks/tasks",
        generate_all,
    });
    #[cfg(feature = "time")]
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "../../../wit/locks-0.3", "wit"],
        world: "witlock:tasks/tasks-in-time",
        generate_all,
    });
}

use std::io::Write;

use acts::Player;
use input::Lines;

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Tasks;

impl bindings::exports::wasi::cli::run::Guest for Tasks {
    async fn run() -> Result<(), ()> {
        let mut player = Player::default();
        let mut lines = Lines::of_stdin();
        while let Some(line) = player.meanwhile(lines.next()).await {
            let answer = player.act(&line).await;
            let mut stdout = std::io::stdout();
            let said = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
            said.map_err(drop)?;
        }
        Ok(())
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Tasks with_types_in bindings);
