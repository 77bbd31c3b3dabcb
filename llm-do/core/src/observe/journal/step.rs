//! The step that a journal replays or records.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key;
use super::record::CallerPlace;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepKind {
    /// A root call.
    Run,
    /// A nested call that has steps of its own.
    Call,
    /// The body of a tool that makes no calls.
    Tool,
    /// A model's answer.
    Model,
    /// Where the answer to a model's request will be that was submitted in a batch: it is recorded before the answer is waited for.
    ///
    /// It is a part of the step of the answer. In a resumed run, the answer of the same batch is waited for.
    Submitted,
    /// The approval or denial of a call.
    Approval,
    /// The start of a call whose tool may change something that cannot be undone or repeated. It is recorded durably
    /// before the tool starts, which uses up the approval of the call.
    ///
    /// It is a part of its call, like the approval. If it is recorded and the result of the call is not, the outcome of
    /// the call is unknown: see [`OnUnknown`](crate::declare::tool::OnUnknown). The decision of a person about it is a
    /// step of this kind too. Only calls of tools that are neither `read_only` nor `idempotent` have it. A tool whose
    /// effects are separate steps has it once it has failed; if it has made steps, it has a second one then.
    Begun,
    /// A user's answer.
    Input,
    /// Messages to the run that joined the conversation of a worker: its input is after how many answers of the model, and after
    /// how many calls of the last one if a message interrupted them.
    Message,
    /// The current time.
    Now,
    /// A wait.
    Sleep,
    /// Any other effect.
    Effect,
    /// The outcome of a root call.
    Result,
}

impl StepKind {
    /// Returns the name of the kind in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Call => "call",
            Self::Tool => "tool",
            Self::Model => "model",
            Self::Submitted => "submitted",
            Self::Approval => "approval",
            Self::Begun => "begun",
            Self::Input => "input",
            Self::Message => "message",
            Self::Now => "now",
            Self::Sleep => "sleep",
            Self::Effect => "effect",
            Self::Result => "result",
        }
    }
}

/// A step that a journal replays or records: its identity, and its position in the call tree.
///
/// The [`Display`](fmt::Display) output is the kind, the name and a short digest of the input, without secrets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepSpec {
    /// The identity of the step, the same in each replay: the path in the call tree, with a digest of each input.
    ///
    /// The key is deterministic, and does not depend on the order in which concurrent calls begin.
    pub key: Arc<str>,
    /// The key of the call that contains the step; empty for a root call.
    pub parent: Arc<str>,
    /// The 0-based index of the step among the calls of `parent`, in the order in which they began.
    pub place: u32,
    /// The kind of the step.
    pub kind: StepKind,
    /// The name of what is called: the registered name of a tool, or the name of a model.
    pub name: Arc<str>,
    /// The input of the call, shared with clones and with the record.
    pub input: Arc<Value>,
    /// Shared with clones and parts, since a second call may begin later.
    overlapped: Arc<AtomicBool>,
    /// The number of calls of `parent` that have begun so far, shared with them; `None` if not counted.
    begun: Option<Arc<AtomicU32>>,
    /// The call that contains the step; `None` in a root call.
    caller: Option<Arc<CallerStep>>,
}

/// The position of a call in flight, and of its callers below the root call.
#[derive(Debug)]
struct CallerStep {
    place: u32,
    overlapped: Arc<AtomicBool>,
    caller: Option<Arc<CallerStep>>,
}

impl StepSpec {
    /// Creates the step of the first call in `parent` with this name and input, and its key.
    ///
    /// The plane creates the steps of a run. This is for tests of a journal, and for engines with their own effects.
    #[must_use]
    pub fn new(
        parent: impl Into<Arc<str>>,
        place: u32,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: impl Into<Arc<Value>>,
    ) -> Self {
        let (parent, name, input) = (parent.into(), name.into(), input.into());
        let key = key::step_key(&parent, &name, &input).into();
        Self { key, parent, place, kind, name, input, overlapped: Arc::default(), begun: None, caller: None }
    }

    /// Returns the step of a call that continues a thread with this number of messages, which are part of the key.
    pub(crate) fn in_thread(mut self, thread: &str, messages: usize) -> Self {
        self.key = key::thread_key(&self.parent, &self.name, thread, messages, &self.input).into();
        self
    }

    /// Returns the step of a call in the background; its number among those of a model is part of the key.
    pub(crate) fn in_background(mut self, number: Option<u32>) -> Self {
        self.key = key::background_key(&self.parent, &self.name, number, &self.input).into();
        self
    }

    /// Returns the step of the `n`-th equal call in the parent: 0-based, where 0 leaves the key unchanged.
    #[must_use]
    pub fn nth(mut self, n: u32) -> Self {
        if n > 0 {
            self.key = format!("{}#{n}", self.key).into();
        }
        self
    }

    /// Returns another step of the same call, at the same place, such as its approval.
    #[must_use]
    pub fn within(&self, kind: StepKind, part: &str) -> Self {
        Self { key: key::below(&self.key, part).into(), kind, ..self.clone() }
    }

    /// Returns the key of the call that contains this part, or its own key.
    pub(super) fn call(&self) -> &str {
        key::call(&self.key, &self.parent)
    }

    /// Sets the call that contains the step, so that the record contains the position of that call.
    pub(crate) fn called_by(mut self, caller: &StepSpec) -> Self {
        if !caller.parent.is_empty() {
            let (place, overlapped) = (caller.place, Arc::clone(&caller.overlapped));
            self.caller = Some(Arc::new(CallerStep { place, overlapped, caller: caller.caller.clone() }));
        }
        self
    }

    /// Sets the counter of the calls of the same parent that have begun.
    pub(super) fn counting(mut self, begun: &Arc<AtomicU32>) -> Self {
        self.begun = Some(Arc::clone(begun));
        self
    }

    /// Returns the number of calls of the same parent that have begun so far, if counted.
    pub(super) fn begun(&self) -> Option<u32> {
        self.begun.as_ref().map(|begun| begun.load(Ordering::Relaxed))
    }

    /// Returns the places of the calls that contain the step, outermost first, without the root call.
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

    /// Marks the step as overlapping another call of the same parent. Clones and parts share the mark.
    pub fn overlap(&self) {
        self.overlapped.store(true, Ordering::Relaxed);
    }

    /// Returns whether another call of the same parent has been in flight together with this one so far.
    ///
    /// Record this value after the effect has ended, since another call may begin while it runs.
    #[must_use]
    pub fn is_overlapped(&self) -> bool {
        self.overlapped.load(Ordering::Relaxed)
    }
}

impl fmt::Display for StepSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&key::describe(self.kind, &self.name, &self.input))
    }
}
