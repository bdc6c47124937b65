//! Where a store is reached that another process serves, and with which token.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use witlock::{ConnectError, Connector, Store};
use witlock_session::wire::TOKEN_BYTES;

use crate::codes::{self, Failure};

/// The socket in a store's directory on which its server listens too.
pub const SOCKET: &str = "witlock.sock";

const CONNECT: &str = "WITLOCK_CONNECT";
const TOKEN: &str = "WITLOCK_TOKEN";
const TOKEN_FILE: &str = "WITLOCK_TOKEN_FILE";
const ADMIN_TOKEN: &str = "WITLOCK_ADMIN_TOKEN";
const TLS_ROOTS: &str = "WITLOCK_TLS_ROOTS";

/// Who serves the store. One of them, or WITLOCK_CONNECT in the environment.
#[derive(Debug, Args)]
pub struct Reach {
    /// Reach the store at unix:PATH, tcp:HOST:PORT or tls:HOST:PORT
    #[arg(long, value_name = "ADDR", conflicts_with = "store")]
    connect: Option<String>,

    /// Reach the store by its directory, as DIR/witlock.sock
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

/// The same for an operator.
#[derive(Debug, Args)]
pub struct OperatorReach {
    #[command(flatten)]
    reach: Reach,

    /// Over TCP: the file with the admin token, which the server asks of operators
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
}

impl Reach {
    /// Connects as a plain client.
    pub fn connect(&self) -> Result<Store> {
        self.connect_with(token()?)
    }

    fn connect_with(&self, token: Option<String>) -> Result<Store> {
        connect(&self.address()?, token)
    }

    fn address(&self) -> Result<String> {
        if let Some(directory) = &self.store {
            let socket = directory.join(SOCKET);
            let socket = socket.to_str().map(|socket| format!("unix:{socket}"));
            return socket.with_context(|| format!("{} is not UTF-8", directory.display()));
        }
        let given = self.connect.clone().or(variable(CONNECT)?);
        given.ok_or_else(|| {
            let told = "say where the store is served: --store DIR, --connect ADDR, or";
            usage(anyhow!("{told} {CONNECT} in the environment"))
        })
    }
}

impl OperatorReach {
    /// Connects as an operator: by the admin token if there is one. Over a Unix
    /// socket none is needed.
    pub fn connect(&self) -> Result<Store> {
        let admin = match &self.admin_token_file {
            Some(file) => Some(read(file)?),
            None => token_in(ADMIN_TOKEN)?,
        };
        let token = admin.map_or_else(token, |admin| Ok(Some(admin)))?;
        self.reach.connect_with(token)
    }
}

/// Connects to a server.
pub fn connect(address: &str, token: Option<String>) -> Result<Store> {
    let mut connector = Connector::new(address).name(client());
    if let Some(token) = token {
        connector = connector.token(token);
    }
    if address.starts_with("tls:") {
        connector = connector.tls_roots(tls_roots()?);
    }
    let connected = connector.connect();
    connected.map_err(|error| explained(address, error))
}

/// Who may vouch for a server.
fn tls_roots() -> Result<Vec<u8>> {
    let file = variable(TLS_ROOTS)?.ok_or_else(|| {
        usage(anyhow!(
            "a server at tls: has to be vouched for: name the file with the certificates for that \
             in {TLS_ROOTS}"
        ))
    })?;
    fs::read(&file)
        .with_context(|| format!("the file {file} of {TLS_ROOTS} cannot be read"))
        .map_err(usage)
}

fn explained(address: &str, error: ConnectError) -> anyhow::Error {
    let code = codes::of_connect_error(&error);
    match &error {
        ConnectError::Unreachable { source, .. } if is_nobody(source) => {
            let told = "nobody serves a store at";
            let serve = serving(address);
            let told = anyhow!("{told} {address} ({source}): run `{serve}`");
            Failure::new(code, told).into()
        }
        _ => Failure::new(code, error).into(),
    }
}

/// The command that serves a store at an address.
fn serving(address: &str) -> String {
    let path = address.strip_prefix("unix:");
    let directory = path.and_then(|path| path.strip_suffix(SOCKET)?.strip_suffix('/'));
    match directory {
        Some(directory) => format!("witlock serve --store {directory}"),
        None => format!("witlock serve --store DIR --listen {address}"),
    }
}

/// The token of a client, if the environment has one. Never an argument, which
/// every user of the machine can read.
pub fn token() -> Result<Option<String>> {
    match token_in(TOKEN)? {
        Some(token) => Ok(Some(token)),
        None => variable(TOKEN_FILE)?
            .map(|file| read(Path::new(&file)))
            .transpose(),
    }
}

/// The token in a file.
pub fn read(file: &Path) -> Result<String> {
    let token = fs::read_to_string(file)
        .with_context(|| format!("the token file {} cannot be read", file.display()))
        .map_err(usage)?;
    checked(token.trim_end_matches(['\r', '\n']), file.display())
}

/// The token in a variable of the environment.
fn token_in(name: &str) -> Result<Option<String>> {
    let token = variable(name)?;
    token.map(|token| checked(&token, name)).transpose()
}

/// A token that may be one.
fn checked(token: &str, place: impl Display) -> Result<String> {
    match token.len() {
        1..=TOKEN_BYTES => Ok(token.to_owned()),
        bytes => bail!(usage(anyhow!(
            "the token in {place} has {bytes} bytes, not 1 to {TOKEN_BYTES}"
        ))),
    }
}

/// A variable of the environment; one that is empty is none.
fn variable(name: &str) -> Result<Option<String>> {
    match env::var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => bail!(usage(anyhow!("{name} is not UTF-8"))),
    }
}

fn usage(why: anyhow::Error) -> anyhow::Error {
    Failure::new(codes::USAGE, why).into()
}

/// Whether nobody listens, be it that nobody ever did.
fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// What an operator sees of this process: which one it is, and where.
fn client() -> String {
    let process = std::process::id();
    // Elsewhere than on Linux, the process has to do.
    match fs::read_to_string("/proc/sys/kernel/hostname") {
        Ok(host) => format!("{}, process {process}", host.trim_end()),
        Err(_) => format!("process {process}"),
    }
}
