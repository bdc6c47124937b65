//! tinystore's server, by the frames of its protocol: a header of 12 bytes, and a map
//! of MessagePack.

use std::fs;
use std::process::Command;

use super::link::{Arrived, Transport};
use super::peers;
use super::raw::{Answer, Protocol};
use super::server::Server;

const HEADER: usize = 12;

/// Kinds of frames.
const HELLO: u8 = 1;
const WELCOME: u8 = 2;
const REQUEST: u8 = 3;
const RESPONSE: u8 = 4;
const CREDIT: u8 = 7;

/// The flag of a stream's last frame, alone: it went well.
const END: u8 = 1;

const HOLD: u16 = 0x0901;
const RELEASE: u16 = 0x0903;

/// 32 bytes as base64url, which is what it takes for a token.
const TOKEN: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

pub fn start() -> Option<Server> {
    let tinystore = peers::command("tinystore")?;
    Some(Server::peer(|place| {
        let (store, tokens) = (place.dir.join("store"), place.dir.join("tokens"));
        fs::write(&tokens, format!("data {TOKEN}\n")).expect("a file");
        let mut command = Command::new(tinystore);
        command.arg("serve").arg(&store);
        command.args(["--listen", &format!("tcp://{}", place.tcp), "--tokens"]);
        command.arg(tokens);
        (command, store.join("server/tinystore.sock"))
    }))
}

pub struct Tinystore {
    keys: Vec<String>,
    transport: Transport,
    leases: Vec<Vec<u8>>,
    /// What each caller waits for.
    asked: Vec<Answer>,
    /// Each hold has a request of its own.
    requests: u128,
}

impl Tinystore {
    pub fn new(keys: Vec<String>, transport: Transport) -> Self {
        Tinystore {
            leases: vec![Vec::new(); keys.len()],
            asked: vec![Answer::Welcome; keys.len()],
            keys,
            transport,
            requests: fastrand::u128(..),
        }
    }

    /// A caller has one stream, over and over.
    fn request(&self, method: u16, caller: usize, body: &[u8], out: &mut Vec<u8>) {
        put(REQUEST, END, method, caller as u32 + 1, body, out);
    }

    fn answered(&mut self, caller: usize, body: &[u8]) -> Answer {
        let answer = self.asked[caller];
        if let Answer::Held(_) = answer {
            // 1: true, 2: 16 bytes.
            let lease = match body {
                [_, 1, 0xc3, 2, 0xc4, 16, rest @ ..] => &rest[..16],
                other => panic!("not held: {other:?}"),
            };
            self.leases[caller].clear();
            self.leases[caller].extend_from_slice(lease);
        }
        answer
    }
}

impl Protocol for Tinystore {
    fn greet(&mut self, out: &mut Vec<u8>) {
        let mut body = vec![0x82, 1, 1, 2];
        text("bench", &mut body);
        if self.transport == Transport::Tcp {
            body[0] = 0x83;
            body.push(3);
            text(TOKEN, &mut body);
        }
        put(HELLO, 0, 0, 0, &body, out);
    }

    fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.requests = self.requests.wrapping_add(1);
        let mut body = vec![0x86, 1];
        text("lock", &mut body);
        body.push(2);
        text("summaries", &mut body);
        body.push(3);
        text(&self.keys[caller], &mut body);
        // One holder, and a ttl of 30 000 ms.
        body.extend([4, 1, 5, 0xcd, 0x75, 0x30, 8]);
        bytes(&self.requests.to_be_bytes(), &mut body);
        self.request(HOLD, caller, &body, out);
        self.asked[caller] = Answer::Held(caller);
    }

    fn release(&mut self, caller: usize, out: &mut Vec<u8>) {
        let mut body = vec![0x81, 1];
        bytes(&self.leases[caller], &mut body);
        self.request(RELEASE, caller, &body, out);
        self.asked[caller] = Answer::Released(caller);
    }

    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer> {
        loop {
            let rest = arrived.rest();
            let (header, rest) = rest.split_at_checked(HEADER)?;
            let word = |at: usize| header[at..at + 4].try_into().map(u32::from_le_bytes);
            let length = word(0).expect("4 bytes") as usize;
            let body = rest.get(..length)?;
            let answer = match (header[4], header[5]) {
                (WELCOME, _) => Some(Answer::Welcome),
                (RESPONSE, END) => {
                    let caller = word(8).expect("4 bytes") as usize - 1;
                    Some(self.answered(caller, body))
                }
                // There is always enough of it.
                (CREDIT, _) => None,
                _ => panic!("answered {}", String::from_utf8_lossy(body)),
            };
            arrived.take(HEADER + length);
            if answer.is_some() {
                return answer;
            }
        }
    }
}

fn put(kind: u8, flags: u8, method: u16, stream: u32, body: &[u8], out: &mut Vec<u8>) {
    out.extend((body.len() as u32).to_le_bytes());
    out.extend([kind, flags]);
    out.extend(method.to_le_bytes());
    out.extend(stream.to_le_bytes());
    out.extend_from_slice(body);
}

fn text(text: &str, body: &mut Vec<u8>) {
    match text.len() as u8 {
        short @ ..32 => body.push(0xa0 | short),
        long => body.extend([0xd9, long]),
    }
    body.extend_from_slice(text.as_bytes());
}

fn bytes(bytes: &[u8], body: &mut Vec<u8>) {
    body.extend([0xc4, bytes.len() as u8]);
    body.extend_from_slice(bytes);
}
