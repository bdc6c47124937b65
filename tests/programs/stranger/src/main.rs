//! A command that no host can run, since it imports what none has.

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({ world: "stranger" });
}

fn main() {
    bindings::witlock::nowhere::nothing::nothing();
}
