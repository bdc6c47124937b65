//! One history, lived by an engine and by the model, and compared step by step.

use std::collections::HashMap;
use std::fmt::Debug;

use witlock::fences::FenceStorage as _;
use witlock_engine::{Ending, LeaseId, OpenSession, Options, Restore, Resume, Seed, Ticket};

use super::disk::Disk;
use super::history::{Ask, History, Op, Pick, REMOTE, SESSIONS, Step, Time};
use super::model::{Entry, Happened, Model};
use crate::{Command, Event, Hold, Machine, Outcome};

/// What was done, so that nobody takes little for much.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)] // they say themselves
pub struct Done {
    pub steps: u64,
    pub granted: u64,
    /// Of them, to who had waited.
    pub handed_over: u64,
    pub refused: u64,
    pub expired: u64,
    pub revoked: u64,
    pub openings: u64,
    /// Leases that went on after a crash.
    pub restored: u64,
}

impl Done {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Done) -> Done {
        Done {
            steps: self.steps + other.steps,
            granted: self.granted + other.granted,
            handed_over: self.handed_over + other.handed_over,
            refused: self.refused + other.refused,
            expired: self.expired + other.expired,
            revoked: self.revoked + other.revoked,
            openings: self.openings + other.openings,
            restored: self.restored + other.restored,
        }
    }
}

/// A name that all locks have.
const NAME: &str = "jobs";

/// Why a reservation fails, when it does.
const NO_FENCES: &str = "the disk is full";

/// Has an engine and its storage live a history beside the model.
///
/// # Errors
///
/// Where they differ, and how.
pub fn live<M: Machine>(machine: &mut M, disk: Disk, history: &History) -> Result<Done, String> {
    let mut world = World::new(machine, disk, history);
    world.open()?;
    for (number, step) in history.steps.iter().enumerate() {
        let lived = match step {
            Step::Do(time, ops) => world.step(*time, ops),
            Step::Reopen => world.close().and_then(|()| world.open()),
            Step::Crash => world.crash(),
        };
        lived.map_err(|why| format!("step {number}, {step:?}: {why}"))?;
    }
    world.everybody_leaves()?;
    Ok(world.done)
}

pub(super) struct World<'a, M> {
    pub(super) machine: &'a mut M,
    disk: Disk,
    history: &'a History,
    pub(super) model: Model,
    /// What was granted, in this opening and before.
    leases: HashMap<Ticket, LeaseId>,
    /// Where listings showed leases to be, by their fences.
    pub(super) places: HashMap<u64, u32>,
    tickets: u64,
    asked: HashMap<Ticket, u64>,
    /// No fence given yet is larger, whatever was closed and killed since.
    last_fence: u64,
    reserved: u64,
    ordered: bool,
    done: Done,
}

impl<'a, M: Machine> World<'a, M> {
    fn new(machine: &'a mut M, disk: Disk, history: &'a History) -> Self {
        World {
            machine,
            disk,
            history,
            model: Model::default(),
            leases: HashMap::new(),
            places: HashMap::new(),
            tickets: 0,
            asked: HashMap::new(),
            last_fence: 0,
            reserved: 0,
            ordered: false,
            done: Done::default(),
        }
    }

    /// A new engine, and what the storage has for it.
    fn open(&mut self) -> Result<(), String> {
        let now = self.model.now;
        let opening = self.done.openings;
        self.done.openings += 1;
        self.machine.restart(Seed {
            low: opening,
            high: self.tickets,
        });
        self.model = Model::new(self.history.bound);
        self.places.clear();
        self.ordered = false;
        self.model.move_to(now);
        let mut commands = self.fences_come()?;
        commands.extend((0..SESSIONS).map(|session| self.open_session(session)));
        self.compare(commands)
    }

    fn fences_come(&mut self) -> Result<Vec<Command>, String> {
        let reserved = self.disk.reserve(0, self.history.fences);
        let range = reserved.map_err(|why| why.to_string())?;
        self.ordered = false;
        self.reserved = range.end;
        self.model.add_fences(range.clone());
        Ok(vec![Command::AddFences(range)])
    }

    fn open_session(&mut self, session: u64) -> Command {
        self.model.open(session);
        Command::OpenSession(OpenSession {
            session,
            remote: session < REMOTE,
            max_held: Some(self.history.bound),
            max_waiting: Some(self.history.bound),
        })
    }

    /// The store closes as it should, and gives the fences back.
    fn close(&mut self) -> Result<(), String> {
        self.model.move_to(self.model.now);
        self.model.close();
        self.compare(vec![Command::Close])?;
        let left = self.model.left().min(self.history.fences);
        let unused = self.reserved - left..self.reserved;
        self.disk.give_back(unused).map_err(|why| why.to_string())
    }

    /// What was held over connections goes on.
    fn crash(&mut self) -> Result<(), String> {
        let held = std::mem::take(&mut self.model.held);
        let is_remote = |it: &Entry| it.ask.session < REMOTE && !it.gone;
        let lasting = held.into_iter().filter(is_remote).collect();
        self.disk.crash();
        self.open()?;
        self.restore(lasting)
    }

