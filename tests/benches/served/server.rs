//! A server as a process of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::link::{Address, Transport};
use super::serving::Role;

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server, killed once it is dropped.
pub struct Server {
    child: Child,
    unix: Address,
    tcp: Address,
    _dir: TempDir,
}

impl Server {
    /// One of those that this program has in itself.
    pub fn own(role: Role) -> Server {
        let dir = directory();
        let this = std::env::current_exe().expect("this program");
        let mut command = Command::new(this);
        command.args(role.arguments(dir.path()));
        // It ends as this process does, however that is.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines();
        let mut line = || lines.next().expect("an address").expect("UTF-8");
        let unix = Address::Unix(line().into());
        let tcp = Address::Tcp(line().parse().expect("an address"));
        Server {
            child,
            unix,
            tcp,
            _dir: dir,
        }
    }

    /// A peer, which is told where to listen, and started in a directory of its own.
    pub fn peer(make: impl FnOnce(&Place) -> (Command, PathBuf)) -> Server {
        let dir = directory();
        let place = Place {
            dir: dir.path().to_owned(),
            tcp: free_port(),
        };
        let (mut command, socket) = make(&place);
        let log = File::create(place.dir.join("log")).expect("a file");
        let again = log.try_clone().expect("the file");
        command.current_dir(&place.dir).stdin(Stdio::null());
        command.stdout(log).stderr(again);
        let server = Server {
            child: command.spawn().expect("it starts"),
            unix: Address::Unix(socket.clone()),
            tcp: Address::Tcp(place.tcp),
            _dir: dir,
        };
        place.wait_until(|| UnixStream::connect(&socket).is_ok());
        place.wait_until(|| TcpStream::connect(place.tcp).is_ok());
        server
    }

    pub fn address(&self, transport: Transport) -> &Address {
        match transport {
            Transport::Unix => &self.unix,
            Transport::Tcp => &self.tcp,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where a peer is to be.
pub struct Place {
    pub dir: PathBuf,
    pub tcp: SocketAddr,
}

impl Place {
    fn wait_until(&self, listens: impl Fn() -> bool) {
        let start = Instant::now();
        while !listens() {
            if start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                panic!("it does not listen:\n{log}");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// On the disk that the target directory is on: the one for temporary files may be
/// memory.
fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

/// Free until somebody else takes it: peers can't be asked which they got.
pub fn free_port() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address")
}
