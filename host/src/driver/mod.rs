//! Drives the engine. A caller that finds it free, and nothing queued, steps it with
//! its one command; otherwise commands are queued, and whoever has the engine runs
//! all that is queued in one step. The answers wake whom they are for.
//!
//! Nothing waits while it holds the engine, and nobody is woken before it was
//! let go. Two threads of the store's own stand beside: one ends what is due,
//! the other reserves fences (see `threads`).

mod asks;
mod backend;
mod block_on;
mod machine;
mod outlet;
mod queue;
mod threads;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use witlock_engine::LeaseId;

pub(crate) use asks::{Ask, Granted, Phase, Wakers, lock};
pub(crate) use block_on::block_on;
pub(crate) use machine::{Blueprint, Hold, wit};
pub(crate) use outlet::{REMOTE, Told};
pub(crate) use threads::{FenceOrders, Threads};

use crate::LockError;
use crate::clock::{Alarm, Clock};
use crate::error::OpenError;
use crate::grace::Grace;
use asks::try_lock;
use machine::Machine;
use queue::{NEVER, Queue, release_command};

/// How many steps a caller runs before it leaves those of others to the store's
/// own thread: under a load that never ends it has work of its own to do.
const ROUNDS: usize = 32;

/// One store's engine, and all that waits for it.
pub(crate) struct Driver {
    clock: Arc<dyn Clock>,
    alarm: Box<dyn Alarm>,
    blueprint: Blueprint,
    queue: Mutex<Queue>,
    engine: Mutex<Running>,
    fences: FenceOrders,
    grace: Grace,
}

/// The engine, and for when the alarm is set.
struct Running {
    /// None once it trapped and could not be started again.
    machine: Option<Machine>,
    alarm_at: u64,
}

impl Driver {
    pub fn start(
        clock: Arc<dyn Clock>,
        blueprint: Blueprint,
        fences: FenceOrders,
        grace: Grace,
    ) -> Result<Self, OpenError> {
        let alarm = clock.alarm().map_err(OpenError::Clock)?;
        let machine = start_machine(&blueprint, grace.until(), clock.now());
        let machine = machine.map_err(|error| OpenError::Engine(format!("{error:#}")))?;
        let running = Running {
            machine: Some(machine),
            alarm_at: NEVER,
        };
        Ok(Driver {
            clock,
            alarm,
            blueprint,
            queue: Mutex::default(),
            engine: Mutex::new(running),
            fences,
            grace,
        })
    }

    /// What may be live of leases over connections.
    pub fn grace(&self) -> &Grace {
        &self.grace
    }

    /// Releases a lease by what names it.
    fn release_by(&self, id: LeaseId) {
        let call = |machine: &mut Machine, now| machine.release(now, id.into());
        if self.has_commands() || !self.step_at_once(call) {
            self.command(release_command(id));
        }
    }

