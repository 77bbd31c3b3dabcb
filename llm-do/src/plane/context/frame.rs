//! The facts of one call.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::time::Deadline;
use crate::base::cancellation::Cancellation;
use crate::base::mutex::LazyMutex;
use crate::base::usage::{Limits, Meter, UsageRecorder};
use crate::declare::prompt::Attached;
use crate::observe::event::Caller;
use crate::observe::journal::{Places, StepSpec};
use crate::plane::declared::Declared;
use crate::plane::instance::Instances;

/// What tells a callee from others of its name, if it was put together while the program ran: all that makes it.
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
    /// Without its text, which holds headers that may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variant(..)")
    }
}

/// The facts of one call; those that few calls have are on the heap.
#[derive(Debug)]
pub(crate) struct CallFrame {
    pub(crate) call: u64,
    pub(crate) depth: u32,
    /// How many calls of any kind it is inside of.
    pub(crate) nesting: u32,
    pub(crate) name: Arc<str>,
    /// What tells the callee from others of its name.
    pub(crate) variant: Option<Variant>,
    pub(crate) by: Caller,
    /// What it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<Declared>>,
    pub(crate) meter: Meter,
    /// What it opened, and what it was opened for.
    pub(crate) instances: Instances,
    pub(crate) cancellation: Cancellation,
    /// When it must have ended, if that is earlier than its caller must; known once it starts, since its time does not run while somebody decides about it.
    pub(crate) deadline: OnceLock<Box<Deadline>>,
    /// What it and the calls below it may use.
    pub(crate) limits: Option<Arc<Limits>>,
    /// Who used what; made for those that use something.
    pub(crate) recorder: OnceLock<Box<UsageRecorder>>,
    pub(crate) is_worker: bool,
    /// Whether it is asked alongside a tool: it asks nobody, and is in no journal.
    pub(crate) is_shadow: bool,
    /// Whether a guard made it, or a call that it is below of.
    pub(crate) is_unguarded: bool,
    /// What a worker was called with: to be called again with the same below itself is a cycle.
    pub(crate) arguments: OnceLock<Box<Value>>,
    /// The files that came with its prompt.
    pub(crate) attached: OnceLock<Vec<Attached>>,
    /// What the user said meanwhile: for a worker's conversation, and for the record of a call below it.
    pub(crate) heard: Heard,
    /// Where a journal keeps it.
    pub(crate) step: OnceLock<Box<StepSpec>>,
    /// Where a journal keeps what it does.
    pub(crate) places: Places,
    /// Where a journal keeps what guards do after a root call, whose inside a replay does not run: the key, and the places.
    pub(crate) after: OnceLock<Box<(Arc<str>, Places)>>,
}

impl CallFrame {
    /// Begins a frame: at depth 0, with nothing declared, limited or used.
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
            is_shadow: false,
            is_unguarded: false,
            arguments: OnceLock::new(),
            attached: OnceLock::new(),
            heard: Heard::default(),
            step: OnceLock::new(),
            places: Places::default(),
            after: OnceLock::new(),
        }
    }
}

/// What was said while a worker's tools ran, with the number of the call that it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Heard(LazyMutex<Vec<(u64, String)>>);

impl Heard {
    pub(crate) fn add(&self, call: u64, said: String) {
        self.0.get_or_default().push((call, said));
    }

    /// Returns it in the order of the calls, and of each call as it was said.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut said = self.0.get().map(|mut said| std::mem::take(&mut *said)).unwrap_or_default();
        said.sort_by_key(|(call, _)| *call);
        said.into_iter().map(|(_, said)| said).collect()
    }
}
