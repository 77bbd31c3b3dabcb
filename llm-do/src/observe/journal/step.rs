//! One effect, as a journal is asked for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place;
use super::record::CallerPlace;

/// What an effect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepKind {
    /// A root call.
    Run,
    /// A nested call whose inside makes effects of its own.
    Call,
    /// The body of a tool that makes no calls.
    Tool,
    /// A model's answer.
    Model,
    /// Whether a call may run.
    Approval,
    /// A user's answer.
    Input,
    /// The time.
    Now,
    /// A wait.
    Sleep,
    /// Any other effect.
    Effect,
    /// What a root call came to.
    Result,
}

impl StepKind {
    /// Returns the word for it, as it is recorded.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Call => "call",
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Approval => "approval",
            Self::Input => "input",
            Self::Now => "now",
            Self::Sleep => "sleep",
            Self::Effect => "effect",
            Self::Result => "result",
        }
    }
}

/// One effect, as a journal is asked for it: which it is, and where in the call tree.
///
/// Its [`Display`](fmt::Display) is its kind, its name and a short digest of its input, and so holds no secret.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepSpec {
    /// Which effect it is, the same in each replay: the path in the call tree, with a digest of each input.
    ///
    /// It holds neither time nor chance, and does not depend on the order in which concurrent calls happen.
    pub key: Arc<str>,
    /// The key of the call that it happens in; empty for a root call.
    pub parent: Arc<str>,
    /// How many calls of `parent` began before it.
    pub place: u32,
    /// What it is.
    pub kind: StepKind,
    /// What is called: the registered name of a tool, a model's name.
    pub name: Arc<str>,
    /// What it is called with, shared with clones and with its record.
    pub input: Arc<Value>,
    /// Shared with clones and parts: it may be known only after the step was made.
    overlapped: Arc<AtomicBool>,
    /// How many calls of `parent` have begun so far, shared with them; none if that is not counted.
    begun: Option<Arc<AtomicU32>>,
    /// The call that it happens in; none in a root call.
    caller: Option<Arc<CallerStep>>,
}

/// The place of a call that is in flight, and those of its callers below the root call.
#[derive(Debug)]
struct CallerStep {
    place: u32,
    overlapped: Arc<AtomicBool>,
    caller: Option<Arc<CallerStep>>,
}

impl StepSpec {
    /// Makes the step of a call in `parent`, and its key: that of the first call of its name and input there.
    ///
    /// The plane makes the steps of a run; this is for tests of a journal, and for engines that make effects of their own.
    #[must_use]
    pub fn new(
        parent: impl Into<Arc<str>>,
        place: u32,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: impl Into<Arc<Value>>,
    ) -> Self {
        let (parent, name, input) = (parent.into(), name.into(), input.into());
        let key = place::key(&parent, &name, &input).into();
        Self { key, parent, place, kind, name, input, overlapped: Arc::default(), begun: None, caller: None }
    }

    /// Returns the step of the `n`-th such call in its parent, where 0 is the first and has the key as it is.
    #[must_use]
    pub fn nth(mut self, n: u32) -> Self {
        if n > 0 {
            self.key = format!("{}#{n}", self.key).into();
        }
        self
    }

    /// Returns another step of the same call, at the same place: its approval, for one.
    #[must_use]
    pub fn within(&self, kind: StepKind, part: &str) -> Self {
        Self { key: place::below(&self.key, part).into(), kind, ..self.clone() }
    }

    /// Returns the key of the call that it is a part of, or else its own.
    pub(super) fn call(&self) -> &str {
        place::call(&self.key, &self.parent)
    }

    /// Notes the call that it happens in, so that its record tells where that call began.
    pub(crate) fn called_by(mut self, caller: &StepSpec) -> Self {
        if !caller.parent.is_empty() {
            let (place, overlapped) = (caller.place, Arc::clone(&caller.overlapped));
            self.caller = Some(Arc::new(CallerStep { place, overlapped, caller: caller.caller.clone() }));
        }
        self
    }

    /// Counts the calls of the same parent that have begun.
    pub(super) fn counting(mut self, begun: &Arc<AtomicU32>) -> Self {
        self.begun = Some(Arc::clone(begun));
        self
    }

    /// Returns how many calls of the same parent have begun so far, if that is counted.
    pub(super) fn begun(&self) -> Option<u32> {
        self.begun.as_ref().map(|begun| begun.load(Ordering::Relaxed))
    }

    /// Returns the places of the calls that it happens in, the outermost first, without the root call.
    pub(super) fn callers(&self) -> Vec<CallerPlace> {
        let callers = std::iter::successors(self.caller.as_ref(), |caller| caller.caller.as_ref());
        let place = |caller: &Arc<CallerStep>| CallerPlace {
            place: caller.place,
            overlapped: caller.overlapped.load(Ordering::Relaxed),
        };
        let mut callers: Vec<_> = callers.map(place).collect();
        callers.reverse();
        callers
    }

    /// Says that another call of the same parent is under way with this one. Clones and parts of it know too.
    pub fn overlap(&self) {
        self.overlapped.store(true, Ordering::Relaxed);
    }

    /// Returns whether another call of the same parent has been under way with this one so far.
    ///
    /// It is to be recorded as it is when the effect has ended, since the other call may have begun meanwhile.
    #[must_use]
    pub fn is_overlapped(&self) -> bool {
        self.overlapped.load(Ordering::Relaxed)
    }
}

impl fmt::Display for StepSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&place::describe(self.kind, &self.name, &self.input))
    }
}
