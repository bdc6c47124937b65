//! A store that a `witlock serve` serves, and `witlock hold`s on it.
#![cfg(unix)]

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::child::{Ended, Witlock, witlock};
use crate::guests::Place;

/// The shortest ttl that there is, and a wait that outlasts any test's holder.
pub const SHORT: &[&str] = &["--ttl", "1s", "--wait", "60s"];

pub const NO_WAIT: &[&str] = &["--try"];

/// A server on a directory of its own.
pub struct Served {
    pub place: Place,
    pub server: Witlock,
}

impl Served {
    pub fn new() -> Served {
        Served::with(&[])
    }

    /// A server with these arguments besides.
    pub fn with(arguments: &[&str]) -> Served {
        let place = Place::new();
        let server = serve(&place, arguments);
        Served { place, server }
    }

    /// Its directory.
    pub fn directory(&self) -> String {
        self.place.text("store")
    }

    /// Stops the server as a person would, and starts another.
    pub fn restart(self) -> Served {
        self.restart_by("TERM")
    }

    /// The same by another signal.
    pub fn restart_by(self, signal: &str) -> Served {
        self.restart_after(signal, &[], |_| {})
    }

    /// Starts another with these arguments, after its journal was damaged.
    pub fn restart_damaged(self, arguments: &[&str]) -> Served {
        self.restart_after("TERM", arguments, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        })
    }

    fn restart_after(
        self,
        signal: &str,
        arguments: &[&str],
        damage: impl FnOnce(&mut Vec<u8>),
    ) -> Served {
        let Served { place, server } = self;
        server.signal(signal);
        server.end();
        let journal = place.path("store").join("journal");
        if let Ok(mut bytes) = fs::read(&journal) {
            damage(&mut bytes);
            fs::write(&journal, bytes).expect("written");
        }
        let server = serve(&place, arguments);
        Served { place, server }
    }

    /// Where it is reached by processes of the same user.
    pub fn address(&self) -> String {
        format!("unix:{}/witlock.sock", self.directory())
    }

    /// Runs a command of `witlock` that reaches the store.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        witlock([arguments, &["--store", &self.directory()]].concat()).end()
    }

    /// Holds the key `k` of the lock `l` while a shell's script runs.
    pub fn hold(&self, options: &[&str], script: &str) -> Witlock {
        self.hold_command(options, &["sh", "-c", script])
    }

    pub fn hold_command(&self, options: &[&str], command: &[&str]) -> Witlock {
        let directory = self.directory();
        let hold = ["hold", "l", "k", "--store", &directory];
        witlock([&hold, options, &["--"], command].concat())
    }

    /// Waits for so many waiters, or so few.
    pub fn until_waiting(&self, number: usize) {
        for _ in 0..1_000 {
            let listed = self.run(&["ls", "--waiters", "--json"]);
            listed.expect_code(0);
            let waiting = listed.out().matches("\"waiting\"").count();
            if waiting == number {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("they are never {number}");
    }
}

/// Starts a server on the place's store, and waits until it listens.
pub fn serve(place: &Place, arguments: &[&str]) -> Witlock {
    let directory = place.text("store");
    let serve = ["serve", "--store", &directory];
    let server = witlock(serve.iter().chain(arguments));
    let socket = place.path("store").join("witlock.sock");
    for _ in 0..3_000 {
        if UnixStream::connect(&socket).is_ok() {
            return server;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("nobody listens:\n{}", server.end().err());
}

/// A command that ignores SIGTERM, and says its process group.
pub const STUBBORN: &str = "trap '' TERM; echo group $$; while :; do sleep 0.05; done";

/// The group in a line of such a command.
pub fn group(running: &mut Witlock) -> String {
    let line = running.line(&["group "]).text;
    line.strip_prefix("group ").expect("a group").to_owned()
}

/// A script that says whether somebody of a process group is alive, as far as a
/// process can be that was killed: those that are not reaped yet are dead.
pub fn look_for(group: &str) -> String {
    format!(
        "ps -e -o pgid= -o stat= | awk '$1 == {group} && $2 !~ /^Z/ {{ n++ }} END {{ print n + 0, \"alive\" }}'"
    )
}

/// Whether there is a program of this name.
pub fn has(program: &str) -> bool {
    let run = Command::new(program).arg("--version").output();
    run.is_ok_and(|run| run.status.success())
}
