//! The `witlock` command, run as a person would.

mod child;
mod errors;
mod exits;
mod guests;
