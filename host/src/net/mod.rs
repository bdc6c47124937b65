//! A store over connections: [`Server`] lets other processes reach it, and
//! [`Connector`](crate::Connector) reaches it. What they say to each other is
//! `witlock_session`'s; here are the sockets.

mod address;
pub(crate) mod client;
mod seal;
pub(crate) mod server;
mod socket;

pub(crate) use address::Address;
pub(crate) use seal::Seal;
#[cfg(feature = "tls")]
pub(crate) use seal::{client_config, server_config};
pub use server::{Server, ServerBuilder};
pub(crate) use socket::Socket;
