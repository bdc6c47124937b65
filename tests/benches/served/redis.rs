//! Redis: a key is taken with `SET NX PX`, and let go by the script that deletes it if
//! it is still one's own.

use std::collections::VecDeque;
use std::io::Write;
use std::process::Command;

use super::link::Arrived;
use super::peers;
use super::raw::{Answer, Protocol};
use super::server::Server;

const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then \
                       return redis.call('del', KEYS[1]) else return 0 end";

/// Starts one that writes nothing, or one that writes what it does, unsynced, before it
/// answers.
pub fn start(writes: bool) -> Option<Server> {
    let redis = peers::command("redis-server")?;
    Some(Server::peer(|place| {
        let socket = place.dir.join("socket");
        let mut command = Command::new(redis);
        let port = place.tcp.port().to_string();
        command.args(["--bind", "127.0.0.1", "--port", &port, "--unixsocket"]);
        command
            .arg(&socket)
            .args(["--save", "", "--appendfsync", "no"]);
        command.args(["--appendonly", if writes { "yes" } else { "no" }]);
        (command, socket)
    }))
}

pub struct Redis {
    keys: Vec<String>,
    holds: u64,
    /// What each caller wrote into its key.
    tokens: Vec<u64>,
    script: String,
    /// What is answered next, in this order.
    asked: VecDeque<Answer>,
}

impl Redis {
    pub fn new(keys: Vec<String>) -> Self {
        Redis {
            tokens: vec![0; keys.len()],
            keys,
            holds: 0,
            script: String::new(),
            asked: VecDeque::new(),
        }
    }
}

impl Protocol for Redis {
    fn greet(&mut self, out: &mut Vec<u8>) {
        put(&["SCRIPT", "LOAD", RELEASE], out);
        self.asked.push_back(Answer::Welcome);
    }

    fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.holds += 1;
        self.tokens[caller] = self.holds;
        let token = format!("{:016x}", self.holds);
        put(
            &["SET", &self.keys[caller], &token, "NX", "PX", "30000"],
            out,
        );
        self.asked.push_back(Answer::Held(caller));
    }

    fn release(&mut self, caller: usize, out: &mut Vec<u8>) {
        let token = format!("{:016x}", self.tokens[caller]);
        put(
            &["EVALSHA", &self.script, "1", &self.keys[caller], &token],
            out,
        );
        self.asked.push_back(Answer::Released(caller));
    }

    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer> {
        let reply = arrived.rest();
        let end = line_end(reply)?;
        let (line, rest) = (&reply[..end - 2], &reply[end..]);
        let mut taken = end;
        match (self.asked.front(), line) {
            (Some(Answer::Welcome), b"$40") => {
                let script = &rest[..line_end(rest)? - 2];
                self.script = String::from_utf8(script.to_vec()).expect("a hash");
                taken += script.len() + 2;
            }
            (Some(Answer::Held(_)), b"+OK") | (Some(Answer::Released(_)), b":1") => {}
            (asked, _) => panic!("{asked:?}: {}", String::from_utf8_lossy(line)),
        }
        arrived.take(taken);
        self.asked.pop_front()
    }
}

/// Puts a command.
fn put(words: &[&str], out: &mut Vec<u8>) {
    let mut write = |part: std::fmt::Arguments| out.write_fmt(part).expect("memory");
    write(format_args!("*{}\r\n", words.len()));
    for word in words {
        write(format_args!("${}\r\n{word}\r\n", word.len()));
    }
}

/// Where the first line ends, with its end.
fn line_end(bytes: &[u8]) -> Option<usize> {
    Some(bytes.windows(2).position(|two| two == b"\r\n")? + 2)
}
