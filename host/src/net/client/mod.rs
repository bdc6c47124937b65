//! A store that another process serves, behind a store's handle.

mod answers;
mod backend;
mod link;
mod questions;
mod remote;

use std::sync::Arc;
use std::thread::JoinHandle;

pub(crate) use link::Dialer;
pub(crate) use remote::Remote;

use crate::driver::lock;
use std::sync::Mutex;

/// A store that is reached over a connection, and the threads that keep it.
pub(crate) struct There {
    remote: Arc<Remote>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl There {
    pub fn new(remote: Arc<Remote>, threads: Vec<JoinHandle<()>>) -> Self {
        let threads = Mutex::new(threads);
        There { remote, threads }
    }

    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Lets everything go, and tells the server, if it can be told soon.
    pub fn close(&self) {
        self.remote.close();
        for thread in lock(&self.threads).drain(..) {
            // A thread that is woken by its own doing can't wait for itself.
            if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
                log::error!("a thread of the connection panicked");
            }
        }
    }
}
