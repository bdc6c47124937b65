//! The `witlock` command, run as a person would.

mod async_guests;
mod child;
mod errors;
mod exits;
mod guardian;
mod guests;
mod hold;
mod instances;
mod ls;
mod served;
mod signals;
mod spinning;
mod stores;
mod surroundings;
