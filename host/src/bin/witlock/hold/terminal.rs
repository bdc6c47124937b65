//! The terminal, if a person sits before it: who runs in its foreground may read
//! from it and gets its Ctrl-C.

use std::io::{IsTerminal, stdin};

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::dispositions;

pub struct Terminal {
    /// Our own process group.
    ours: Pid,
}

impl Terminal {
    /// The terminal of this process, if that is its standard input.
    pub fn ours() -> Option<Terminal> {
        let has_one = stdin().is_terminal() && tcgetpgrp(stdin()).is_ok();
        has_one.then(|| Terminal { ours: getpgrp() })
    }

    /// Puts the command in the foreground in our place, if we are there.
    pub fn give_to(&self, command: Pid) {
        move_foreground(self.ours, command);
    }

    /// Puts us there in the command's place.
    pub fn take_from(&self, command: Pid) {
        move_foreground(command, self.ours);
    }

    /// Whether this signal stops whoever uses a terminal without being in its
    /// foreground.
    pub fn stops_who_is_behind(signal: i32) -> bool {
        [Signal::TTIN, Signal::TTOU]
            .map(Signal::as_raw)
            .contains(&signal)
    }

    /// Whether we or the command are in the foreground.
    pub fn is_ours_or(&self, command: Pid) -> bool {
        tcgetpgrp(stdin()).is_ok_and(|front| front == self.ours || front == command)
    }

    /// Stops this process as its command was stopped, for whoever started it to
    /// see. Returns when it goes on.
    pub fn stop_with(&self, command: Pid) {
        self.take_from(command);
        // It can be sent to ourselves, always.
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

fn move_foreground(from: Pid, to: Pid) {
    if tcgetpgrp(stdin()) == Ok(from) {
        // Refused where the command ended just now, or the terminal went.
        let _ = dispositions::from_background(|| tcsetpgrp(stdin(), to));
    }
}
