//! A server of a store that tests kill and start again:
//! `server <directory> <TCP address> <token> <manner>`. It listens at
//! `server.sock` in the directory too, and ends with its standard input.

#![allow(clippy::expect_used)] // a tool of the tests

use std::path::{Path, PathBuf};
use std::{fs, io};

use witlock::clock::{Alarm, BootClock, Clock};
use witlock::{Server, Store, StoreBuilder};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().expect("an argument");
    let (dir, tcp, token) = (PathBuf::from(next()), next(), next());
    let store = store(&next(), &dir).open(&dir).expect("a store");
    let server = Server::builder(&store)
        .listen(format!("unix:{}/server.sock", dir.display()))
        .listen(format!("tcp:{tcp}"))
        .token(token);
    let _server = server.bind().expect("a server");
    println!("listening");
    let _ = io::read_to_string(io::stdin());
}

/// As it should be, or broken on purpose.
fn store(manner: &str, dir: &Path) -> StoreBuilder {
    match manner {
        "faithful" => Store::builder(),
        "hasty" => Store::builder().clock(Double),
        "forgetful" => {
            // All that a directory keeps of leases; neither need be there.
            for file in ["grace", "journal"] {
                let _ = fs::remove_file(dir.join(file));
            }
            Store::builder()
        }
        other => panic!("{other:?} is no manner of a server"),
    }
}

/// A clock by which everything takes half its time.
struct Double;

struct HalfTime(Box<dyn Alarm>);

impl Clock for Double {
    fn now(&self) -> u64 {
        BootClock.now() * 2
    }

    fn alarm(&self) -> io::Result<Box<dyn Alarm>> {
        Ok(Box::new(HalfTime(BootClock.alarm()?)))
    }
}

impl Alarm for HalfTime {
    fn set(&self, at: u64) {
        // Rounded up: it never rings before its moment.
        self.0.set(at.div_ceil(2));
    }

    fn wait(&self) {
        self.0.wait();
    }
}
