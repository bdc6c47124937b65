//! What this program is started anew for: the servers that are of this project.

use std::io::Read;
use std::path::{Path, PathBuf};

use ::witlock::{Server, Store};

use super::echo;

/// What a client says to be let in over TCP.
pub const TOKEN: &str = "let me in";

/// What tells it from a bench, in front of the role and the directory.
const SERVE: &str = "serve";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Echo,
    /// A store in memory only.
    InMemory,
    /// A store in a directory, as `witlock serve` has it.
    InDirectory,
}

const ROLES: [(&str, Role); 3] = [
    ("echo", Role::Echo),
    ("in-memory", Role::InMemory),
    ("in-directory", Role::InDirectory),
];

impl Role {
    pub fn arguments(self, dir: &Path) -> [String; 3] {
        let role = ROLES.iter().find(|(_, role)| *role == self);
        let (name, _) = role.expect("every role has a name");
        let dir = dir.to_str().expect("UTF-8");
        [SERVE.into(), (*name).into(), dir.into()]
    }
}

/// A server that this process is to be.
pub struct Asked {
    role: Role,
    dir: PathBuf,
}

pub fn asked(arguments: &[String]) -> Option<Asked> {
    let [serve, name, dir] = arguments else {
        return None;
    };
    let (_, role) = ROLES.iter().find(|(known, _)| known == name)?;
    let (role, dir) = (*role, dir.into());
    (serve == SERVE).then_some(Asked { role, dir })
}

impl Asked {
    /// Says where it listens, and serves until who started it is gone.
    pub fn serve(self) {
        match self.role {
            Role::Echo => echo::serve(&self.socket()),
            Role::InMemory => self.serve_store(&Store::in_memory().expect("a store")),
            Role::InDirectory => {
                let store = Store::open(self.dir.join("store"));
                self.serve_store(&store.expect("a store"));
            }
        }
    }

    fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    fn serve_store(&self, store: &Store) {
        let unix = format!("unix:{}", self.socket().display());
        let builder = Server::builder(store)
            .listen(unix)
            .listen("tcp:127.0.0.1:0");
        let server = builder.token(TOKEN).bind().expect("a server");
        for address in server.addresses() {
            let (_, place) = address.split_once(':').expect("a kind and a place");
            println!("{place}");
        }
        until_orphaned();
    }
}

/// Until the standard input ends.
pub fn until_orphaned() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
