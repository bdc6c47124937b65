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
