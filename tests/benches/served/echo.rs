//! A server that does nothing: the floor. It reads and writes what a store's server
//! does, byte for byte as long, and answers each message with itself.

use std::path::Path;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Builder;
use witlock_session::wire::{Frames, Lease, MESSAGE_BYTES, ToStore, to_store};

use super::link::{Arrived, Stream};
use super::raw::{Answer, Protocol};
use super::serving;
use super::witlock::{Says, feed};

/// As much as a store's server reads at once.
const READ_BYTES: usize = 16 << 10;

pub struct Echo {
    says: Says,
    frames: Frames,
}

impl Echo {
    pub fn new(keys: Vec<String>) -> Self {
        Echo {
            says: Says::new(keys),
            frames: Frames::default(),
        }
    }
}

impl Protocol for Echo {
    fn greet(&mut self, out: &mut Vec<u8>) {
        self.says.hello(out);
    }

    fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.says.hold(caller, out);
    }

    fn release(&mut self, caller: usize, out: &mut Vec<u8>) {
        // As long as those of a store are.
        let (fence, secret) = (1 << 50, 1);
        self.says.release(caller, Lease { fence, secret }, out);
    }

    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer> {
        feed(&mut self.frames, arrived);
        let message: ToStore = self.frames.next(MESSAGE_BYTES).expect("messages")?;
        let caller = Says::caller(message.session);
        Some(match message.body {
            Some(to_store::Body::Hello(_)) => Answer::Welcome,
            Some(to_store::Body::Hold(_)) => Answer::Held(caller),
            Some(to_store::Body::Release(_)) => Answer::Released(caller),
            other => panic!("echoed {other:?}"),
        })
    }
}

/// Says where it listens, and echoes until who started it is gone.
pub fn serve(socket: &Path) {
    std::thread::spawn(|| {
        serving::until_orphaned();
        std::process::exit(0);
    });
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let unix = UnixListener::bind(socket).expect("a socket");
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", socket.display());
        println!("{}", tcp.local_addr().expect("its address"));
        tokio::spawn(async move {
            loop {
                let (stream, _) = unix.accept().await.expect("a connection");
                tokio::spawn(echo(stream));
            }
        });
        loop {
            let (stream, _) = tcp.accept().await.expect("a connection");
            stream.set_nodelay(true).expect("a TCP socket");
            tokio::spawn(echo(stream));
        }
    });
}

async fn echo(mut stream: impl Stream) {
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(some @ 1..) = stream.read(&mut bytes).await {
        if stream.write_all(&bytes[..some]).await.is_err() {
            break;
        }
    }
}
