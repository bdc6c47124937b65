//! The language of the program `tasks`, and of others, as scenarios need it.

use witlock_tests::tasks::{Tasks, text};

use crate::face::{Answer, Ending, Terms, Wait, Why};

/// An ask whose caller is gone, and the fence of what it held then, if it did.
#[derive(Clone, Copy)]
pub struct Dropped(Option<u64>);

impl Dropped {
    /// One that stood so.
    pub fn after(answer: &Answer) -> Self {
        match answer {
            Answer::Held(fence) => Dropped(Some(*fence)),
            Answer::Waiting | Answer::Refused(_) => Dropped(None),
        }
    }

    pub fn answer(self) -> Answer {
        self.0.map_or(Answer::Refused(Why::Closed), Answer::Held)
    }

    pub fn ended(self) -> Option<Ending> {
        self.0.map(|_| Ending::Released)
    }
}

/// Opens a lock.
pub fn open(tasks: &mut Tasks, terms: &Terms) -> Result<(), Why> {
    let number = |number: Option<u32>| number.map_or("-".into(), |number| number.to_string());
    let label = terms.label.as_deref().map_or("-".into(), text);
    let answer = tasks.say(&format!(
        "open {} {} {} {} {} {label}",
        text(&terms.name),
        number(terms.limit),
        number(terms.ttl),
        number(terms.wait),
        number(terms.max_hold),
    ));
    match answer.as_str() {
        "opened" => Ok(()),
        refused => Err(why(refused)),
    }
}

/// Asks for a key.
pub fn ask(tasks: &mut Tasks, lock: usize, key: &str, wait: Wait) {
    assert_eq!(tasks.say(&asking(lock, key, wait)), "asked");
}

/// The line that asks for a key.
pub fn asking(lock: usize, key: &str, wait: Wait) -> String {
    let wait = match wait {
        Wait::AsOpened => "-".into(),
        Wait::For(span) => span.to_string(),
        Wait::Try => "try".into(),
    };
    format!("ask {lock} {} {wait}", text(key))
}

pub fn answer(tasks: &mut Tasks, ask: usize) -> Answer {
    answered(&tasks.say(&format!("answer {ask}")))
}

/// What a line tells of an ask.
pub fn answered(line: &str) -> Answer {
    match line {
        "waiting" => Answer::Waiting,
        "dropped" => Answer::Refused(Why::Closed),
        answer => match answer.strip_prefix("held ") {
            Some(fence) => Answer::Held(fence.parse().expect("a fence")),
            None => Answer::Refused(why(answer)),
        },
    }
}

pub fn cancel(tasks: &mut Tasks, ask: usize) {
    assert_eq!(tasks.say(&format!("cancel {ask}")), "cancelled");
}

pub fn release(tasks: &mut Tasks, ask: usize) -> Result<(), Ending> {
    let answer = tasks.say(&format!("release {ask}"));
    match answer.strip_prefix("ended ") {
        Some(how) => Err(ending(how)),
        None => {
            assert_eq!(answer, "released");
            Ok(())
        }
    }
}

pub fn ended(tasks: &mut Tasks, ask: usize) -> Option<Ending> {
    match tasks.say(&format!("ended {ask}")).as_str() {
        "lasts" => None,
        how => Some(ending(how)),
    }
}

fn ending(how: &str) -> Ending {
    match how {
        "released" => Ending::Released,
        "expired" => Ending::Expired,
        "revoked" => Ending::Revoked,
        "broken" => Ending::Broken,
        "closed" => Ending::Closed,
        other => panic!("it ended as {other:?}"),
    }
}

fn why(refused: &str) -> Why {
    let refusal = refused.strip_prefix("refused ");
    let refusal = refusal.unwrap_or_else(|| panic!("answered by {refused:?}"));
    let (kind, why) = refusal.split_once(' ').unwrap_or((refusal, ""));
    match kind {
        "in-use" => Why::InUse,
        "held-by-caller" => Why::HeldByCaller,
        "invalid" => Why::Invalid(why.into()),
        "too-many" => Why::TooMany(why.into()),
        "closed" => Why::Closed,
        "unavailable" => Why::Unavailable(why.into()),
        other => panic!("refused as {other:?}"),
    }
}
