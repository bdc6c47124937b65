//! The `witlock` command, run as a person would.

mod async_guests;
mod child;
mod errors;
mod exits;
mod guests;
mod instances;
mod signals;
mod spinning;
mod stores;
mod surroundings;
