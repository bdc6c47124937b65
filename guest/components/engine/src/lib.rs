//! `engine.wasm`: [`witlock_engine`] behind `witlock:engine/engine`. Nothing is
//! decided here; this turns the one's types into the other's.

mod answers;
mod commands;
mod events;
mod machine;

use std::cell::RefCell;

use machine::Machine;

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

std::thread_local! {
    /// A component without imports is never entered while a call is under way,
    /// so this is never borrowed twice.
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

#[cfg(target_family = "wasm")]
bindings::export!(Component with_types_in bindings);
