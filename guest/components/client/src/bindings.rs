//! What wit-bindgen generates from the world, and the way to the interface's
//! types.

use witlock_session::client::Ending;
use witlock_session::wire::refused::Why;

#[allow(missing_docs)] // documented in the WIT
mod generated {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "wit"],
        world: "witlock:components/client",
        generate_all,
    });

    pub(crate) use exports::witlock::locks::locks as wit;
}

pub(crate) use generated::*;

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
pub(crate) struct Component;

#[cfg(target_family = "wasm")]
export!(Component with_types_in generated);

/// Why an ask was refused, as the interface has it.
pub(crate) fn lock_error(why: Why, text: String) -> wit::LockError {
    match why {
        Why::InUse => wit::LockError::InUse,
        Why::HeldByCaller => wit::LockError::HeldByCaller,
        Why::Invalid => wit::LockError::Invalid(text),
        Why::TooMany => wit::LockError::TooMany(text),
        // Nobody learns of a cancelled ask.
        Why::Closed | Why::Cancelled => wit::LockError::Closed,
        Why::Unavailable => wit::LockError::Unavailable(text),
    }
}

impl From<Ending> for wit::Ending {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Released => Self::Released,
            Ending::Expired => Self::Expired,
            Ending::Revoked => Self::Revoked,
            Ending::Broken => Self::Broken,
            Ending::Closed => Self::Closed,
            Ending::Unreachable => Self::Unreachable,
        }
    }
}