    /// A command that is answered once.
    async fn request(
        &self,
        command: impl FnOnce(u64) -> wit::Command,
    ) -> Result<wit::Event, LockError> {
        let reply = {
            let mut queue = lock(&self.queue);
            if queue.closed {
                return Err(LockError::Closed);
            }
            let (tag, reply) = queue.asks.add_reply();
            queue.commands.push(command(tag));
            reply
        };
        self.run();
        poll_fn(|context: &mut Context<'_>| reply.poll(context)).await
    }

    /// Wakes a server when it is to be [`told`](Driver::told) something.
    pub fn open_outlet(&self, waker: Waker) {
        lock(&self.queue).outlet.open(waker);
    }

    /// What a server was not told yet, in its order.
    pub fn told(&self) -> Vec<Told> {
        lock(&self.queue).outlet.take()
    }

    /// Does what a server asks.
    pub fn submit(&self, commands: impl IntoIterator<Item = wit::Command>) {
        lock(&self.queue).commands.extend(commands);
        self.run();
    }

    /// Runs until nothing is queued: more than a caller runs for others.
    pub fn run_all(&self) {
        while self.has_commands() {
            self.run_due();
        }
    }

    fn command(&self, command: wit::Command) {
        lock(&self.queue).commands.push(command);
        self.run();
    }

    /// Adds fences, or says why there are none.
    pub fn fences_came(&self, fences: Result<std::ops::Range<u64>, String>) {
        self.command(match fences {
            Ok(range) => wit::Command::AddFences(wit::Fences {
                first: range.start,
                end: range.end,
            }),
            Err(why) => wit::Command::FencesFailed(why),
        });
    }

    /// Runs what is queued, unless another thread has the engine, which then
    /// runs it.
    fn run(&self) {
        for _ in 0..ROUNDS {
            if !self.has_commands() {
                return;
            }
            let Some(mut engine) = try_lock(&self.engine) else {
                return;
            };
            let mut wakers = Wakers::new();
            self.step(&mut engine, &mut wakers);
            drop(engine);
            wake(wakers);
        }
        // The thread that ends what is due goes on with it.
        self.alarm.set(0);
    }

    fn has_commands(&self) -> bool {
        !lock(&self.queue).commands.is_empty()
    }

    /// Steps once whatever is queued: something is due. Tells when next.
    fn run_due(&self) -> Option<u64> {
        let mut wakers = Wakers::new();
        let next = {
            let mut engine = lock(&self.engine);
            engine.alarm_at = NEVER;
            self.step(&mut engine, &mut wakers);
            (engine.alarm_at != NEVER).then_some(engine.alarm_at)
        };
        wake(wakers);
        // What came while this thread had the engine.
        self.run();
        next
    }

    /// Steps with one command that nothing queued comes before; false if another
    /// thread has the engine.
    fn step_at_once(
        &self,
        call: impl FnOnce(&mut Machine, u64) -> wasmtime::Result<wit::Answer>,
    ) -> bool {
        let Some(mut engine) = try_lock(&self.engine) else {
            return false;
        };
        let mut wakers = Wakers::new();
        self.step_once(&mut engine, call, &mut wakers);
        drop(engine);
        wake(wakers);
        // What came while this thread had the engine.
        self.run();
        true
    }

    fn step_once(
        &self,
        engine: &mut Running,
        call: impl FnOnce(&mut Machine, u64) -> wasmtime::Result<wit::Answer>,
        wakers: &mut Wakers,
    ) {
        let stepped = self.call(engine, wakers, |machine, now| {
            let answer = call(machine, now)?;
            let untold = (answer.told == wit::Told::More).then(|| machine.untold());
            Ok((answer, untold.transpose()?))
        });
        let Some((dated, (answer, untold))) = stepped else {
            return;
        };
        match untold {
            None => lock(&self.queue).hand_out(dated, &answer, wakers),
            Some(events) => self.dispatch(dated, events, Vec::new(), wakers),
        }
        self.set_alarm(engine, answer.next_deadline);
    }

    fn step(&self, engine: &mut Running, wakers: &mut Wakers) {
        let mut commands = std::mem::take(&mut lock(&self.queue).commands);
        let step = |machine: &mut Machine, now| machine.step(now, &commands);
        let Some((dated, outcome)) = self.call(engine, wakers, step) else {
            return;
        };
        commands.drain(..outcome.handled as usize);
        self.dispatch(dated, outcome.events, commands, wakers);
        self.set_alarm(engine, outcome.next_deadline.unwrap_or(NEVER));
    }

    /// What a call of the engine came to, and at what moment; none where the engine is gone or trapped,
    /// and everyone was answered.
    fn call<T>(
        &self,
        engine: &mut Running,
        wakers: &mut Wakers,
        call: impl FnOnce(&mut Machine, u64) -> wasmtime::Result<T>,
    ) -> Option<(u64, T)> {
        let Some(machine) = &mut engine.machine else {
            self.answer_all_closed(0, wakers);
            return None;
        };
        let now = self.clock.now();
        match unwound(|| call(machine, now)) {
            Ok(outcome) => Some((now, outcome)),
            Err(trap) => {
                self.start_anew(engine, &trap, wakers);
                None
            }
        }
    }

    /// Hands the events out, in their order, and queues what a step left.
    fn dispatch(
        &self,
        dated: u64,
        events: Vec<wit::Event>,
        rest: Vec<wit::Command>,
        wakers: &mut Wakers,
    ) {
        let mut queue = lock(&self.queue);
        if !rest.is_empty() {
            queue.commands.splice(0..0, rest);
        }
        for event in events {
            if let wit::Event::FencesLow(left) = event {
                self.fences.reserve(left);
            } else {
                queue.dispatch(dated, event, wakers);
            }
        }
    }

    /// Only an earlier alarm is worth a system call: a late one rings for
    /// nothing once, and is set anew then.
    fn set_alarm(&self, engine: &mut Running, at: u64) {
        if at < engine.alarm_at {
            engine.alarm_at = at;
            self.alarm.set(at);
        }
    }

    /// Rings the alarm for the last time: what is due later, also by a step that is
    /// under way, sets it no more.
    fn ring_out(&self) {
        let mut engine = lock(&self.engine);
        engine.alarm_at = 0;
        self.alarm.set(0);
    }

    /// The engine trapped: everyone is answered `closed`, and a new one with
    /// higher fences takes its place. What trapped it is left out.
    fn start_anew(&self, engine: &mut Running, trap: &wasmtime::Error, wakers: &mut Wakers) {
        log::error!("the lock engine trapped; all its keys are let go: {trap:#}");
        let until = self.grace.until_after_a_trap();
        let start = || start_machine(&self.blueprint, Some(until), self.clock.now());
        engine.machine = match unwound(start) {
            Ok(machine) => Some(machine),
            Err(error) => {
                log::error!("the lock engine cannot be started again: {error:#}");
                None
            }
        };
        self.answer_all_closed(until, wakers);
        let mut queue = lock(&self.queue);
        let sessions: Vec<_> = queue.sessions.values().copied().collect();
        let open = sessions.into_iter().map(wit::Command::OpenSession);
        queue.commands.extend(open);
        drop(queue);
        self.fences.reserve(0);
    }

    fn answer_all_closed(&self, until: u64, wakers: &mut Wakers) {
        let mut queue = lock(&self.queue);
        queue.commands.clear();
        queue.asks.close(wakers);
        queue.outlet.tell(Told::BeganAnew { until }, wakers);
    }

    /// Refuses everything from now on, ends what is held in this process,
    /// answers every waiter.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.command(wit::Command::Close);
        while self.run_due().is_some_and(|next| next <= self.clock.now()) {}
    }

