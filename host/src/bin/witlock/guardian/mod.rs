//! The guardian of a command that runs under a lease: its parent, which ends it
//! when the wrapper that holds the lease dies, stands still, or says so.
//!
//! It is a process of its own, for the wrapper may be killed or stopped at any
//! time. The wrapper tells it each new deadline; when no newer one comes, it
//! acts by the last.

mod group;
mod messages;
mod watch;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use rustix::io::{FdFlags, fcntl_setfd};
use witlock::clock::{BootClock, Clock};

use crate::codes::{self, Failure};
use crate::dispositions;
use group::Group;
use watch::Watch;

pub use group::until_gone;
pub use messages::{Moments, News, Order};

/// Guard a command; `witlock hold` starts it
#[derive(Debug, Args)]
pub struct Guardian {
    /// The open descriptor of a socket to the wrapper
    #[arg(long)]
    pub wrapper: RawFd,

    /// The command and its arguments
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// The wrapper's orders as they come.
type Orders = Lines<BufReader<UnixStream>>;

/// Guards the command to its end. What there is to say is told to the wrapper.
pub fn run(args: &Guardian) -> Result<u8> {
    dispositions::outlast_signals();
    let wrapper = adopt(args.wrapper).context("this is for `witlock hold` to start")?;
    let mut orders = BufReader::new(wrapper.try_clone()?).lines();
    let Some(Order::Until(moments)) = next(&mut orders) else {
        // The wrapper died before the command ran.
        return Ok(0);
    };
    match start(&args.command, &wrapper, moments) {
        Ok(group) => Watch::new(group, wrapper, moments)?.run(orders)?,
        Err(failure) => {
            let Failure { code, .. } = failure;
            let why = failure.to_string();
            tell(&wrapper, &News::Unstartable { code, why });
        }
    }
    Ok(0)
}

/// The socket that was opened for this process.
fn adopt(wrapper: RawFd) -> Result<UnixStream> {
    // SAFETY: the wrapper opened it for this process to own, and nothing in it
    // knows of it yet.
    let wrapper = unsafe { OwnedFd::from_raw_fd(wrapper) };
    // The command must not have it: it would look as if the wrapper lived.
    fcntl_setfd(&wrapper, FdFlags::CLOEXEC)?;
    Ok(UnixStream::from(wrapper))
}

fn start(command: &[OsString], wrapper: &UnixStream, moments: Moments) -> Result<Group, Failure> {
    if moments.kill <= BootClock.now() {
        let late = anyhow!("the lease was over before the command could start");
        return Err(Failure::new(codes::LOST, late));
    }
    Group::start(command, wrapper)
}

/// The next order; none once the wrapper is gone, or speaks what is no order.
fn next(orders: &mut Orders) -> Option<Order> {
    let line = orders.next()?.ok()?;
    serde_json::from_str(&line).ok()
}

/// Tells the wrapper, if it lives.
fn tell(mut wrapper: &UnixStream, news: &News) {
    let Ok(mut line) = serde_json::to_vec(news) else {
        return;
    };
    line.push(b'\n');
    let _ = wrapper.write_all(&line);
}
