//! What wit-bindgen generates from the world, and the way from the engine's
//! types to those of a version of the interface.

#[cfg(feature = "async")]
#[allow(missing_docs)] // documented in the WIT
mod generated {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "../../../wit/locks-0.3", "wit"],
        world: "witlock:components/locks",
        generate_all,
    });

    pub(crate) use exports::witlock::{locks0_2_0 as version_0_2, locks0_3_0 as version_0_3};
}

#[cfg(not(feature = "async"))]
#[allow(missing_docs)] // documented in the WIT
mod generated {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "../../../wit/locks-0.3", "wit"],
        world: "witlock:components/locks-zero-two",
        generate_all,
    });

    pub(crate) use exports::witlock::locks0_2_0 as version_0_2;
}

pub(crate) use generated::*;

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
pub(crate) struct Component;

#[cfg(target_family = "wasm")]
export!(Component with_types_in generated);

/// The types of a version of the interface, from the engine's and to them.
macro_rules! conversions {
    ($wit:ident) => {
        impl From<$wit::Options> for crate::opened::Opening {
            fn from(options: $wit::Options) -> Self {
                crate::opened::Opening {
                    wait: options.wait,
                    options: witlock_engine::Options {
                        ttl: options.ttl,
                        max_hold: options.max_hold,
                        label: options.label,
                    },
                }
            }
        }

        impl From<witlock_engine::Refusal> for $wit::LockError {
            fn from(refusal: witlock_engine::Refusal) -> Self {
                use witlock_engine::Refusal;
                match refusal {
                    Refusal::InUse => Self::InUse,
                    Refusal::HeldByCaller => Self::HeldByCaller,
                    Refusal::Invalid(why) => Self::Invalid(why.to_string()),
                    Refusal::TooMany(why) => Self::TooMany(why.to_string()),
                    Refusal::Unavailable(why) => Self::Unavailable(why),
                    // Nobody learns of a cancelled ask; nothing closes.
                    Refusal::Cancelled | Refusal::Closed => Self::Closed,
                }
            }
        }

        impl From<witlock_engine::Ending> for $wit::Ending {
            fn from(ending: witlock_engine::Ending) -> Self {
                use witlock_engine::Ending;
                match ending {
                    Ending::Released => Self::Released,
                    Ending::Expired => Self::Expired,
                    Ending::Revoked => Self::Revoked,
                    Ending::Broken => Self::Broken,
                    Ending::Closed => Self::Closed,
                }
            }
        }
    };
}

pub(crate) use conversions;
