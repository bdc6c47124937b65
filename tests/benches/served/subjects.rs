//! All that is compared.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::echo::Echo;
use super::etcd::{self, Etcd};
use super::link::Transport;
use super::redis::{self, Redis};
use super::server::Server;
use super::serving::Role;
use super::tinystore::{self, Tinystore};
use super::turn::Turn;
use super::witlock::Witlock;
use super::{client, raw};

/// Does its work for that long.
pub type Subject = Box<dyn FnMut(Duration) -> Turn>;

pub type Named = (&'static str, Subject);

/// How a server is asked.
pub struct Load {
    pub transport: Transport,
    pub connections: usize,
    /// Of each connection.
    pub callers: usize,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count, what| match count {
            1 => format!("1 {what}"),
            many => format!("{many} {what}s"),
        };
        let callers = counted(self.connections * self.callers, "caller");
        let connections = counted(self.connections, "connection");
        let transport = match self.transport {
            Transport::Unix => "a Unix socket",
            Transport::Tcp => "TCP",
        };
        write!(f, "{callers} on {connections} over {transport}")
    }
}

/// All servers; of peers, those that are installed.
pub struct Servers {
    /// Of the load's side.
    runtime: Arc<Runtime>,
    redis: Option<Server>,
    redis_writing: Option<Server>,
    tinystore: Option<Server>,
    etcd: Option<Server>,
    echo: Server,
    in_memory: Server,
    in_directory: Server,
}

impl Servers {
    pub fn start() -> Servers {
        let runtime = Builder::new_current_thread().enable_all().build();
        Servers {
            runtime: Arc::new(runtime.expect("a runtime")),
            redis: redis::start(false),
            redis_writing: redis::start(true),
            tinystore: tinystore::start(),
            etcd: etcd::start(),
            echo: Server::own(Role::Echo),
            in_memory: Server::own(Role::InMemory),
            in_directory: Server::own(Role::InDirectory),
        }
    }

    /// Those that are to be compared under a load, connected.
    pub fn subjects(&self, load: &Load) -> Vec<Named> {
        let tinystore = |keys| Tinystore::new(keys, load.transport);
        let peers = [
            self.raw("Redis", self.redis.as_ref(), load, Redis::new),
            self.raw(
                "Redis, appendonly",
                self.redis_writing.as_ref(),
                load,
                Redis::new,
            ),
            self.raw("tinystore", self.tinystore.as_ref(), load, tinystore),
            self.raw("etcd", self.etcd.as_ref(), load, Etcd::new),
            self.raw("echo", Some(&self.echo), load, Echo::new),
            self.raw(
                "witlock, in memory",
                Some(&self.in_memory),
                load,
                Witlock::new,
            ),
            self.raw("witlock", Some(&self.in_directory), load, Witlock::new),
        ];
        let address = self.in_directory.address(load.transport);
        let ours = client::subject(&self.runtime, address, load);
        let ours = ("witlock, its own client", ours);
        peers.into_iter().flatten().chain([ours]).collect()
    }

    fn raw<P: raw::Protocol>(
        &self,
        name: &'static str,
        server: Option<&Server>,
        load: &Load,
        protocol: impl Fn(Vec<String>) -> P,
    ) -> Option<Named> {
        let address = server?.address(load.transport);
        Some((name, raw::subject(&self.runtime, address, load, protocol)))
    }
}
