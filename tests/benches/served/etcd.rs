//! etcd: a key is put if it isn't there, under a lease that its holder has for longer
//! than that, and deleted, as its own client's mutex does.
//!
//! Asked in JSON over HTTP/1.1: its gateway, which hands on to its own gRPC inside,
//! costs some tens of microseconds of each request, and answers the requests of one
//! connection one after the other. Each of them is committed to disk, and synced, which
//! takes far longer.

use std::collections::VecDeque;
use std::io::Write;
use std::process::Command;

use super::link::Arrived;
use super::peers;
use super::raw::{Answer, Protocol};
use super::server::{self, Server};

/// It makes a socket of a host and a port.
const SOCKET: &str = "etcd:1";

pub fn start() -> Option<Server> {
    let etcd = peers::command("etcd")?;
    Some(Server::peer(|place| {
        let clients = format!("http://{}", place.tcp);
        let peers = format!("http://{}", server::free_port());
        let mut command = Command::new(etcd);
        command.arg("--data-dir").arg(place.dir.join("data"));
        command.args([
            "--listen-client-urls",
            &format!("{clients},unix://{SOCKET}"),
        ]);
        command.args(["--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers]);
        command.args(["--initial-advertise-peer-urls", &peers]);
        command.args(["--initial-cluster", &format!("default={peers}")]);
        (command, place.dir.join(SOCKET))
    }))
}

pub struct Etcd {
    /// In base64.
    keys: Vec<String>,
    lease: String,
    /// What is answered next, in this order.
    asked: VecDeque<Answer>,
}

impl Etcd {
    pub fn new(keys: Vec<String>) -> Self {
        Etcd {
            keys: keys.iter().map(|key| base64(key.as_bytes())).collect(),
            lease: String::new(),
            asked: VecDeque::new(),
        }
    }
}

impl Protocol for Etcd {
    fn greet(&mut self, out: &mut Vec<u8>) {
        post("/v3/lease/grant", r#"{"TTL":3600}"#, out);
        self.asked.push_back(Answer::Welcome);
    }

    fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        let (key, lease) = (&self.keys[caller], &self.lease);
        let body = format!(
            r#"{{"compare":[{{"key":"{key}","target":"CREATE","create_revision":"0"}}],"success":[{{"request_put":{{"key":"{key}","lease":"{lease}"}}}}]}}"#
        );
        post("/v3/kv/txn", &body, out);
        self.asked.push_back(Answer::Held(caller));
    }

    fn release(&mut self, caller: usize, out: &mut Vec<u8>) {
        let body = format!(r#"{{"key":"{}"}}"#, self.keys[caller]);
        post("/v3/kv/deleterange", &body, out);
        self.asked.push_back(Answer::Released(caller));
    }

    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer> {
        let (body, taken) = body(arrived.rest())?;
        let went_well = match self.asked.front() {
            Some(Answer::Welcome) => {
                self.lease = after(body, r#""ID":""#)?.split('"').next()?.into();
                true
            }
            Some(Answer::Held(_)) => body.contains(r#""succeeded":true"#),
            Some(Answer::Released(_)) => body.contains(r#""deleted":"1""#),
            None => false,
        };
        assert!(went_well, "{:?}: {body}", self.asked.front());
        arrived.take(taken);
        self.asked.pop_front()
    }
}

fn post(path: &str, body: &str, out: &mut Vec<u8>) {
    let length = body.len();
    let request = format_args!(
        "POST {path} HTTP/1.1\r\nHost: etcd\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    out.write_fmt(request).expect("memory");
}

/// The body of the first response, if all of it is there, and where it ends.
fn body(arrived: &[u8]) -> Option<(&str, usize)> {
    let arrived = std::str::from_utf8(arrived).expect("UTF-8");
    let head = arrived.find("\r\n\r\n")? + 4;
    let length = after(&arrived[..head], "Content-Length: ").expect("a length");
    let length: usize = length.lines().next()?.parse().expect("a number");
    let end = head + length;
    Some((arrived.get(head..end)?, end))
}

fn after<'a>(text: &'a str, what: &str) -> Option<&'a str> {
    text.split_once(what).map(|(_, after)| after)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert!(bytes.len().is_multiple_of(3), "nothing is padded here");
    let digits = |three: &[u8]| {
        let number = three
            .iter()
            .fold(0, |number, byte| number << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| DIGITS[(number >> shift & 63) as usize] as char)
    };
    bytes.chunks(3).flat_map(digits).collect()
}
