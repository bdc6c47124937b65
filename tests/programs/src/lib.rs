//! Guest programs for tests and examples, built from source: where each one's
//! component is.

/// `engine.wasm`: the engine as the host drives it.
pub const ENGINE: &str = concat!(env!("OUT_DIR"), "/engine.wasm");

/// The same, but it traps when the key `trap` is asked for.
pub const TRAPPING_ENGINE: &str = concat!(env!("OUT_DIR"), "/trapping-engine.wasm");

/// A library that does with locks what its host calls it to do, call by call:
/// the world `witlock:puppet/puppet`.
pub const PUPPET: &str = concat!(env!("OUT_DIR"), "/puppet.wasm");

/// A command that does with locks what its arguments say; without any it prints
/// what they may be.
pub const HOLDER: &str = concat!(env!("OUT_DIR"), "/holder.wasm");

/// A command that no host can run, since it imports `witlock:nowhere/nothing`.
pub const STRANGER: &str = concat!(env!("OUT_DIR"), "/stranger.wasm");

/// The guest of the example `summaries`.
pub const SUMMARIES: &str = concat!(env!("OUT_DIR"), "/summaries.wasm");

/// `locks.wasm`: the engine for composition with apps.
pub const LOCKS: &str = concat!(env!("OUT_DIR"), "/locks.wasm");

/// `locks-0.2.wasm`: the same for hosts that know only WASI 0.2.
pub const LOCKS_0_2: &str = concat!(env!("OUT_DIR"), "/locks-0.2.wasm");

/// `client.wasm`: a server for composition with apps.
pub const CLIENT: &str = concat!(env!("OUT_DIR"), "/client.wasm");

/// A command of WASI 0.3 that does with locks what the lines of its stdin say.
pub const TASKS: &str = concat!(env!("OUT_DIR"), "/tasks.wasm");

/// The same, composed with `locks.wasm`.
pub const TASKS_WITH_LOCKS: &str = concat!(env!("OUT_DIR"), "/tasks-with-locks.wasm");

/// The same, but the clock goes on when a line says so: it is imported.
pub const TASKS_WITH_LOCKS_IN_TIME: &str =
    concat!(env!("OUT_DIR"), "/tasks-with-locks-in-time.wasm");

/// The same, with a component that is such a clock.
pub const TASKS_WITH_LOCKS_AND_CLOCK: &str =
    concat!(env!("OUT_DIR"), "/tasks-with-locks-and-clock.wasm");

/// [`HOLDER`] composed with `locks.wasm`.
pub const HOLDER_WITH_LOCKS: &str = concat!(env!("OUT_DIR"), "/holder-with-locks.wasm");

/// [`HOLDER`] composed with `locks-0.2.wasm`.
pub const HOLDER_WITH_LOCKS_0_2: &str = concat!(env!("OUT_DIR"), "/holder-with-locks-0.2.wasm");

/// [`HOLDER`] composed with `client.wasm`.
pub const HOLDER_WITH_CLIENT: &str = concat!(env!("OUT_DIR"), "/holder-with-client.wasm");