    /// What is left of a store that was closed, if the engine still can tell.
    pub fn left(&self) -> Option<wit::Counts> {
        let counts = {
            let mut queue = lock(&self.queue);
            let (tag, reply) = queue.asks.add_reply();
            queue.commands.push(wit::Command::Count(tag));
            reply
        };
        self.run_due();
        let counted = block_on(poll_fn(|context| counts.poll(context)));
        match counted {
            Ok(wit::Event::Counted(counts)) => Some(counts),
            _ => None,
        }
    }
}

/// An engine that gives no key before this moment.
fn start_machine(blueprint: &Blueprint, until: Option<u64>, now: u64) -> wasmtime::Result<Machine> {
    let mut machine = Machine::start(blueprint)?;
    if let Some(until) = until {
        machine.step(now, &[wit::Command::Grace(until)])?;
    }
    Ok(machine)
}

/// A panic in wasmtime, which panics where the system has no memory for a stack,
/// is a failure as a trap is: nobody is left without an answer for it.
fn unwound<T>(call: impl FnOnce() -> wasmtime::Result<T>) -> wasmtime::Result<T> {
    let panicked = |_| Err(wasmtime::Error::msg("wasmtime panicked"));
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(panicked)
}

pub(crate) fn wake(wakers: Wakers) {
    wakers.into_iter().for_each(std::task::Waker::wake);
}
