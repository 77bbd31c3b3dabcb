//! The data of one call.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::sync::Semaphore;

use super::time::Deadline;
use crate::base::cancellation::Cancellation;
use crate::base::mutex::LazyMutex;
use crate::base::pauses::Pauses;
use crate::base::usage::{Limits, Meter, UsageRecorder};
use crate::declare::prompt::Attached;
use crate::observe::event::Caller;
use crate::observe::journal::{ChildSteps, StepSpec};
use crate::plane::background::{BackgroundCalls, InBackground};
use crate::plane::call_stream::Pieces;
use crate::plane::conversation::{NamedThread, ThreadChange};
use crate::plane::declared::Declared;
use crate::plane::instance::Instances;
#[cfg(feature = "script")]
use crate::plane::origin::HeldReadings;
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
    /// The text may contain secret headers, so it is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variant(..)")
    }
}

/// The data of one call. Rarely used data is on the heap.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the call that is known when it is admitted")]
pub(crate) struct CallFrame {
    pub(crate) call: u64,
    pub(crate) depth: u32,
    /// The number of calls of any kind that it is nested in.
    pub(crate) nesting: u32,
    pub(crate) name: Arc<str>,
    /// Distinguishes the callee from other callees with the same name.
    pub(crate) variant: Option<Variant>,
    pub(crate) by: Caller,
    /// What it may call; `None` if everything.
    pub(crate) declared: Option<Arc<Declared>>,
    pub(crate) meter: Meter,
    /// The instances that it opened, and the instance that it runs on.
    pub(crate) instances: Instances,
    pub(crate) cancellation: Cancellation,
    /// Its deadline, if it has a timeout. Set when it starts, since the wait for approval does not count.
    pub(crate) deadline: OnceLock<Box<Deadline>>,
    /// The limits for it and the calls below it.
    pub(crate) limits: Option<Arc<Limits>>,
    /// Its usage by callee; created for calls that use something.
    pub(crate) recorder: OnceLock<Arc<UsageRecorder>>,
    pub(crate) is_worker: bool,
    /// Whether it is known that no sink receives its events.
    pub(crate) is_unobserved: bool,
    /// Whether it is the worker of a shadow: it asks no user and is not in the journal.
    pub(crate) is_shadow: bool,
    /// Whether it reviews a call for its approval, or is made by what does: its calls are never asked about.
    pub(crate) is_review: bool,
    /// Whether it was made by a guard, directly or through other calls.
    pub(crate) is_unguarded: bool,
    /// The arguments of a worker: a nested call of the same worker with the same arguments is a cycle.
    pub(crate) arguments: OnceLock<Box<Value>>,
    /// The thread that it continues.
    pub(crate) thread: Option<Arc<NamedThread>>,
    /// Its step in the journal.
    pub(crate) step: OnceLock<Box<StepSpec>>,
    /// The steps that it makes in the journal.
    pub(crate) child_steps: ChildSteps,
    /// The calls that it starts in the background.
    pub(crate) background: BackgroundCalls,
    pub(crate) extras: OnceLock<Box<CallExtras>>,
}

/// The data that few calls have; allocated on first use.
#[derive(Debug, Default)]
pub(crate) struct CallExtras {
    /// The files in its arguments.
    pub(crate) attached: OnceLock<Vec<Attached>>,
    pub(crate) effects: SideEffects,
    pub(crate) code: ModelCode,
    pub(crate) steps: LateSteps,
    /// The idempotency key of the call whose outcome its calls reconcile.
    pub(crate) reconciled: OnceLock<String>,
    /// What it has read, for decisions about its calls.
    pub(crate) origins: OriginNotes,
    /// Who receives the pieces of its result, if anyone does.
    pub(crate) pieces: Option<Arc<Pieces>>,
    /// What is known of it if it is in the background.
    pub(crate) in_background: Option<InBackground>,
    /// Set if a tool is asked before the worker, which must not repeat what the tool has changed.
    pub(crate) answers_first: OnceLock<()>,
    /// How many of its calls in the background may run.
    pub(crate) permits: OnceLock<Arc<Semaphore>>,
    /// The pauses while the run waited for people; only in the frame of its user.
    pub(crate) waits: Arc<Pauses>,
}

/// The effects of a call besides its result, which a journal records too.
#[derive(Debug, Default)]
pub(crate) struct SideEffects {
    /// The user's answers to questions, each with the id of the worker call to which it belongs. The conversation of
    /// that worker contains the answers too.
    pub(crate) user_messages: LazyMutex<Vec<(u64, String)>>,
    /// The approvals inside it for more than one call, in recorded form.
    pub(crate) approved: LazyMutex<Vec<Value>>,
    /// The changes of threads by the calls below it.
    pub(crate) thread_changes: LazyMutex<Vec<Arc<ThreadChange>>>,
    /// The code of a model that ran in it.
    pub(crate) ran_code: OnceLock<String>,
    /// The tools whose calls inside it may have changed something, by name; known only where [`answers_first`](CallExtras::answers_first) is set
    /// in it or in a caller.
    pub(crate) acted: LazyMutex<Vec<Arc<str>>>,
}

/// The code that the model of a code-mode worker has run.
#[derive(Debug, Default)]
pub(crate) struct ModelCode {
    /// The process that runs it.
    #[cfg(feature = "script")]
    pub(crate) session: OnceLock<Arc<dyn std::any::Any + Send + Sync>>,
    /// The code that calls ran in another process, and whose results a journal replayed.
    pub(crate) replayed: LazyMutex<Vec<String>>,
    /// What the code has read, which its variables hold.
    #[cfg(feature = "script")]
    pub(crate) held: LazyMutex<HeldReadings>,
}

/// The steps of a call that a journal records after later steps, or after the result.
#[derive(Debug, Default)]
pub(crate) struct LateSteps {
    /// Denials of its calls by a mode or a rule, each with its step; recorded once the call continues after them.
    pub(crate) denials: LazyMutex<Vec<(StepSpec, Value)>>,
    /// The steps that guards make after a root call, with their parent key. They are separate, since a replay of the
    /// call does not run its steps.
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
            background: BackgroundCalls::default(),
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

    /// Returns the rarely used data, if any.
    pub(crate) fn extras(&self) -> Option<&CallExtras> {
        self.extras.get().map(AsRef::as_ref)
    }

    /// Returns who receives the pieces of its result, if anyone does.
    pub(crate) fn pieces(&self) -> Option<&Arc<Pieces>> {
        self.extras()?.pieces.as_ref()
    }

    /// Returns what is known of it in the background, if it is there.
    pub(crate) fn in_background(&self) -> Option<&InBackground> {
        self.extras()?.in_background.as_ref()
    }

    /// Returns the rarely used data, which it allocates if necessary.
    pub(crate) fn extras_or_default(&self) -> &CallExtras {
        self.extras.get_or_init(Box::default)
    }
}
