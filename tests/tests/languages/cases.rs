//! The cases that every SDK's guest `conformance` knows, and what it prints in each.

/// A case.
pub struct Case {
    /// The argument of the guest.
    pub name: &'static str,
    /// What the table says of it.
    pub says: &'static str,
    /// What is around the guest.
    pub scene: Scene,
    pub does: Does,
}

/// What is around the guest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scene {
    /// It is alone with a store.
    Alone,
    /// Another holder holds `key`.
    Held,
    /// The store is opened anew, and the guest runs once more.
    Restarted,
}

/// What a guest does.
pub enum Does {
    /// Prints these lines and returns well. `fence` is a fence that is larger than
    /// all before.
    Prints(&'static [&'static str]),
    /// Prints these lines, and does not return well.
    Fails(&'static [&'static str]),
    /// Prints at least so many times the first line, then the second, and returns
    /// well.
    Repeats(usize, &'static str, &'static str),
    /// Prints these lines in place of those of the others; the table has the mark.
    Otherwise {
        lines: &'static [&'static str],
        mark: &'static str,
    },
    /// Has no such case; the table has the mark.
    Never(&'static str),
}

const fn alone(name: &'static str, says: &'static str, lines: &'static [&'static str]) -> Case {
    Case {
        name,
        says,
        scene: Scene::Alone,
        does: Does::Prints(lines),
    }
}

const fn held(name: &'static str, says: &'static str, lines: &'static [&'static str]) -> Case {
    Case {
        scene: Scene::Held,
        ..alone(name, says, lines)
    }
}

pub const CASES: [Case; 17] = [
    alone(
        "hold",
        "a hold has its fence, keeps the key from others, and lets it go",
        &["fence", "none", "fence"],
    ),
    held(
        "wait",
        "a wait runs out, the hold's own or the lock's: *in use*",
        &["in-use", "in-use"],
    ),
    held(
        "try",
        "a try of a held key is none, of a free one a lease",
        &["none", "fence"],
    ),
    alone(
        "held-by-caller",
        "a hold of a key that the guest itself holds: *held by caller*",
        &["held-by-caller"],
    ),
    alone(
        "lost",
        "a lease past its max-hold: the hold fails, *lost: revoked*, though the work succeeded",
        &["ended revoked", "lost: revoked"],
    ),
    alone(
        "invalid",
        "names, keys, limits and options out of their bounds: *invalid*, with the bound",
        &[
            "invalid: a name has 1 to 128 bytes, this one 0",
            "invalid: a name has 1 to 128 bytes, this one 129",
            "invalid: a key has 1 to 1024 bytes, this one 0",
            "invalid: a key has 1 to 1024 bytes, this one 1025",
            "invalid: a semaphore's limit is 1 to 1000, not 0",
            "invalid: a semaphore's limit is 1 to 1000, not 1001",
            "invalid: a ttl is 1000 to 3600000 ms, not 999",
            "invalid: a max-hold is 1 to 4294967295 ms, not 0",
            "invalid: a label has at most 128 bytes, this one 129",
        ],
    ),
    alone(
        "spans",
        "spans longer than the interface can say: *invalid*, with the bound",
        &[
            "invalid: a wait is at most 4294967295 ms, not 4294967296",
            "invalid: a ttl is at most 4294967295 ms, not 4294967296",
            "invalid: a max-hold is at most 4294967295 ms, not 4294967296",
        ],
    ),
    alone(
        "drop",
        "a lease that is dropped without a release lets the key go",
        &["fence", "fence"],
    ),
    alone(
        "exception",
        "work that fails lets the key go, and its failure comes out",
        &["boom", "fence"],
    ),
    alone(
        "exception-lost",
        "work that fails under a lost lease: its failure comes out",
        &["boom"],
    ),
    Case {
        name: "uncaught",
        says: "a failure that ends the guest lets the key go",
        scene: Scene::Alone,
        does: Does::Fails(&["fence"]),
    },
    alone(
        "semaphore",
        "a semaphore of 2 has two holders, and no third",
        &["fence", "fence", "none", "held-by-caller", "fence"],
    ),
    Case {
        name: "fence",
        says: "fences grow over a restart of the store",
        scene: Scene::Restarted,
        does: Does::Prints(&["fence"]),
    },
    alone(
        "released",
        "a lease that the work releases itself is no loss",
        &["fence", "fence", "ok"],
    ),
    alone(
        "after",
        "a lease is of no use after its hold: fence, ended and release are refused",
        &["refused", "refused", "refused"],
    ),
    Case {
        name: "misuse",
        says: "values of another type or kind are refused, and nothing is lost",
        scene: Scene::Alone,
        does: Does::Repeats(2, "refused", "fence"),
    },
    held(
        "cancel",
        "a hold that is cancelled, in line or at work, lets go",
        &["cancelled", "cancelled", "fence", "fence"],
    ),
];
