//! The guardian while the command runs.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::process::{Pid, Signal};
use witlock::clock::{Alarm, BootClock, Clock};

use super::group::{Change, Group, next_change};
use super::messages::{Moments, News, Order};
use super::{Orders, next, tell};

/// A moment that never comes.
const NEVER: u64 = u64::MAX;

pub struct Watch {
    group: Group,
    wrapper: UnixStream,
    moments: Moments,
    /// Whether the command was asked to end.
    is_told: bool,
    alarm: Arc<dyn Alarm>,
}

/// What may happen meanwhile.
enum Event {
    Order(Order),
    /// The wrapper died.
    Abandoned,
    Rung,
    Command(Change),
}

impl Watch {
    pub fn new(group: Group, wrapper: UnixStream, moments: Moments) -> io::Result<Watch> {
        let alarm = BootClock.alarm().inspect_err(|_| group.kill())?;
        Ok(Watch {
            group,
            wrapper,
            moments,
            is_told: false,
            alarm: Arc::from(alarm),
        })
    }

    /// Acts on what happens until the command ends, and tells of it.
    pub fn run(mut self, orders: Orders) -> io::Result<()> {
        let events = self.listen(orders).inspect_err(|_| self.group.kill())?;
        loop {
            self.enforce();
            match events.recv() {
                Ok(Event::Order(order)) => self.obey(order),
                Ok(Event::Abandoned) => self.moments = Moments { term: 0, kill: 0 },
                Ok(Event::Rung) => {}
                Ok(Event::Command(Change::Stopped(signal))) => self.tell(&News::Stopped(signal)),
                Ok(Event::Command(Change::Ended)) | Err(_) => break,
            }
        }
        let Watch { group, wrapper, .. } = self;
        tell(&wrapper, &News::Ended(group.end()?));
        Ok(())
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Until(moments) => self.moments = moments,
            Order::Signal(number) => {
                if let Some(signal) = Signal::from_named_raw(number) {
                    self.group.signal(signal);
                }
            }
        }
    }

    /// Does what is due, and sets the alarm to what is due next.
    fn enforce(&mut self) {
        let now = BootClock.now();
        if now >= self.moments.kill {
            self.group.kill();
            return self.alarm.set(NEVER);
        }
        if now >= self.moments.term && !self.is_told {
            self.is_told = true;
            self.group.terminate();
            self.tell(&News::Terminating);
        }
        let next = if self.is_told {
            NEVER
        } else {
            self.moments.term
        };
        self.alarm.set(next.min(self.moments.kill));
    }

    fn tell(&self, news: &News) {
        tell(&self.wrapper, news);
    }

    /// A thread for each of what may happen.
    fn listen(&self, mut orders: Orders) -> io::Result<Receiver<Event>> {
        let (heard, events) = channel();
        let command = self.group.id();
        let alarm = self.alarm.clone();
        thread("command", &heard, move |heard| {
            tell_changes(command, &heard)
        })?;
        thread("alarm", &heard, move |heard| {
            loop {
                alarm.wait();
                if heard.send(Event::Rung).is_err() {
                    return;
                }
            }
        })?;
        thread("orders", &heard, move |heard| {
            while let Some(order) = next(&mut orders) {
                let _ = heard.send(Event::Order(order));
            }
            let _ = heard.send(Event::Abandoned);
        })?;
        Ok(events)
    }
}

fn tell_changes(command: Pid, heard: &Sender<Event>) {
    loop {
        let change = next_change(command);
        let is_over = matches!(change, Change::Ended);
        if heard.send(Event::Command(change)).is_err() || is_over {
            return;
        }
    }
}

fn thread(
    name: &str,
    heard: &Sender<Event>,
    run: impl FnOnce(Sender<Event>) + Send + 'static,
) -> io::Result<()> {
    let heard = heard.clone();
    let thread = thread::Builder::new().name(format!("witlock-{name}"));
    thread.spawn(move || run(heard)).map(drop)
}
