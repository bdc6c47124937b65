//! The command under its lease.

use std::time::Duration;

use anyhow::anyhow;
use rustix::process::{Pid, Signal, kill_process_group};
use witlock::clock::{BootClock, Clock};
use witlock::{Ending, Lease};

use super::guardian::Guardian;
use super::signals::Signals;
use super::terminal::Terminal;
use crate::codes::{self, Failure};
use crate::guardian::{Moments, News, Order, until_gone};

/// How long a command may take to end when its key may have gone on already.
const LAST: Duration = Duration::from_secs(1);

/// Which part of the ttl a command has to end in by itself.
const GRACE: u32 = 6;

pub struct Held<'a> {
    lease: &'a Lease,
    guardian: Guardian,
    signals: &'a mut Signals,
    terminal: Option<Terminal>,
    /// How long before the deadline the command is asked to end.
    grace: u64,
    /// The lease's deadline, as the guardian knows it.
    deadline: Option<u64>,
    /// The command's process group, once it runs.
    group: Option<Pid>,
    is_over: bool,
}

impl<'a> Held<'a> {
    /// `shortest` is the ttl, or the max-hold if that is shorter.
    pub fn new(
        lease: &'a Lease,
        guardian: Guardian,
        signals: &'a mut Signals,
        shortest: Duration,
    ) -> Self {
        let grace = nanoseconds(shortest / GRACE);
        Held {
            lease,
            guardian,
            signals,
            terminal: Terminal::ours(),
            grace,
            deadline: lease.deadline(),
            group: None,
            is_over: false,
        }
    }

    /// Runs the command, and gives its exit code once it ended and the key is
    /// released.
    pub async fn run(mut self) -> Result<u8, Failure> {
        self.guardian.tell(Order::Until(self.moments())).await;
        let ended = self.until_ended().await;
        if let (Some(terminal), Some(group)) = (&self.terminal, self.group) {
            terminal.take_from(group);
        }
        // A loss is told before what came of it.
        let kept = release(self.lease).await;
        self.guardian.reap();
        kept.and(ended)
    }

    async fn until_ended(&mut self) -> Result<u8, Failure> {
        loop {
            tokio::select! {
                news = self.guardian.news() => match news {
                    None => return Err(self.end_unguarded()),
                    Some(News::Ended(code)) => return Ok(code),
                    Some(News::Unstartable { code, why }) => {
                        return Err(Failure::new(code, anyhow!(why)));
                    }
                    Some(news) => self.hear(news).await,
                },
                signal = self.signals.next() => self.give_on(signal).await,
                () = self.lease.until_renewed(self.deadline), if !self.is_over => self.look().await,
            }
        }
    }

    async fn hear(&mut self, news: News) {
        match news {
            News::Started(group) => {
                self.group = Pid::from_raw(group);
                // It may have been stopped by the terminal before it was in front.
                self.come_to_front().await;
            }
            News::Stopped(signal) => self.stopped(signal).await,
            News::Terminating => log::warn!("{}", self.why_terminating()),
            News::Ended(_) | News::Unstartable { .. } => {}
        }
    }

    async fn stopped(&mut self, signal: i32) {
        let (Some(terminal), Some(group)) = (&self.terminal, self.group) else {
            return;
        };
        if Terminal::stops_who_is_behind(signal) && terminal.is_ours_or(group) {
            // It used the terminal before it was in front.
            self.come_to_front().await;
        } else {
            terminal.stop_with(group);
        }
    }

    async fn come_to_front(&mut self) {
        if let (Some(terminal), Some(group)) = (&self.terminal, self.group) {
            terminal.give_to(group);
            let go_on = Order::Signal(Signal::CONT.as_raw());
            self.guardian.tell(go_on).await;
        }
    }

    async fn give_on(&mut self, signal: i32) {
        if signal == Signal::CONT.as_raw() {
            self.come_to_front().await;
        }
        self.guardian.tell(Order::Signal(signal)).await;
    }

    /// Tells the guardian what became of the lease.
    async fn look(&mut self) {
        self.is_over = self.lease.ended().is_some();
        if self.is_over {
            let last = BootClock.now() + nanoseconds(LAST);
            self.deadline = Some(self.deadline.map_or(last, |deadline| deadline.min(last)));
            // It is to be asked at once.
            self.grace = u64::MAX;
        } else {
            self.deadline = self.lease.deadline();
        }
        self.guardian.tell(Order::Until(self.moments())).await;
    }

    /// When the command is to end unless the lease is renewed.
    fn moments(&self) -> Moments {
        // Leases over a connection have one.
        let kill = self.deadline.unwrap_or(u64::MAX);
        Moments {
            term: kill.saturating_sub(self.grace),
            kill,
        }
    }

    fn why_terminating(&self) -> String {
        let why = match self.lease.ended() {
            Some(how) => format!("its lease is over ({how})"),
            None => "its lease will be over soon, and is not renewed".to_owned(),
        };
        format!("the command was sent SIGTERM: {why}")
    }

    /// Kills the command, for nobody else would in time.
    fn end_unguarded(&self) -> Failure {
        let Some(group) = self.group else {
            let why = anyhow!("the guardian died before it had started the command");
            return Failure::new(codes::BROKEN_OURSELVES, why);
        };
        // The number may be another's only once all of the group have ended.
        let _ = kill_process_group(group, Signal::KILL);
        until_gone(group);
        let why = anyhow!("the guardian of the command died; the command was killed");
        Failure::new(codes::LOST, why)
    }
}

async fn release(lease: &Lease) -> Result<(), Failure> {
    let released = match lease.ended() {
        // The store need not be asked, and may be out of reach.
        Some(how) => Err(how),
        None => lease.release().await,
    };
    released.map_err(lost)
}

fn lost(how: Ending) -> Failure {
    let why = anyhow!(
        "the lease was lost while the command ran: {how}. What the command did may have run \
         beside another holder"
    );
    Failure::new(codes::LOST, why)
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
