//! The pieces of a result, from the worker that has them to the stream that reads them.

use std::sync::Mutex;
use std::task::Waker;

use crate::base::mutex::IgnorePoison;

/// What the pieces of a result are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Form {
    #[default]
    Text,
    Json {
        /// Whether the result is the only property of the object.
        is_wrapped: bool,
    },
}

/// The pieces that the stream has not taken.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Pieces(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    form: Form,
    text: String,
    /// Whether an answer has begun since pieces were taken.
    is_new: bool,
    /// Whether the answer has had a piece.
    has_begun: bool,
    waker: Option<Waker>,
}

/// The pieces that a stream takes.
pub(super) struct Taken {
    pub(super) form: Form,
    /// Whether they begin another answer than those before.
    pub(super) is_new: bool,
    pub(super) text: String,
}

impl Pieces {
    /// Begins an answer: the pieces before are not part of it.
    pub(crate) fn begin(&self, form: Form) {
        let mut state = self.0.lock().ignore_poison();
        state.text.clear();
        (state.form, state.is_new, state.has_begun) = (form, true, false);
    }

    /// Adds a piece of the answer.
    pub(crate) fn push(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut state = self.0.lock().ignore_poison();
        state.text.push_str(text);
        state.has_begun = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns whether the answer has had a piece.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.lock().ignore_poison().has_begun
    }

    /// Takes what was added; if nothing was, `waker` is woken once something is.
    pub(super) fn take(&self, waker: &Waker) -> Option<Taken> {
        let mut state = self.0.lock().ignore_poison();
        if state.text.is_empty() {
            state.waker = Some(waker.clone());
            return None;
        }
        let is_new = std::mem::take(&mut state.is_new);
        Some(Taken { form: state.form, is_new, text: std::mem::take(&mut state.text) })
    }
}
