//! The languages, by the directories of their guests.

use crate::cases::Does;

/// A guest of a language.
pub struct Column {
    /// The directory of its guests.
    pub id: &'static str,
    /// What heads its column.
    pub title: &'static str,
    /// The cases in which it does otherwise than the others, and what.
    pub otherwise: &'static [(&'static str, Does)],
}

/// A hold over `@0.3.0` of a key that the guest itself holds waits, and its wait runs
/// out.
const WAITS: Does = Does::Otherwise {
    lines: &["in-use"],
    mark: "waits",
};

const WAITS_FOR_A_PLACE: Does = Does::Otherwise {
    lines: &["fence", "fence", "none", "in-use", "fence"],
    mark: "yes",
};

/// A context is looked at before the wait, and its deadline bounds the wait.
const BY_DEADLINE: Does = Does::Otherwise {
    lines: &["cancelled", "cancelled", "fence"],
    mark: "deadline",
};

/// What the compiler refuses, no guest can do.
const COMPILER: Does = Does::Never("compiler");

/// A call of `@0.2.0` blocks all of its guest; the async twin's does not.
const BLOCKS: Does = Does::Never("blocks");

/// A value that the work gives is given up with the lease.
const LOST: Does = Does::Otherwise {
    lines: &["lost: revoked"],
    mark: "lost",
};

pub const COLUMNS: [Column; 7] = [
    Column {
        id: "rust",
        title: "Rust",
        otherwise: &[
            ("exception-lost", LOST),
            ("after", COMPILER),
            ("misuse", COMPILER),
            ("cancel", BLOCKS),
        ],
    },
    Column {
        id: "rust-async",
        title: "Rust, async",
        otherwise: &[
            ("held-by-caller", WAITS),
            ("semaphore", WAITS_FOR_A_PLACE),
            ("exception-lost", LOST),
            ("after", COMPILER),
            ("misuse", COMPILER),
        ],
    },
    Column {
        id: "js",
        title: "JavaScript, StarlingMonkey",
        otherwise: &[("cancel", Does::Never("*js-async*"))],
    },
    Column {
        id: "js-qjs",
        title: "JavaScript, QuickJS",
        otherwise: &[("cancel", Does::Never("*js-qjs-async*"))],
    },
    Column {
        id: "python",
        title: "Python",
        otherwise: &[("cancel", BLOCKS)],
    },
    Column {
        id: "python-async",
        title: "Python, async",
        otherwise: &[("held-by-caller", WAITS), ("semaphore", WAITS_FOR_A_PLACE)],
    },
    Column {
        id: "go",
        title: "Go",
        otherwise: &[("cancel", BY_DEADLINE)],
    },
];

impl Column {
    /// What it does in a case, if not what the others do.
    pub fn otherwise(&self, case: &str) -> Option<&'static Does> {
        let otherwise = self.otherwise.iter().find(|(name, _)| *name == case);
        otherwise.map(|(_, does)| does)
    }
}
