//! What is between a socket and the messages: TLS, or nothing.

use std::borrow::Cow;
use std::io;
#[cfg(feature = "tls")]
use std::io::{Read, Write};

#[cfg(feature = "tls")]
use rustls::{ClientConfig, Connection, RootCertStore, ServerConfig};
#[cfg(feature = "tls")]
use std::sync::Arc;

/// Turns bytes of a socket into bytes of messages, and back.
pub(crate) enum Seal {
    Plain,
    #[cfg(feature = "tls")]
    Tls(Box<Connection>),
}

impl Seal {
    /// Over TLS. What may wait to be sealed is bounded before it comes here.
    #[cfg(feature = "tls")]
    pub fn tls(connection: impl Into<Connection>) -> Seal {
        let mut connection = connection.into();
        connection.set_buffer_limit(None);
        Seal::Tls(Box::new(connection))
    }

    /// Opens what arrived.
    pub fn open<'a>(&mut self, arrived: &'a [u8]) -> io::Result<Cow<'a, [u8]>> {
        match self {
            Seal::Plain => Ok(arrived.into()),
            #[cfg(feature = "tls")]
            Seal::Tls(tls) => open(tls, arrived).map(Cow::Owned),
        }
    }

    /// Seals what is to be sent, which is taken out, and adds what the seal itself
    /// has to say.
    pub fn seal(&mut self, plain: &mut Vec<u8>, into: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Seal::Plain => into.append(plain),
            #[cfg(feature = "tls")]
            Seal::Tls(tls) => {
                tls.writer().write_all(plain)?;
                plain.clear();
                while tls.wants_write() {
                    tls.write_tls(into)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(feature = "tls")]
fn open(tls: &mut Connection, mut arrived: &[u8]) -> io::Result<Vec<u8>> {
    let mut into = Vec::new();
    while !arrived.is_empty() {
        tls.read_tls(&mut arrived)?;
        let state = tls.process_new_packets();
        let state = state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let before = into.len();
        into.resize(before + state.plaintext_bytes_to_read(), 0);
        tls.reader().read_exact(&mut into[before..])?;
    }
    Ok(into)
}

/// How a server seals: with a certificate chain and its key, both PEM.
#[cfg(feature = "tls")]
pub(crate) fn server_config(chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, String> {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|why| format!("the key: {why}"))?;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(|why| why.to_string())?;
    let config = builder
        .with_no_client_auth()
        .with_single_cert(certificates(chain)?, key);
    config.map(Arc::new).map_err(|why| why.to_string())
}

/// How a client seals: it trusts servers that these PEM certificates vouch for.
#[cfg(feature = "tls")]
pub(crate) fn client_config(roots: &[u8]) -> Result<Arc<ClientConfig>, String> {
    let mut trusted = RootCertStore::empty();
    for root in certificates(roots)? {
        trusted.add(root).map_err(|why| why.to_string())?;
    }
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .map_err(|why| why.to_string())?;
    let config = builder
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Both sides are ours: there is no older one to talk to.
#[cfg(feature = "tls")]
const VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13];

#[cfg(feature = "tls")]
fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(feature = "tls")]
fn certificates(pem: &[u8]) -> Result<Vec<rustls::pki_types::CertificateDer<'static>>, String> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err("there is no certificate in it".into()),
        Ok(found) => Ok(found),
        Err(why) => Err(format!("the certificates: {why}")),
    }
}
