//! Does to a run, by its seed, what it is to bear.

use std::time::{Duration, Instant};

use witlock_tests::record::Moment;

use crate::faults::Span;
use crate::pack::{Card, Pack};
use crate::processes::Process;
use crate::proxy::{Flow, PASSES};
use crate::run::{Run, now};

/// Whom something is done to. One thing at a time is done to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Server,
    Client(usize),
    Way(usize),
}

/// What is to end.
#[derive(Debug, Clone, Copy)]
enum Ends {
    Pause,
    Absence,
    /// Bytes were lost, so nothing may pass by the same connections later.
    Loss,
    Delay,
}

/// Something that is being done.
struct Ongoing {
    target: Target,
    ends: Ends,
    from: Moment,
    at: Instant,
}

pub struct Driver {
    run: Run,
    ongoing: Vec<Ongoing>,
    pack: Pack,
}

impl Driver {
    pub fn new(run: Run) -> Self {
        Driver {
            pack: Pack::new(run.settings.restarts),
            run,
            ongoing: Vec::new(),
        }
    }

    /// Goes on for this long.
    pub fn go_on(&mut self, span: Duration) {
        let until = Instant::now() + span;
        while Instant::now() < until {
            self.end_what_is_due(Instant::now());
            self.check_processes();
            self.do_something();
            let pause = self.millis(50, 300);
            self.sleep(pause);
        }
    }

    /// Looks at the run, while it goes on.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Ends all that is being done.
    pub fn end(mut self) -> Run {
        while let Some(ongoing) = self.ongoing.pop() {
            self.end_one(&ongoing);
        }
        self.run
    }

    /// Sleeps, but for what is to end meanwhile.
    fn sleep(&mut self, span: Duration) {
        let until = Instant::now() + span;
        let next = |ongoing: &[Ongoing]| ongoing.iter().map(|it| it.at).min();
        while let Some(at) = next(&self.ongoing).filter(|at| *at < until) {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            self.end_what_is_due(at);
        }
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
    }

    fn end_what_is_due(&mut self, now: Instant) {
        while let Some(due) = self.ongoing.iter().position(|it| it.at <= now) {
            let ongoing = self.ongoing.swap_remove(due);
            self.end_one(&ongoing);
        }
    }

    /// None ends before it is told to, but by a kill.
    fn check_processes(&mut self) {
        let server = self.run.server.as_mut();
        assert!(server.is_none_or(Process::is_alive), "the server ended");
        for client in &mut self.run.clients {
            let is_alive = client.process.as_mut().is_none_or(Process::is_alive);
            assert!(is_alive, "client {} ended", client.number);
        }
    }

    /// Plays the next card, if there is somebody free to whom it can be done.
    fn do_something(&mut self) {
        let card = self.pack.next(&mut self.run.random);
        let targets: Vec<_> = match card {
            Card::KillServer | Card::PauseServer => vec![Target::Server],
            Card::KillClient | Card::PauseClient => {
                (0..self.run.spared).map(Target::Client).collect()
            }
            Card::Cut | Card::Lose | Card::Delay => {
                (0..self.run.ways.len()).map(Target::Way).collect()
            }
        };
        let is_free = |target: &Target| self.ongoing.iter().all(|it| it.target != *target);
        let free: Vec<_> = targets.into_iter().filter(is_free).collect();
        let Some(target) = self.run.random.choice(free) else {
            return;
        };
        match (card, target) {
            (Card::KillServer, _) => self.kill_server(),
            (_, Target::Server) => self.pause_server(),
            (Card::KillClient, Target::Client(at)) => self.kill_client(at),
            (_, Target::Client(at)) => self.pause_client(at),
            (Card::Cut, Target::Way(at)) => self.run.done.cuts += self.run.ways[at].cut(),
            (card, Target::Way(at)) => self.disturb(at, card),
        }
    }

    fn begin(&mut self, target: Target, ends: Ends, from: Moment, span: Duration) {
        self.ongoing.push(Ongoing {
            target,
            ends,
            from,
            at: Instant::now() + span,
        });
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.run.random.u64(from..to))
    }

    /// Mostly longer than a ttl.
    fn pause(&mut self) -> Duration {
        match self.run.random.u32(0..4) {
            0 => self.millis(50, 900),
            _ => self.millis(1_050, 2_000),
        }
    }

    fn kill_server(&mut self) {
        let from = now();
        self.run.server.take().expect("a server").kill();
        self.run.done.server_kills += 1;
        let absence = self.millis(0, 500);
        self.begin(Target::Server, Ends::Absence, from, absence);
    }

    fn pause_server(&mut self) {
        let from = now();
        self.run.server.as_ref().expect("a server").pause();
        self.run.done.server_pauses += 1;
        let pause = self.pause();
        self.begin(Target::Server, Ends::Pause, from, pause);
    }

    fn kill_client(&mut self, at: usize) {
        let from = now();
        let client = &mut self.run.clients[at];
        client.process.take().expect("a process").kill();
        self.run.faults.killed.insert(client.number);
        self.run.done.client_kills += 1;
        let absence = self.millis(0, 500);
        self.begin(Target::Client(at), Ends::Absence, from, absence);
    }

    fn pause_client(&mut self, at: usize) {
        let from = now();
        self.run.clients[at]
            .process
            .as_ref()
            .expect("a process")
            .pause();
        self.run.done.client_pauses += 1;
        let pause = self.pause();
        self.begin(Target::Client(at), Ends::Pause, from, pause);
    }

    fn disturb(&mut self, at: usize, card: Card) {
        let (from, span) = (now(), self.millis(100, 2_000));
        let done = &mut self.run.done;
        let (flow, ends) = match card {
            Card::Lose => {
                done.holes += 1;
                (Flow::Vanishes, Ends::Loss)
            }
            _ => {
                done.delays += 1;
                (self.delay(), Ends::Delay)
            }
        };
        let (to_server, to_client) = match self.run.random.u32(0..3) {
            0 => (flow, PASSES),
            1 => (PASSES, flow),
            _ => (flow, flow),
        };
        self.run.ways[at].set(to_server, to_client);
        self.begin(Target::Way(at), ends, from, span);
    }

    /// Everything at once in the end, or all the time a little late.
    fn delay(&mut self) -> Flow {
        match self.run.random.bool() {
            true => Flow::Waits,
            false => Flow::Passes(self.millis(5, 200)),
        }
    }

    fn end_one(&mut self, ongoing: &Ongoing) {
        let run = &mut self.run;
        let from = ongoing.from;
        match (ongoing.target, ongoing.ends) {
            (Target::Server, Ends::Pause) => {
                run.server.as_ref().expect("a server").go_on();
                let until = now();
                run.faults.server.push(Span { from, until });
            }
            (Target::Server, _) => {
                run.start_server();
                run.ask_for_a_free_key();
                let until = now();
                run.faults.server.push(Span { from, until });
            }
            (Target::Client(at), Ends::Pause) => {
                let client = &run.clients[at];
                client.process.as_ref().expect("a process").go_on();
                let span = Span { from, until: now() };
                run.faults.paused.push((client.number, span));
            }
            (Target::Client(at), _) => run.start_client(at),
            (Target::Way(at), ends) => {
                if matches!(ends, Ends::Loss) {
                    run.ways[at].cut();
                }
                run.ways[at].set(PASSES, PASSES);
            }
        }
    }
}
