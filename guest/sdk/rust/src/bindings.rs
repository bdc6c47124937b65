//! What wit-bindgen makes of the WIT, and what its errors and options are here.

#[allow(missing_docs)] // documented in the WIT
pub mod version_0_2 {
    wit_bindgen::generate!({ path: "wit/locks-0.2", world: "imports" });
}

#[cfg(feature = "p3")]
#[allow(missing_docs)] // documented in the WIT
pub mod version_0_3 {
    wit_bindgen::generate!({ path: "wit/locks-0.3", world: "imports" });
}

/// The types that both versions have, lifted from one of them.
macro_rules! lift {
    ($raw:path) => {
        use $raw as raw;

        impl From<raw::LockError> for crate::LockError {
            fn from(error: raw::LockError) -> Self {
                match error {
                    raw::LockError::InUse => Self::InUse,
                    raw::LockError::HeldByCaller => Self::HeldByCaller,
                    raw::LockError::Invalid(why) => Self::Invalid(why),
                    raw::LockError::TooMany(why) => Self::TooMany(why),
                    raw::LockError::Closed => Self::Closed,
                    raw::LockError::Unavailable(why) => Self::Unavailable(why),
                }
            }
        }

        impl From<raw::Ending> for crate::Ending {
            fn from(ending: raw::Ending) -> Self {
                match ending {
                    raw::Ending::Released => Self::Released,
                    raw::Ending::Expired => Self::Expired,
                    raw::Ending::Revoked => Self::Revoked,
                    raw::Ending::Broken => Self::Broken,
                    raw::Ending::Closed => Self::Closed,
                    raw::Ending::Unreachable => Self::Unreachable,
                }
            }
        }

        impl From<crate::builder::Options> for raw::Options {
            fn from(options: crate::builder::Options) -> Self {
                raw::Options {
                    ttl: options.ttl,
                    wait: options.wait,
                    max_hold: options.max_hold,
                    label: options.label,
                }
            }
        }
    };
}

mod lifted_0_2 {
    lift!(super::version_0_2::witlock::locks::locks);
}

#[cfg(feature = "p3")]
mod lifted_0_3 {
    lift!(super::version_0_3::witlock::locks::locks);
}
