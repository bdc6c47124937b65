//! The engine's component, but it traps when the key [`TRAP`] is asked for: what
//! a host does about an engine that fails can be tested with it.

#[path = "../../../../guest/components/engine/src/commands.rs"]
mod commands;
#[path = "../../../../guest/components/engine/src/events.rs"]
mod events;

use std::cell::RefCell;

use witlock_engine::{Engine, Seed};

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

/// The key that it traps at.
pub const TRAP: &str = "trap";

std::thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::new(Engine::new(Seed::default()));
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Component;

impl wit::Guest for Component {
    fn start(seed: wit::Seed) {
        let wit::Seed { low, high } = seed;
        ENGINE.set(Engine::new(Seed { low, high }));
    }

    fn step(now: u64, commands: Vec<wit::Command>) -> wit::Outcome {
        trap_if_asked_for(&commands);
        let commands = commands.into_iter().map(commands::from_wit).collect();
        let outcome = ENGINE.with_borrow_mut(|engine| engine.step(now, commands));
        wit::Outcome {
            handled: outcome.handled as u32,
            events: outcome.events.into_iter().map(events::to_wit).collect(),
            next_deadline: outcome.next_deadline,
        }
    }
}

fn trap_if_asked_for(commands: &[wit::Command]) {
    let asked =
        |command: &wit::Command| matches!(command, wit::Command::Hold(hold) if hold.key == TRAP);
    assert!(!commands.iter().any(asked), "the engine traps, as asked");
}

#[cfg(target_family = "wasm")]
bindings::export!(Component with_types_in bindings);
