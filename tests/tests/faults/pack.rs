//! What is done next: each kind of fault as often as the pack has it, so that all
//! come up within some seconds.

use fastrand::Rng;

/// What can be done.
#[derive(Debug, Clone, Copy)]
pub enum Card {
    Cut,
    /// A black hole, in one direction or both.
    Lose,
    Delay,
    PauseClient,
    KillClient,
    PauseServer,
    KillServer,
}

/// How often, beside the restarts of the server.
const CARDS: [(Card, usize); 6] = [
    (Card::Cut, 7),
    (Card::Lose, 7),
    (Card::Delay, 11),
    (Card::PauseClient, 8),
    (Card::KillClient, 4),
    (Card::PauseServer, 1),
];

pub struct Pack {
    restarts: usize,
    left: Vec<Card>,
}

impl Pack {
    pub fn new(restarts: usize) -> Self {
        Pack {
            restarts,
            left: Vec::new(),
        }
    }

    pub fn next(&mut self, random: &mut Rng) -> Card {
        if self.left.is_empty() {
            let cards = CARDS.into_iter().chain([(Card::KillServer, self.restarts)]);
            self.left = cards.flat_map(|(card, often)| vec![card; often]).collect();
            random.shuffle(&mut self.left);
        }
        self.left.pop().expect("a card")
    }
}
