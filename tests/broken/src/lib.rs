//! The engine's component, broken on purpose in one of several ways: what checks
//! the engine has to find them.
//!
//! The build script takes the engine's sources and changes a few lines. Which of
//! the changes is at work, the upper half of the seed's `high` tells; with 0 none
//! is.

/// The component.
pub const BROKEN_ENGINE: &str = concat!(env!("OUT_DIR"), "/broken-engine.wasm");
