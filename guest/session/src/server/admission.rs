//! Who is let in.

use alloc::string::String;
use alloc::vec::Vec;

use subtle::ConstantTimeEq;
use witlock_engine::bounds::LABEL_BYTES;

use crate::wire::goodbye::Reason;
use crate::wire::{Hello, TOKEN_BYTES, VERSION};

/// How far whoever connects is trusted before it says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The system vouches for it: the same user, by a Unix socket.
    SameUser,
    /// Nobody does: it has to know a token.
    Nobody,
}

/// The tokens that let clients in. Never shown.
#[derive(Default)]
pub struct Admission {
    /// Lets a client in.
    pub token: Option<Vec<u8>>,
    /// Lets an operator in.
    pub operator_token: Option<Vec<u8>>,
}

impl core::fmt::Debug for Admission {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Admission")
    }
}

/// Why a hello was refused.
pub(super) struct Denied(pub Reason, pub String);

impl Admission {
    /// Whether a client is let in; whether as an operator.
    pub(super) fn admit(&self, trust: Trust, hello: &Hello) -> Result<bool, Denied> {
        check(hello)?;
        let is_operator = is(self.operator_token.as_deref(), &hello.token);
        let is_client = is(self.token.as_deref(), &hello.token);
        match trust {
            Trust::SameUser => Ok(true),
            Trust::Nobody if is_operator || is_client => Ok(is_operator),
            Trust::Nobody if hello.token.is_empty() => {
                Err(Denied(Reason::Token, "a token is needed here".into()))
            }
            Trust::Nobody => Err(Denied(Reason::Token, "the token is wrong".into())),
        }
    }
}

fn check(hello: &Hello) -> Result<(), Denied> {
    if hello.version != VERSION {
        let text = alloc::format!(
            "this server speaks version {VERSION} of the protocol, not {}",
            hello.version
        );
        return Err(Denied(Reason::Version, text));
    }
    let malformed = |text| Err(Denied(Reason::Malformed, text));
    let name = &hello.client;
    if name.len() > LABEL_BYTES {
        let length = name.len();
        let text =
            alloc::format!("a client's name has at most {LABEL_BYTES} bytes, this one {length}");
        return malformed(text);
    }
    if name.chars().any(char::is_control) {
        return malformed("a client's name has no control characters".into());
    }
    if hello.token.len() > TOKEN_BYTES {
        return malformed(alloc::format!("a token has at most {TOKEN_BYTES} bytes"));
    }
    Ok(())
}

/// Compares in a time that tells nothing but the lengths.
fn is(wanted: Option<&[u8]>, given: &str) -> bool {
    wanted.is_some_and(|wanted| !wanted.is_empty() && wanted.ct_eq(given.as_bytes()).into())
}
