//! The way from one holder to the resource.

use std::fs;
use std::os::unix::net::UnixDatagram;

use witlock_tests::record::{Claim, Record};

/// A socket of its own, by which it is answered.
pub struct Teller(UnixDatagram);

impl Teller {
    /// Datagrams, for their order: what a holder said first is read first, whoever
    /// said it, and however late it is read.
    pub fn new(resource: &str, name: &str) -> Self {
        let own = format!("{resource}-{name}");
        let _ = fs::remove_file(&own);
        let socket = UnixDatagram::bind(own).expect("a socket");
        socket.connect(resource).expect("a resource");
        Teller(socket)
    }

    /// When this returns it is said, and comes before whatever is said later.
    pub fn tell(&self, record: &Record) {
        let text = record.to_string();
        self.0.send(text.as_bytes()).expect("a resource");
    }

    /// Says a claim; `said` is called once it is, and before the answer.
    pub fn claim(&self, claim: Claim, said: impl FnOnce()) -> bool {
        self.tell(&Record::Claim(claim));
        said();
        let mut answer = [0];
        self.0.recv(&mut answer).expect("an answer");
        answer == *b"+"
    }
}
