//! The guests, and the command that runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names where the guests are, if not in `target/guests`.
const GUESTS: &str = "WITLOCK_GUESTS";

/// All languages, as their guests call themselves.
pub const LANGUAGES: [&str; 7] = [
    "rust",
    "rust-async",
    "js",
    "js-qjs",
    "python",
    "python-async",
    "go",
];

/// The key of them all.
pub const CHAT: &str = "chat-1";

/// A language's guest `summaries`.
pub fn summaries(language: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/guests");
    let guests = std::env::var_os(GUESTS).map_or(built, PathBuf::from);
    let guest = guests.join(language).join("summaries.wasm");
    assert!(guest.exists(), "{}: run `just guests`", guest.display());
    guest
}

/// `witlock run` of a language's guest with this store, whose work takes so many
/// milliseconds.
pub fn run(language: &str, store: [&str; 2], shelf: &Path, work: u32) -> Command {
    let mut run = Command::new(env!("CARGO_BIN_EXE_witlock"));
    run.arg("run").arg(summaries(language)).args(store);
    run.arg("--dir").arg(at("/shelf", shelf));
    run.args(["--", CHAT, &work.to_string()]);
    run
}

/// A directory of the host's, as the guest sees it.
pub fn at(guest: &str, directory: &Path) -> String {
    format!("{}::{guest}", directory.display())
}