    fn restore(&mut self, lasting: Vec<Entry>) -> Result<(), String> {
        let mut commands = Vec::new();
        for lease in lasting {
            let fence = lease.serial;
            self.model.restore(lease);
            let Some(lease) = self.model.held.iter().find(|it| it.serial == fence) else {
                return Err(format!("the model does not restore {fence}"));
            };
            commands.push(Command::Restore(Restore {
                hold: command(lease.ticket, &lease.ask),
                fence,
                since: lease.since,
                expires: lease.expires,
                revoked: (lease.revoked != u64::MAX).then_some(lease.revoked),
            }));
        }
        self.done.restored += commands.len() as u64;
        self.compare(commands)
    }

    fn step(&mut self, time: Time, ops: &[Op]) -> Result<(), String> {
        self.model.move_to(match (time, self.model.next()) {
            (Time::ToNext, Some(next)) => next,
            (Time::ToNext, None) => self.model.now,
            (Time::By(span), _) => self.model.now + span,
        });
        let mut commands = Vec::new();
        for op in ops {
            commands.extend(self.op(op)?);
        }
        self.compare(commands)?;
        match ops.contains(&Op::List) {
            true => self.compare_listings(),
            false => Ok(()),
        }
    }

    /// What an op asks of the engine, done to the model. Both know only leases
    /// that were given before this step.
    fn op(&mut self, op: &Op) -> Result<Vec<Command>, String> {
        Ok(match op {
            Op::Hold(ask) => vec![self.hold(ask)],
            Op::Cancel(pick) => self.cancel(*pick),
            Op::Release(pick) => self.by_lease(*pick, Model::release, |lease| Command::Release {
                tag: 0,
                lease,
            }),
            Op::Renew(pick) => self.by_lease(*pick, Model::renew, |lease| Command::Renew {
                tag: 0,
                lease,
            }),
            Op::Break(pick) => self.break_lease(*pick),
            Op::Open(session) => vec![self.open_session(*session)],
            Op::End(session) => {
                self.model.end_session(*session);
                vec![Command::EndSession(*session)]
            }
            Op::Suspend(session) => {
                self.model.suspend(*session);
                vec![Command::Suspend(*session)]
            }
            Op::Resume(session, bits) => vec![self.resume(*session, *bits)],
            Op::FencesCome if self.ordered => self.fences_come()?,
            Op::FencesFail if self.ordered => {
                self.ordered = false;
                self.model.fences_failed(NO_FENCES);
                vec![Command::FencesFailed(NO_FENCES.into())]
            }
            Op::Grace(span) => {
                let until = self.model.now + span;
                self.model.begin_grace(until);
                vec![Command::Grace(until)]
            }
            Op::Close => {
                self.model.close();
                vec![Command::Close]
            }
            Op::FencesCome | Op::FencesFail | Op::List => Vec::new(),
        })
    }

    fn hold(&mut self, ask: &Ask) -> Command {
        self.tickets += 1;
        self.asked.insert(self.tickets, self.model.now);
        self.model.hold(self.tickets, ask.clone());
        Command::Hold(command(self.tickets, ask))
    }

    fn cancel(&mut self, pick: Pick) -> Vec<Command> {
        let waiting: Vec<_> = self.model.line.iter().map(|it| it.ticket).collect();
        let Some(ticket) = pick.from(&waiting, self.tickets) else {
            return Vec::new();
        };
        self.model.cancel(ticket);
        vec![Command::Cancel(ticket)]
    }

    fn by_lease(
        &mut self,
        pick: Pick,
        done: impl FnOnce(&mut Model, u64),
        command: impl FnOnce(LeaseId) -> Command,
    ) -> Vec<Command> {
        let Some(lease) = self.pick_lease(pick) else {
            return Vec::new();
        };
        done(&mut self.model, lease.fence);
        vec![command(lease)]
    }

    fn pick_lease(&self, pick: Pick) -> Option<LeaseId> {
        let held: Vec<_> = self.model.held.iter().map(|it| it.ticket).collect();
        self.leases.get(&pick.from(&held, self.tickets)?).copied()
    }

    fn break_lease(&mut self, pick: Pick) -> Vec<Command> {
        let lease = self.pick_lease(pick);
        let listed = lease.and_then(|it| Some((it.fence, *self.places.get(&it.fence)?)));
        let Some((fence, place)) = listed else {
            return Vec::new();
        };
        self.model.break_lease(fence);
        vec![Command::Break {
            tag: 0,
            fence,
            place,
        }]
    }

