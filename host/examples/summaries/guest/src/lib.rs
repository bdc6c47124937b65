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
use bindings::example::summaries::shelf;
use bindings::witlock::locks::locks::{Lock, Options};

/// The component.
struct Writer;

impl Guest for Writer {
    fn write(chat: String, summary: String, milliseconds: u32) -> Result<(), String> {
        let options = Options {
            // A writer that hangs doesn't keep the others from its chat for ever.
            max_hold: Some(500),
            ..no_options()
        };
        let lock = Lock::open("summaries", &options).map_err(|why| why.to_string())?;
        // Dropped at the end, whatever happens: that releases the chat.
        let lease = lock.hold(&chat, None).map_err(|why| why.to_string())?;
        ask_a_model(milliseconds);
        // The lease may be over by now, and no look at it could rule that out: it
        // may end right after the look. So its fence goes along, and the shelf
        // refuses what is late.
        shelf::save(&chat, &summary, lease.fence()).map_err(|why| why.to_string())
    }
}

/// What takes long.
fn ask_a_model(milliseconds: u32) {
    thread::sleep(Duration::from_millis(milliseconds.into()));
}

fn no_options() -> Options {
    Options {
        ttl: None,
        wait: None,
        max_hold: None,
        label: None,
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Writer with_types_in bindings);
