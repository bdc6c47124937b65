//! `engine.wasm`: [`witlock_engine`] behind `witlock:engine/engine`. Nothing is
//! decided here; this turns the one's types into the other's.

mod commands;
mod events;

use std::cell::RefCell;

use witlock_engine::{Engine, Seed};

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wit_bindgen::generate!({ path: "../../../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

std::thread_local! {
    /// The one engine. A component without imports is never entered while a
    /// call is under way, so it is never borrowed twice.
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Component;

impl wit::Guest for Component {
    fn start(seed: wit::Seed) {
        let seed = Seed {
            low: seed.low,
            high: seed.high,
        };
        ENGINE.set(Some(Engine::new(seed)));
    }

    fn step(now: u64, commands: Vec<wit::Command>) -> wit::Outcome {
        let commands = commands.into_iter().map(commands::from_wit).collect();
        let unseeded = || Engine::new(Seed::default());
        let outcome = ENGINE
            .with_borrow_mut(|engine| engine.get_or_insert_with(unseeded).step(now, commands));
        wit::Outcome {
            // At most 1 024.
            handled: outcome.handled as u32,
            events: outcome.events.into_iter().map(events::to_wit).collect(),
            next_deadline: outcome.next_deadline,
        }
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Component with_types_in bindings);
