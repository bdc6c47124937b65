//! Which sending time an answer echoes.

use crate::Nanoseconds;

/// What was heard of a session. An answer echoes the sending time of the latest
/// message that had come before the lease was dated. One that comes while the
/// engine is at work doesn't count, so the message before it is kept too: that
/// an echo is older than it could be only makes the client renew sooner.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard {
    /// The sending time of a message that had come before something was dated.
    settled: Nanoseconds,
    /// When the latest message came.
    came: Nanoseconds,
    /// When it was sent.
    sent: Nanoseconds,
}

impl Heard {
    /// A message came.
    pub fn note(&mut self, now: Nanoseconds, sent: Nanoseconds) {
        (self.came, self.sent) = (now, sent);
    }

    /// What an answer echoes whose lease was dated then.
    pub fn echo(&mut self, dated: Nanoseconds) -> Nanoseconds {
        if dated >= self.came {
            self.settled = self.sent;
        }
        self.settled
    }
}
