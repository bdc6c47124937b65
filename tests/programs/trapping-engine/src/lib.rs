//! The engine's component, but it traps when the key [`TRAP`] is asked for: what
//! a host does about an engine that fails can be tested with it.

#[path = "../../../../guest/components/engine/src/answers.rs"]
mod answers;
#[path = "../../../../guest/components/engine/src/commands.rs"]
mod commands;
#[path = "../../../../guest/components/engine/src/events.rs"]
mod events;
#[path = "../../../../guest/components/engine/src/machine.rs"]
mod machine;

use std::cell::RefCell;

use machine::Machine;

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

/// The key that it traps at.
pub const TRAP: &str = "trap";

std::thread_local! {
    static MACHINE: RefCell<Machine> = const { RefCell::new(Machine::new()) };
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Component;

impl wit::Guest for Component {
    fn start(seed: wit::Seed) {
        MACHINE.with_borrow_mut(|machine| machine.start(seed));
    }

    fn step(now: u64, commands: Vec<wit::Command>) -> wit::Outcome {
        for command in &commands {
            if let wit::Command::Hold(hold) = command {
                trap_at(&hold.key);
            }
        }
        MACHINE.with_borrow_mut(|machine| machine.step(now, commands))
    }

    fn step_hold(
        now: u64,
        ticket: u64,
        session: u64,
        text: String,
        name_bytes: u32,
        limit: Option<u32>,
        wait: Option<u32>,
        ttl: Option<u32>,
        max_hold: Option<u32>,
        alone: bool,
    ) -> wit::Answer {
        trap_at(text.get(name_bytes as usize..).unwrap_or_default());
        let hold = machine::hold(
            (&text, name_bytes),
            (ticket, session),
            limit,
            wait,
            (ttl, max_hold),
            alone,
        );
        MACHINE.with_borrow_mut(|machine| machine.answer(now, &hold))
    }

    fn step_release(now: u64, lease: wit::LeaseId) -> wit::Answer {
        MACHINE.with_borrow_mut(|machine| machine.release(now, lease))
    }

    fn untold() -> Vec<wit::Event> {
        MACHINE.with_borrow_mut(Machine::untold)
    }
}

fn trap_at(key: &str) {
    assert!(key != TRAP, "the engine traps, as asked");
}

#[cfg(target_family = "wasm")]
bindings::export!(Component with_types_in bindings);
