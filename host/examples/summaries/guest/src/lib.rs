//! Writes the summary of a chat. However many instances of it run, one at a time
//! works on a chat.
// Checked natively too, where nothing is exported.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

use std::thread;
use std::time::Duration;

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: ["../../../../wit/locks-0.2", "../wit"],
        world: "example:summaries/writer",
        generate_all,
    });
}

use bindings::Guest;
use bindings::example::summaries::shelf::{self, SaveError};
use bindings::witlock::locks::locks::{Lock, Options};

/// A writer that hangs keeps the others from its chat for so long at most.
const MAX_HOLD_MS: u32 = 500;

/// The component.
struct Writer;

impl Guest for Writer {
    fn write(chat: String, summary: String, milliseconds: u32) -> Result<u64, String> {
        let lock = Lock::open("summaries", &options()).map_err(|why| why.to_string())?;
        // Dropping the lease releases the chat, whichever way this returns.
        let lease = lock.hold(&chat, None).map_err(|why| why.to_string())?;
        ask_a_model(milliseconds);
        // The lease may be over by now. To look whether it is would not help: it
        // might end right after the look. So its fence goes along, and the shelf
        // refuses who is late.
        let fence = lease.fence();
        match shelf::save(&chat, &summary, fence) {
            Ok(()) => Ok(fence),
            Err(SaveError::Late(kept)) => Err(format!("{fence} is late, {kept} has written")),
            Err(SaveError::Failed(why)) => Err(why),
        }
    }
}

fn options() -> Options {
    Options {
        ttl: None,
        wait: None,
        max_hold: Some(MAX_HOLD_MS),
        label: None,
    }
}

/// Stands for what takes long.
fn ask_a_model(milliseconds: u32) {
    thread::sleep(Duration::from_millis(milliseconds.into()));
}

#[cfg(target_family = "wasm")]
bindings::export!(Writer with_types_in bindings);
