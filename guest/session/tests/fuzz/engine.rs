//! The engine, driven with a lag: what it is asked, and what it did, waits.

use std::collections::VecDeque;

use witlock_engine::{Command, Counts, Engine, Event, Seed};

use crate::ledger::{Ledger, Noted};

/// Fences added at a time: few, so that they run out.
const FENCES: u64 = 50;

/// Something that the server has not been told.
#[derive(Debug)]
pub enum News {
    /// In a step of this moment.
    Did(u64, Noted),
    /// The engine trapped.
    BeganAnew,
}

pub struct Driven {
    engine: Engine,
    pub submitted: Vec<Command<'static>>,
    pub news: VecDeque<News>,
    next_step: Option<u64>,
    fences: u64,
    pub ledger: Ledger,
}

impl Driven {
    pub fn new() -> Self {
        let mut driven = Driven {
            engine: Engine::new(Seed::default()),
            submitted: Vec::new(),
            news: VecDeque::new(),
            next_step: None,
            fences: 1,
            ledger: Ledger::default(),
        };
        driven.add_fences();
        driven
    }

    fn add_fences(&mut self) {
        let end = self.fences + FENCES;
        self.submitted.push(Command::AddFences(self.fences..end));
        self.fences = end;
    }

    pub fn counts(&self) -> Counts {
        self.engine.counts()
    }

    /// Whether nothing is to be done now.
    pub fn is_quiet(&self, now: u64) -> bool {
        self.submitted.is_empty() && self.next_step.is_none_or(|at| at > now)
    }

    pub fn step(&mut self, now: u64) {
        let outcome = self.engine.step(now, &self.submitted);
        self.submitted.drain(..outcome.handled);
        self.next_step = outcome.next_deadline;
        for event in outcome.events {
            if let Event::FencesLow { left } = event {
                // A slow disk lets them run out.
                match left {
                    0 => self.no_fences(),
                    _ => self.add_fences(),
                }
                continue;
            }
            let noted = self.ledger.note(event);
            self.news.push_back(News::Did(now, noted));
        }
    }

    fn no_fences(&mut self) {
        let why = String::from("the disk is full");
        self.submitted.push(Command::FencesFailed(why));
        self.add_fences();
    }

    /// Whether the engine is another than the one of which the server knows.
    pub fn has_untold_trap(&self) -> bool {
        self.news.iter().any(|it| matches!(it, News::BeganAnew))
    }

    /// The engine traps, with what it was asked.
    pub fn trap(&mut self) {
        let seed = Seed {
            low: self.fences,
            high: 1,
        };
        self.engine = Engine::new(seed);
        self.submitted.clear();
        self.next_step = None;
        self.ledger.forget_all();
        self.add_fences();
        self.news.push_back(News::BeganAnew);
    }
}
