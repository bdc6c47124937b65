//! The ticks at which a guest that computes lets others in.

use std::io;
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

/// How long a guest may have a thread to itself.
const TICK: Duration = Duration::from_millis(10);

/// Ticks for as long as the process lasts.
pub fn tick(engine: Engine) -> io::Result<()> {
    let ticker = thread::Builder::new().name("witlock-epochs".to_owned());
    ticker.spawn(move || {
        loop {
            thread::sleep(TICK);
            engine.increment_epoch();
        }
    })?;
    Ok(())
}
