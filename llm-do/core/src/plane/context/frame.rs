//! The data of one call.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::time::Deadline;
use crate::base::cancellation::Cancellation;
use crate::base::mutex::LazyMutex;
use crate::base::pauses::Pauses;
use crate::base::usage::{Limits, Meter, UsageRecorder};
use crate::declare::prompt::Attached;
use crate::declare::tool::ResultForm;
use crate::observe::event::Caller;
use crate::observe::journal::{ChildSteps, StepSpec};
use crate::plane::conversation::{NamedThread, ThreadChange};
use crate::plane::declared::Declared;
use crate::plane::instance::Instances;
use crate::plane::origin::OriginNotes;

/// Distinguishes callees that are defined at run time under the same name: their full definition.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Variant(Arc<str>);

impl Variant {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Variant {
    /// Without the text, which contains headers that may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variant(..)")
    }
}

/// The data of one call. What few calls have is on the heap.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the call that is known when it is admitted")]
pub(crate) struct CallFrame {
    pub(crate) call: u64,
    pub(crate) depth: u32,
    /// How many calls of any kind it is nested in.
    pub(crate) nesting: u32,
    pub(crate) name: Arc<str>,
    /// Distinguishes the callee from namesakes.
    pub(crate) variant: Option<Variant>,
    pub(crate) by: Caller,
    /// How a function's result is written.
    pub(crate) form: ResultForm,
    /// What it may call; `None` if everything.
    pub(crate) declared: Option<Arc<Declared>>,
    pub(crate) meter: Meter,
    /// The instances that it opened, and what it runs on.
    pub(crate) instances: Instances,
    pub(crate) cancellation: Cancellation,
    /// Its deadline, if it has a timeout. Set when it starts, since waiting for approval does not count.
    pub(crate) deadline: OnceLock<Box<Deadline>>,
    /// What it and the calls below it may use.
    pub(crate) limits: Option<Arc<Limits>>,
    /// Its usage by callee; created for calls that use something.
    pub(crate) recorder: OnceLock<Box<UsageRecorder>>,
    pub(crate) is_worker: bool,
    /// Whether it is known that no sink receives its events.
    pub(crate) is_unobserved: bool,
    /// Whether it is the worker of a shadow: it asks no user and is not in the journal.
    pub(crate) is_shadow: bool,
    /// Whether it reviews a call for its approval, or is made by what does: its calls are never asked about.
    pub(crate) is_review: bool,
    /// Whether a guard made it, or a call above it.
    pub(crate) is_unguarded: bool,
    /// The arguments of a worker: a nested call of the same worker with the same arguments is a cycle.
    pub(crate) arguments: OnceLock<Box<Value>>,
    /// The thread that it continues.
    pub(crate) thread: Option<Arc<NamedThread>>,
    /// Its step in the journal.
    pub(crate) step: OnceLock<Box<StepSpec>>,
    /// The steps that it makes in the journal.
    pub(crate) child_steps: ChildSteps,
    pub(crate) extras: OnceLock<Box<CallExtras>>,
}

/// What few calls have; allocated once a call has some of it.
#[derive(Debug, Default)]
pub(crate) struct CallExtras {
    /// The files in its arguments.
    pub(crate) attached: OnceLock<Vec<Attached>>,
    pub(crate) effects: SideEffects,
    pub(crate) code: ModelCode,
    pub(crate) steps: LateSteps,
    /// The idempotency key of the call that its calls find out about.
    pub(crate) reconciled: OnceLock<String>,
    /// What it has read, for decisions about its calls.
    pub(crate) origins: OriginNotes,
    /// When the run waited for people: in the frame of its user.
    pub(crate) waits: Arc<Pauses>,
}

/// What a call did besides its result: a journal records it too.
#[derive(Debug, Default)]
pub(crate) struct SideEffects {
    /// The user's answers to questions, each with the id of the call of a worker that it belongs to: a worker's conversation has
    /// them as well.
    pub(crate) user_messages: LazyMutex<Vec<(u64, String)>>,
    /// The approvals inside it for more than one call, as its record stores them.
    pub(crate) approved: LazyMutex<Vec<Value>>,
    /// What the calls below it changed in threads.
    pub(crate) thread_changes: LazyMutex<Vec<Arc<ThreadChange>>>,
    /// The code of a model that it ran.
    pub(crate) ran_code: OnceLock<String>,
}

/// The code that the model of a code-mode worker has run.
#[derive(Debug, Default)]
pub(crate) struct ModelCode {
    /// The process that runs it.
    #[cfg(feature = "script")]
    pub(crate) session: OnceLock<Arc<dyn std::any::Any + Send + Sync>>,
    /// What calls ran of it in another process, whose results a journal replayed.
    pub(crate) replayed: LazyMutex<Vec<String>>,
}

/// The steps of a call that a journal records after later ones, or after the result.
#[derive(Debug, Default)]
pub(crate) struct LateSteps {
    /// Denials of its calls by a mode or a rule, each with its step: recorded once the call continues after them.
    pub(crate) denials: LazyMutex<Vec<(StepSpec, Value)>>,
    /// The steps that guards make after a root call, with their parent key: a replay does not run the call's inside.
    pub(crate) after: OnceLock<(Arc<str>, ChildSteps)>,
}

impl CallFrame {
    /// Returns a frame at depth 0 with no declaration, limits or usage.
    #[inline]
    pub(crate) fn new(call: u64, name: Arc<str>, by: Caller) -> Self {
        Self {
            call,
            depth: 0,
            nesting: 0,
            name,
            variant: None,
            by,
            form: ResultForm::Value,
            declared: None,
            meter: Meter::default(),
            instances: Instances::default(),
            cancellation: Cancellation::default(),
            deadline: OnceLock::new(),
            limits: None,
            recorder: OnceLock::new(),
            is_worker: false,
            is_unobserved: false,
            is_shadow: false,
            is_review: false,
            is_unguarded: false,
            arguments: OnceLock::new(),
            thread: None,
            step: OnceLock::new(),
            child_steps: ChildSteps::default(),
            extras: OnceLock::new(),
        }
    }

    /// Removes and returns the user's answers during the call, ordered by the calls that they belong to.
    pub(crate) fn take_user_messages(&self) -> Vec<String> {
        let messages = self.extras().and_then(|extras| extras.effects.user_messages.get());
        let mut messages = messages.map(|mut messages| std::mem::take(&mut *messages)).unwrap_or_default();
        messages.sort_by_key(|(call, _)| *call);
        messages.into_iter().map(|(_, message)| message).collect()
    }

    /// Returns whether it may ask neither an approver nor the user.
    pub(crate) fn is_unattended(&self) -> bool {
        self.is_shadow || self.is_review
    }

    /// Returns what few calls have, if this one has some of it.
    pub(crate) fn extras(&self) -> Option<&CallExtras> {
        self.extras.get().map(AsRef::as_ref)
    }

    /// Returns what few calls have, to add to it.
    pub(crate) fn extras_or_default(&self) -> &CallExtras {
        self.extras.get_or_init(Box::default)
    }
}
