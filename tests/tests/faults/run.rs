//! A server, its clients, what is between them, and the resource that they tell.

use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use tempfile::TempDir;
use witlock::Store;
use witlock::clock::{BootClock, Clock};
use witlock_tests::record::Moment;

use crate::checker::STEADY_TTL;
use crate::done::Done;
use crate::faults::{Faults, Restart};
use crate::processes::Process;
use crate::proxy::{Proxy, Server};
use crate::resource::Resource;

const TOKEN: &str = "let me in";

/// Ports that the system gives nobody who connects: one who tried a port of those in
/// vain could come to have it itself.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// How many clients of each kind of socket go through a proxy, beside one that does
/// not.
const PROXIED: usize = 2;

/// How long the first grant after a start is waited for.
const FIRST_GRANT: Duration = Duration::from_secs(10);

/// What kind of run it is.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub seed: u64,
    /// Of the server, as the binary `server` takes it.
    pub manner: &'static str,
    /// Of the holders to whom something is done, as the binary `holders` takes it.
    pub holders: &'static str,
    /// How often the server is killed beside some forty other faults.
    pub restarts: usize,
}

pub struct Run {
    pub settings: Settings,
    pub random: Rng,
    pub faults: Faults,
    pub done: Done,
    pub server: Option<Process>,
    pub ways: Vec<Proxy>,
    pub clients: Vec<Client>,
    /// From which client on nothing is done to any.
    pub spared: usize,
    tcp: String,
    processes: u32,
    restarts: (Sender<Restart>, Receiver<Restart>),
    /// Dropped after those that tell it.
    pub resource: Resource,
    dir: TempDir,
}

/// Where one client process after the other is.
pub struct Client {
    address: String,
    /// As the binary `holders` takes it.
    manner: String,
    /// The number of the process that is there, or was last.
    pub number: u32,
    pub process: Option<Process>,
}

/// A run whose clients have ended.
pub struct Over {
    pub resource: Resource,
    pub faults: Faults,
    pub done: Done,
    /// Those that did not end, or not well.
    pub hung: Vec<u32>,
}

pub fn now() -> Moment {
    BootClock.now()
}

impl Run {
    pub fn new(settings: Settings) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut random = Rng::with_seed(settings.seed);
        let mut run = Run {
            settings,
            resource: Resource::new(dir.path()),
            faults: Faults::default(),
            done: Done::default(),
            server: None,
            ways: Vec::new(),
            clients: Vec::new(),
            spared: 0,
            tcp: format!("127.0.0.1:{}", free_port(&mut random)),
            processes: 0,
            restarts: channel(),
            random,
            dir,
        };
        run.start_server();
        let unix = Server::Unix(run.path("server.sock"));
        let tcp = Server::Tcp(run.tcp.clone());
        run.add_clients("unix", unix.clone());
        run.add_clients("tcp", tcp.clone());
        run.spared = run.clients.len();
        // Bystanders: nothing is done to them, and they hold keys for long.
        let ttl = (STEADY_TTL / 1_000_000).to_string();
        run.add_client(unix.address(), &ttl);
        run.add_client(tcp.address(), &ttl);
        run
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.dir.path().display())
    }

    fn unix_address(&self) -> String {
        format!("unix:{}", self.path("server.sock"))
    }

    fn add_clients(&mut self, kind: &str, server: Server) {
        let manner = self.settings.holders;
        self.add_client(server.address(), manner);
        for number in 0..PROXIED {
            let path = self.path(&format!("{kind}-{number}"));
            let proxy = Proxy::new(server.clone(), &path);
            self.add_client(proxy.address().to_owned(), manner);
            self.ways.push(proxy);
        }
    }

    fn add_client(&mut self, address: String, manner: &str) {
        self.clients.push(Client {
            address,
            manner: manner.to_owned(),
            number: 0,
            process: None,
        });
        self.start_client(self.clients.len() - 1);
    }

    pub fn start_client(&mut self, at: usize) {
        self.processes += 1;
        let client = &mut self.clients[at];
        let mut command = Command::new(env!("CARGO_BIN_EXE_holders"));
        command
            .arg(self.processes.to_string())
            .args([&client.address, TOKEN, self.resource.path()])
            .arg(&client.manner);
        client.number = self.processes;
        client.process = Some(Process::start(command));
    }

    pub fn start_server(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
        command
            .arg(self.dir.path())
            .args([&self.tcp, TOKEN, self.settings.manner]);
        self.server = Some(Process::start_and_hear(command));
    }

    /// Has somebody ask the server, which started just now, for a key that nobody has.
    pub fn ask_for_a_free_key(&self) {
        let listening = now();
        let (address, tell) = (self.unix_address(), self.restarts.0.clone());
        thread::spawn(move || {
            let first_grant = is_given(&address, listening).then(now);
            // The run may be over.
            let _ = tell.send(Restart {
                listening,
                first_grant,
            });
        });
    }

    /// Lets the clients come to their ends, whom nothing keeps from it any more.
    pub fn end(mut self) -> Over {
        let mut hung = Vec::new();
        for client in &mut self.clients {
            client.process.as_mut().expect("a process").end_input();
        }
        for client in &mut self.clients {
            if !client.process.as_mut().expect("a process").ends() {
                hung.push(client.number);
            }
        }
        let restarts = self.restarts.1.try_iter();
        self.faults.restarts.extend(restarts);
        Over {
            resource: self.resource,
            faults: self.faults,
            done: self.done,
            hung,
        }
    }
}

fn is_given(address: &str, listening: Moment) -> bool {
    let Ok(store) = Store::connect(address) else {
        return false;
    };
    let lock = store.lock("free").ttl(Duration::from_secs(1));
    let lock = lock.wait(FIRST_GRANT).open().expect("a lock");
    lock.blocking_lease(&listening.to_string()).is_ok()
}

fn free_port(random: &mut Rng) -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut ports = std::iter::repeat_with(|| random.u16(PORTS));
    ports.find(is_free).expect("a free port")
}
