//! The command line of `hold`, and its help.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use crate::reach::Reach;
use crate::spans::span;

/// Run a command while holding a key (Unix)
///
/// Waits in line for the key, runs the command, and releases the key when the
/// command has ended. The store is one that `witlock serve` serves.
#[derive(Debug, Args)]
#[command(after_help = MORE, verbatim_doc_comment)]
#[cfg_attr(not(unix), expect(dead_code, reason = "there it is refused"))]
pub struct Hold {
    /// The lock's name, or with --limit the semaphore's
    #[arg(value_name = "LOCK")]
    pub lock: String,

    /// The key
    #[arg(value_name = "KEY")]
    pub key: String,

    #[command(flatten)]
    pub reach: Reach,

    /// The command must end once the store was out of reach so long: 1s to 1h
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = span)]
    pub ttl: Duration,

    /// How long to wait in line; 0s is --try
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = span)]
    pub wait: Duration,

    /// Take the key only if it is free
    #[arg(long = "try", conflicts_with = "wait")]
    pub is_try: bool,

    /// How long the key may be held at all; then the command must end
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub max_hold: Option<Duration>,

    /// LOCK is a semaphore: so many may hold the key at a time, 1 to 1000
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,

    /// What `witlock ls` shows beside the lease
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

const MORE: &str = "\
SPAN is a whole number and its unit, as in 500ms, 30s, 5m or 2h.

Examples:
  One deployment at a time, the others in line for up to five minutes:
      witlock hold deploy production --store ./locks --wait 5m -- ./deploy.sh
  A cron job that is not run twice at once:
      witlock hold jobs cleanup --connect tcp:127.0.0.1:7411 --try -- ./cleanup.sh
  At most three downloads:
      witlock hold downloads mirror --store ./locks --limit 3 -- wget URL

Environment:
  WITLOCK_CONNECT     where the store is served, without --connect and --store
  WITLOCK_TOKEN       the token for a server on TCP; or
  WITLOCK_TOKEN_FILE  a file with it
  WITLOCK_TLS_ROOTS   for tls: the file with the certificates that vouch for it, PEM
The command gets these as they are, for a `witlock hold` of its own, and besides
  WITLOCK_FENCE       the lease's fence: hand it to what the command writes to
  WITLOCK_LOCK        LOCK
  WITLOCK_KEY         KEY

Exit codes:
  115  the key was still held when the wait ran out, or at --try
  116  the lease was lost while the command ran, even if the command succeeded
  117  the store cannot be reached, or cannot give keys
  118  the store refuses: a wrong token, an argument out of its bounds
  125  witlock itself failed
  126  the command cannot be run
  127  there is no such command
  2    the arguments are wrong
  128 + the number of the signal that ended the command, or ended the wait
  else the command's own code
A command that ends by SIGTERM before its lease is over has 143: nothing was lost.
All but the last two with a message on standard error. With 2, 115, 117, 118, 126
and 127 the command did not run.

The command is dead before the store can give the key to another. Its process group
gets SIGTERM when no renewal was answered for 5/6 of the ttl, and as long before the
end of --max-hold (of a --max-hold shorter than the ttl: at 5/6 of it); SIGKILL at
the lease's own deadline, and whenever this process is killed. Exceptions:
  - After `witlock break`, or when the store closed, the key may have gone on
    before: the group gets SIGTERM at once and SIGKILL a second later.
  - A process that leaves the command's process group (setsid, daemons, the jobs of
    an interactive shell) is not covered.
What the command leaves behind of its group is killed before the key is released.

HUP, INT, QUIT, TERM, USR1, USR2, ALRM, WINCH and CONT are given on to the command's
group, but for those that this process was started to ignore. While it waits for
the key, HUP, INT, QUIT and TERM end it. Stopped, by Ctrl-Z too, it renews nothing:
the command then ends by its deadline.";
