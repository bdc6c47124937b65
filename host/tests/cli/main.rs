//! The `witlock` command, run as a person would.

mod async_guests;
mod child;
mod connected;
mod errors;
mod exits;
mod guardian;
mod guests;
mod held_signals;
mod hold;
mod instances;
mod losses;
mod ls;
mod served;
mod serving;
mod signals;
mod spinning;
mod stopping;
mod stores;
mod surroundings;
mod tokens;
