//! A connection, from its first byte to its last.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::time::timeout;
use witlock_session::server::{ConnectionId, Trust};

use super::desk::Desk;
use super::link::Link;

/// How long a connection that is over is kept for its client to read why.
const LINGER: Duration = Duration::from_secs(1);

/// Serves one connection until it is over.
pub(super) async fn serve(desk: Arc<Desk>, link: Arc<Link>, trust: Trust) {
    let id = desk.connected(trust, link.clone());
    let cut = talk(&desk, &link, id).await;
    desk.disconnected(id);
    if cut.is_ok() {
        let _ = timeout(LINGER, read_out(&link)).await;
    }
}

/// Reads and writes until the server has said goodbye, or the client is gone, which
/// is an error.
async fn talk(desk: &Desk, link: &Link, id: ConnectionId) -> io::Result<()> {
    let mut changed = pin!(link.changed.notified());
    while !link.is_over() {
        let interest = interest(link);
        let ready = tokio::select! {
            // What changed is looked at each time around.
            biased;
            ready = link.socket.ready(interest) => ready?,
            () = &mut changed => {
                changed.set(link.changed.notified());
                continue;
            }
        };
        if ready.is_writable() {
            desk.write(id);
        }
        if ready.is_readable() {
            let goes_on = link.read(|arrived| match arrived.is_empty() {
                // The seal itself may have something to say.
                true => desk.write(id),
                false => desk.received(id, arrived),
            })?;
            if !goes_on {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
    Ok(())
}

fn interest(link: &Link) -> Interest {
    match link.has_unsent() {
        true => Interest::READABLE | Interest::WRITABLE,
        false => Interest::READABLE,
    }
}

/// Writes what is left. What arrives meanwhile is dropped: a socket that is closed
/// with something unread takes back what it sent.
async fn read_out(link: &Link) -> io::Result<()> {
    while link.has_unsent() {
        link.socket.ready(Interest::WRITABLE).await?;
        link.write(true, |_| true);
    }
    link.socket.end();
    while link.socket.ready(Interest::READABLE).await.is_ok() {
        if !link.read(|_| ())? {
            break;
        }
    }
    Ok(())
}
