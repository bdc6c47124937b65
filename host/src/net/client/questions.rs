//! What an operator asks.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use witlock_session::wire::{to_client, to_store};

use super::remote::{Remote, State};
use crate::driver::lock;
use crate::error::ListError;

/// One that is not answered yet, or whose answer is not taken yet.
#[derive(Default)]
pub(super) struct Question(Mutex<Asked>);

#[derive(Default)]
struct Asked {
    answer: Option<Answer>,
    waker: Option<Waker>,
}

type Answer = Result<to_client::Body, ListError>;

impl Remote {
    /// Asks; `body` is given the question's tag.
    pub(super) async fn question(&self, body: impl FnOnce(u64) -> to_store::Body) -> Answer {
        let question = self.with(|state, now| {
            if state.closed {
                return Err(ListError::Closed);
            }
            let question = Arc::new(Question::default());
            let tag = state.number();
            state.questions.insert(tag, question.clone());
            state.client.question(now, tag, body(tag));
            Ok(question)
        })?;
        poll_fn(|context| {
            let mut asked = lock(&question.0);
            match asked.answer.take() {
                Some(answer) => Poll::Ready(answer),
                None => {
                    asked.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl State {
    pub(super) fn answered(&mut self, tag: u64, answer: Option<to_client::Body>) {
        let answer = match answer {
            Some(to_client::Body::Denied(_)) => Err(ListError::Denied),
            Some(answer) => Ok(answer),
            None => Err(ListError::Unavailable("the server does not answer".into())),
        };
        if let Some(question) = self.questions.remove(&tag) {
            self.answer(&question, answer);
        }
    }

    pub(super) fn close_questions(&mut self) {
        for (_, question) in std::mem::take(&mut self.questions) {
            self.answer(&question, Err(ListError::Closed));
        }
    }

    fn answer(&mut self, question: &Question, answer: Answer) {
        let mut asked = lock(&question.0);
        asked.answer = Some(answer);
        self.wakers.extend(asked.waker.take());
    }
}
