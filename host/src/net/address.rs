//! Where a store is served.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Bytes of the path of a Unix socket: unix(7) has room for one more.
#[cfg(unix)]
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// `unix:PATH`
    Unix(PathBuf),
    /// `tcp:HOST:PORT`
    Tcp(String),
    /// `tls:HOST:PORT`
    Tls(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) => unix(path),
            Some(("tcp", host)) => with_port(host).map(Address::Tcp),
            Some(("tls", host)) => with_port(host).map(Address::Tls),
            _ => Err("write unix:PATH, tcp:HOST:PORT or tls:HOST:PORT".into()),
        }
    }
}

#[cfg(unix)]
fn unix(path: &str) -> Result<Address, String> {
    match path.len() {
        0 => Err("it has no path".into()),
        1..=SOCKET_PATH_BYTES => Ok(Address::Unix(path.into())),
        bytes => Err(format!(
            "the path of a Unix socket has at most {SOCKET_PATH_BYTES} bytes, this one {bytes}: \
             choose a shorter one, such as a relative path"
        )),
    }
}

#[cfg(not(unix))]
fn unix(_: &str) -> Result<Address, String> {
    Err("this system has no Unix sockets".into())
}

fn with_port(host: &str) -> Result<String, String> {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.parse::<u16>().is_ok() => Ok(host.into()),
        _ => Err("write HOST:PORT, an IPv6 address in brackets".into()),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(host) => write!(f, "tcp:{host}"),
            Address::Tls(host) => write!(f, "tls:{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-12
    #[test]
    fn an_address_is_what_it_says() {
        for text in [
            "unix:/run/w.sock",
            "tcp:127.0.0.1:7411",
            "tcp:[::1]:0",
            "tls:lock.example:7411",
        ] {
            assert_eq!(
                text.parse::<Address>().map(|a| a.to_string()),
                Ok(text.into())
            );
        }
        for text in [
            "",
            "unix:",
            "/run/w.sock",
            "tcp:",
            "tcp::7411",
            "tcp:host",
            "tls:host:70000",
            "udp:h:1",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        let longest = format!("unix:/{}", "p".repeat(SOCKET_PATH_BYTES - 1));
        assert!(longest.parse::<Address>().is_ok());
        let error = format!("{longest}p")
            .parse::<Address>()
            .map_err(|why| why.contains("at most 10"));
        assert_eq!(error, Err(true));
    }
}