    fn resume(&mut self, session: u64, bits: u64) -> Command {
        let is_named = |(at, _): &(usize, &Entry)| bits >> (at % 64) & 1 == 1;
        let entries = self.model.held.iter().chain(&self.model.line);
        let its = entries.filter(|it| it.ask.session == session);
        let named: Vec<_> = its.enumerate().filter(is_named).map(|(_, it)| it).collect();
        let leases: Vec<_> = named.iter().filter_map(|it| self.lease_of(it)).collect();
        let requests: Vec<_> = named.iter().filter_map(|it| it.ask.request).collect();
        let fences: Vec<_> = leases.iter().map(|it| it.fence).collect();
        self.model.resume(session, &fences, &requests);
        Command::Resume(Resume {
            tag: 0,
            session,
            leases,
            requests: requests.into_iter().map(u128::from).collect(),
        })
    }

    fn lease_of(&self, entry: &Entry) -> Option<LeaseId> {
        let lease = self.leases.get(&entry.ticket).copied();
        lease.filter(|lease| lease.fence == entry.serial)
    }

    /// Everybody leaves, and nothing is kept.
    fn everybody_leaves(&mut self) -> Result<(), String> {
        let mut commands = Vec::new();
        for session in 0..SESSIONS {
            self.model.end_session(session);
            commands.push(Command::EndSession(session));
        }
        self.compare(commands)?;
        match self.model.held.len() + self.model.line.len() {
            0 => Ok(()),
            kept => Err(format!("{kept} entries are kept of sessions that ended")),
        }
    }

    /// One step of the engine, beside what the model did.
    fn compare(&mut self, mut commands: Vec<Command>) -> Result<(), String> {
        // A step with one command has a way of its own over the boundary.
        if commands.len() != 1 {
            self.model.counts();
            commands.push(Command::Count { tag: 0 });
        }
        self.model.end_step();
        self.model.check()?;
        let given = commands.len();
        let outcome = self.machine.step(self.model.now, commands);
        self.done.steps += 1;
        same("handled", &outcome.handled, &given)?;
        self.note(&outcome)?;
        let happened: Vec<_> = outcome.events.iter().map(happened).collect();
        let expected = std::mem::take(&mut self.model.happened);
        same("events", &happened, &expected)?;
        same("next deadline", &outcome.next_deadline, &self.model.next())
    }

    fn note(&mut self, outcome: &Outcome) -> Result<(), String> {
        for event in &outcome.events {
            match event {
                Event::Granted(grant) => self.note_grant(grant.ticket, grant.lease)?,
                Event::Refused { .. } => self.done.refused += 1,
                Event::Ended {
                    how: Ending::Expired,
                    ..
                } => self.done.expired += 1,
                Event::Ended {
                    how: Ending::Revoked,
                    ..
                } => self.done.revoked += 1,
                Event::FencesLow { .. } => self.ordered = true,
                _ => {}
            }
        }
        Ok(())
    }

    fn note_grant(&mut self, ticket: Ticket, lease: LeaseId) -> Result<(), String> {
        let is_known = || self.leases.values().any(|known| known.fence == lease.fence);
        if lease.fence <= self.last_fence && !is_known() {
            let last = self.last_fence;
            return Err(format!("fence {} after {last}", lease.fence));
        }
        self.last_fence = self.last_fence.max(lease.fence);
        self.done.granted += 1;
        let waited = self.asked.get(&ticket) != Some(&self.model.now);
        self.done.handed_over += u64::from(waited);
        self.leases.insert(ticket, lease);
        Ok(())
    }
}

fn command(ticket: Ticket, ask: &Ask) -> Hold {
    Hold {
        ticket,
        session: ask.session,
        name: NAME.into(),
        limit: ask.limit,
        key: ask.key.to_string().into(),
        wait: Some(ask.wait),
        options: Options {
            ttl: Some(ask.ttl),
            max_hold: ask.max_hold,
            label: None,
        },
        request: ask.request.map(u128::from),
        alone: ask.alone,
    }
}

pub(super) fn same<T: PartialEq + Debug>(what: &str, engine: &T, model: &T) -> Result<(), String> {
    match engine == model {
        true => Ok(()),
        false => Err(format!(
            "{what}\n     the engine: {engine:?}\n      the model: {model:?}"
        )),
    }
}

fn happened(event: &Event) -> Happened {
    let moment = |at: Option<u64>| at.unwrap_or(u64::MAX);
    match event {
        Event::Granted(grant) => Happened::Granted {
            ticket: grant.ticket,
            fence: grant.lease.fence,
            expires: moment(grant.expires),
            revoked: moment(grant.revoked),
        },
        Event::Refused { ticket, why } => Happened::Refused(*ticket, why.clone()),
        Event::Ended { ticket, how } => Happened::Ended(*ticket, *how),
        Event::Superseded(ticket) => Happened::Superseded(*ticket),
        Event::Renewed { deadline, .. } => Happened::Renewed(moment(*deadline)),
        Event::NotHeld { .. } => Happened::NotHeld,
        Event::Counted { counts, .. } => Happened::Counted(*counts),
        Event::FencesLow { left } => Happened::FencesLow(*left),
        // Nothing else is asked for.
        _ => Happened::Fine,
    }
}
