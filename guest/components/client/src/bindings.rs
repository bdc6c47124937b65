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

#[cfg(test)]
mod tests {
    use super::wit::{Ending as Told, LockError};
    use super::*;

    #[test]
    fn a_refusal_keeps_its_reason_and_its_text() {
        let text = || "a text".to_owned();
        let error = |why| format!("{:?}", lock_error(why, text()));
        let told = |error: LockError| format!("{error:?}");
        assert_eq!(error(Why::InUse), told(LockError::InUse));
        assert_eq!(error(Why::HeldByCaller), told(LockError::HeldByCaller));
        assert_eq!(error(Why::Invalid), told(LockError::Invalid(text())));
        assert_eq!(error(Why::TooMany), told(LockError::TooMany(text())));
        assert_eq!(error(Why::Closed), told(LockError::Closed));
        assert_eq!(
            error(Why::Unavailable),
            told(LockError::Unavailable(text()))
        );
    }

    // LOCK-07, case J8
    #[test]
    fn each_ending_is_told_as_what_it_is() {
        for (ending, told) in [
            (Ending::Released, Told::Released),
            (Ending::Expired, Told::Expired),
            (Ending::Revoked, Told::Revoked),
            (Ending::Broken, Told::Broken),
            (Ending::Closed, Told::Closed),
            (Ending::Unreachable, Told::Unreachable),
        ] {
            assert_eq!(Told::from(ending), told);
        }
    }
}
