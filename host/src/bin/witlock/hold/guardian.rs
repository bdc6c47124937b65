//! The wrapper's side of its guardian.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command};

use rustix::io::{FdFlags, fcntl_setfd};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::guardian::{News, Order};

pub struct Guardian {
    process: Child,
    news: Lines<BufReader<OwnedReadHalf>>,
    orders: OwnedWriteHalf,
}

impl Guardian {
    /// Starts the guardian of a command, which runs from the first order on,
    /// with these variables besides this process's own.
    pub fn start<'a>(
        command: &[impl AsRef<OsStr>],
        variables: impl IntoIterator<Item = (&'a str, String)>,
    ) -> io::Result<Guardian> {
        let (ours, its) = StdStream::pair()?;
        let its = OwnedFd::from(its);
        // Nothing else in this process starts another in the meantime.
        fcntl_setfd(&its, FdFlags::empty())?;
        let process = Command::new(ourselves()?)
            .arg0("witlock")
            .args(["guardian", "--wrapper", &its.as_raw_fd().to_string(), "--"])
            .args(command)
            .envs(variables)
            // A terminal's signals are for the command. It is no session of its
            // own, in which the command would have no terminal.
            .process_group(0)
            .spawn()?;
        ours.set_nonblocking(true)?;
        let (news, orders) = UnixStream::from_std(ours)?.into_split();
        Ok(Guardian {
            process,
            news: BufReader::new(news).lines(),
            orders,
        })
    }

    /// Tells it an order. That it is dead is told by [`news`](Guardian::news).
    pub async fn tell(&mut self, order: Order) {
        let Ok(mut line) = serde_json::to_vec(&order) else {
            return;
        };
        line.push(b'\n');
        let _ = self.orders.write_all(&line).await;
    }

    /// The next that it tells; none once it is dead. Dropping this future loses
    /// nothing.
    pub async fn news(&mut self) -> Option<News> {
        let line = self.news.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    /// Waits for its end, which has come.
    pub fn reap(&mut self) {
        let _ = self.process.wait();
    }
}

/// This program. Another may have taken its place since it was started, and
/// speak to its guardian otherwise.
fn ourselves() -> io::Result<PathBuf> {
    match cfg!(any(target_os = "linux", target_os = "android")) {
        true => Ok(PathBuf::from("/proc/self/exe")),
        false => std::env::current_exe(),
    }
}
