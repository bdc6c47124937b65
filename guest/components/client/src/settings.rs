//! Where the server is, and who the client is: from the environment.

use std::path::PathBuf;
use std::{fmt, fs, io};

use witlock_engine::bounds::LABEL_BYTES;
use witlock_session::wire::TOKEN_BYTES;

/// The variable that says where the store is served: `tcp:HOST:PORT`.
pub const CONNECT: &str = "WITLOCK_CONNECT";

/// The variable with the token that the server asks for.
pub const TOKEN: &str = "WITLOCK_TOKEN";

/// The variable that names a file with the token, in its place.
pub const TOKEN_FILE: &str = "WITLOCK_TOKEN_FILE";

/// The variable with what operators see beside the leases, if not [`NAME`].
pub const CLIENT: &str = "WITLOCK_CLIENT";

/// What operators see beside the leases, unless given.
pub const NAME: &str = "client.wasm";

/// What the environment says.
pub struct Settings {
    /// Where the server is.
    pub address: Address,
    /// What lets the client in; empty if there is none.
    pub token: String,
    /// What operators see beside its leases.
    pub name: String,
}

/// Where a server is: `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// Why no store can be reached with this environment.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each says itself what it is
pub enum Unusable {
    #[error("{CONNECT} is not set; it says where the store is served: tcp:HOST:PORT")]
    NoAddress,
    #[error("{CONNECT} is {0:?}; here a store is reached at tcp:HOST:PORT only")]
    Address(String),
    #[error("the token file {file:?}, which {TOKEN_FILE} names, cannot be read: {source}")]
    TokenFile { file: PathBuf, source: io::Error },
    #[error("a token has at most {TOKEN_BYTES} bytes, this one {0}")]
    TokenLength(usize),
    #[error("a client's name has at most {LABEL_BYTES} bytes, that in {CLIENT} {0}")]
    NameLength(usize),
    #[error("a client's name has no control characters, that in {CLIENT} has {0:?}")]
    NameControl(char),
    #[error("no random number could be had for the session's id: {0}")]
    Random(getrandom::Error),
}

impl Settings {
    /// Reads the variables of an environment, of which an empty one is none.
    ///
    /// # Errors
    ///
    /// The first that is of no use.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Unusable> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let address = variable(CONNECT).ok_or(Unusable::NoAddress)?;
        let token = match variable(TOKEN) {
            Some(token) => token,
            None => variable(TOKEN_FILE).map_or(Ok(String::new()), read_token)?,
        };
        if token.len() > TOKEN_BYTES {
            return Err(Unusable::TokenLength(token.len()));
        }
        Ok(Settings {
            address: Address::parse(&address)?,
            token,
            name: checked_name(variable(CLIENT).unwrap_or_else(|| NAME.into()))?,
        })
    }
}

impl Address {
    fn parse(text: &str) -> Result<Self, Unusable> {
        let wrong = || Unusable::Address(text.into());
        let address = text.strip_prefix("tcp:").ok_or_else(wrong)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
        let is_port = port.parse::<u16>().is_ok_and(|port| port != 0);
        // Where a colon is part of the host, brackets say where it ends.
        let is_host = !host.is_empty() && (!host.contains(':') || is_bracketed(host));
        match is_host && is_port {
            true => Ok(Address(address.into())),
            false => Err(wrong()),
        }
    }

    /// `HOST:PORT`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp:{}", self.0)
    }
}

fn is_bracketed(host: &str) -> bool {
    host.starts_with('[') && host.ends_with(']')
}

fn read_token(file: String) -> Result<String, Unusable> {
    let file = PathBuf::from(file);
    match fs::read_to_string(&file) {
        Ok(token) => Ok(token.trim_end_matches(['\r', '\n']).to_owned()),
        Err(source) => Err(Unusable::TokenFile { file, source }),
    }
}

fn checked_name(name: String) -> Result<String, Unusable> {
    if name.len() > LABEL_BYTES {
        return Err(Unusable::NameLength(name.len()));
    }
    match name.chars().find(|c| c.is_control()) {
        Some(found) => Err(Unusable::NameControl(found)),
        None => Ok(name),
    }
}
