//! Calls with decoded arguments.

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::find_files;
use serde_json::Value;

use super::{Code, Registered, WorkerPlan};
use crate::base::error::Fault;
use crate::declare::argument::{add_unwritten, is_contained};
use crate::declare::schema::CheckedSchema;
use crate::observe::event::EventValue;
use crate::plane::definition::{RenderPrompt, Start};

/// A call with decoded arguments.
pub(crate) enum Prepared {
    Function {
        start: Box<dyn Start>,
        /// Set if something may read the arguments.
        read: Option<Box<ReadArguments>>,
        /// The schema of the arguments, if they contain sets or maps.
        unordered: Option<Arc<CheckedSchema>>,
    },
    Worker(Box<PreparedWorker>),
}

/// The arguments of a function that something may read.
pub(crate) struct ReadArguments {
    /// Before decoding.
    given: Value,
    /// Decoded, once something shares them.
    shared: Option<Arc<Value>>,
}

/// A call of a worker with decoded arguments.
pub(crate) struct PreparedWorker {
    pub(crate) plan: Arc<WorkerPlan>,
    pub(crate) render: RenderPrompt,
    /// The arguments for approval, events and the journal: decoded, with defaults filled in, and sets and maps
    /// sorted.
    arguments: Arc<Value>,
    /// The arguments before decoding.
    given: Value,
    has_files: bool,
}

/// The arguments of a call as shown to an approver.
pub(crate) struct DisplayedArguments {
    /// Decoded, with defaults filled in.
    pub(crate) arguments: Value,
    /// Before decoding, if that contains more.
    pub(crate) given: Option<Value>,
    pub(crate) has_files: bool,
}

impl Prepared {
    /// Checks arguments against the schema, which reports all faults, and decodes them.
    ///
    /// `is_read` is whether something may read them before or during the call; if not, no copy is kept.
    pub(crate) fn decode(tool: &Registered, given: Value, is_read: bool) -> Result<Self, Fault> {
        Self::decode_or_keep(tool, given, is_read, &mut None)
    }

    /// The same; arguments that cannot be decoded are put into `refused`, if something may read them.
    pub(crate) fn decode_or_keep(
        tool: &Registered,
        given: Value,
        is_read: bool,
        refused: &mut Option<Value>,
    ) -> Result<Self, Fault> {
        if let Err(fault) = tool.validate(&given) {
            *refused = Some(given);
            return Err(Fault::new(fault));
        }
        Self::decode_valid(tool, given, is_read, refused)
    }

    /// Decodes a function's arguments from their text; `is_read` is whether an event has them.
    ///
    /// Returns `None` for a text that is not known to be valid, and for arguments whose types do not decide that alone.
    pub(crate) fn decode_text(tool: &Registered, text: &str, is_read: bool) -> Option<Self> {
        let Code::Function(decode) = &tool.code else { return None };
        let decode = Some(decode).filter(|decode| tool.reads_text(decode))?;
        let start = (decode.text)(text, is_read)?;
        Some(Self::Function { start, read: None, unordered: None })
    }

    /// The same; arguments that take long to check are checked off the async threads.
    pub(crate) async fn decode_apart(
        tool: &Registered,
        given: Value,
        is_read: bool,
        refused: &mut Option<Value>,
    ) -> Result<Self, Fault> {
        let (given, checked) = tool.validate_apart(given).await;
        if let Err(fault) = checked {
            *refused = Some(given);
            return Err(Fault::new(fault));
        }
        Self::decode_valid(tool, given, is_read, refused)
    }

    fn decode_valid(
        tool: &Registered,
        given: Value,
        is_read: bool,
        refused: &mut Option<Value>,
    ) -> Result<Self, Fault> {
        match &tool.code {
            Code::Function(decode) => {
                let read =
                    is_read.then(|| Box::new(ReadArguments { given: tool.canonical(given.clone()), shared: None }));
                match (decode.value)(given) {
                    Ok(start) => Ok(Self::Function { start, read, unordered: tool.unordered() }),
                    Err(fault) => {
                        *refused = read.map(|read| read.given);
                        Err(fault)
                    }
                }
            }
            Code::Value(function) => {
                let given = tool.canonical(given);
                // Functions that take JSON decode all that is valid.
                let kept = (is_read && function.is_typed).then(|| given.clone());
                match (function.decode)(given) {
                    Ok(start) => Ok(Self::Function { start, read: None, unordered: tool.unordered() }),
                    Err(fault) => {
                        *refused = kept;
                        Err(fault)
                    }
                }
            }
            Code::Worker(plan) => {
                let kept = tool.canonical(given.clone());
                let (decoded, found) = find_files(|| (plan.ask)(given, tool.schema()));
                let (render, mut arguments) = match decoded {
                    Ok(decoded) => decoded,
                    Err(fault) => {
                        *refused = Some(kept);
                        return Err(fault);
                    }
                };
                add_unwritten(&mut arguments, &kept, tool.unordered().is_some());
                let arguments = Arc::new(tool.canonical(arguments));
                let (plan, has_files) = (Arc::clone(plan), !found.is_empty());
                Ok(Self::Worker(Box::new(PreparedWorker { plan, render, arguments, given: kept, has_files })))
            }
        }
    }

    /// Returns the arguments for approval, events and the journal: decoded, with defaults filled in and with the
    /// fields that their types read but do not write, and with sets and maps sorted.
    pub(crate) fn arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        match self.shared() {
            Some(arguments) => Ok(Cow::Borrowed(arguments)),
            None => self.write_arguments(),
        }
    }

    /// Returns the arguments, if they were made before.
    fn shared(&self) -> Option<&Arc<Value>> {
        match self {
            Self::Function { read, .. } => read.as_ref()?.shared.as_ref(),
            Self::Worker(worker) => Some(&worker.arguments),
        }
    }

    /// Makes the [arguments](Self::arguments), and their files known to [`find_files`].
    fn write_arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        match self {
            Self::Function { start, read, unordered } => {
                let sorted = |arguments| match unordered {
                    Some(schema) => schema.canonical(arguments),
                    None => arguments,
                };
                // Sorted before this too, so that the items of sets are at the same positions as in `given`.
                let mut arguments = sorted(start.written()?);
                if let Some(read) = read {
                    add_unwritten(&mut arguments, &read.given, unordered.is_some());
                }
                Ok(Cow::Owned(sorted(arguments)))
            }
            Self::Worker(worker) => Ok(Cow::Borrowed(&worker.arguments)),
        }
    }

    /// Returns the [arguments](Self::arguments), which are made once.
    pub(crate) fn share_arguments(&mut self) -> Result<Arc<Value>, Fault> {
        if let Some(arguments) = self.shared() {
            return Ok(Arc::clone(arguments));
        }
        let made = Arc::new(self.write_arguments()?.into_owned());
        if let Self::Function { read: Some(read), .. } = self {
            read.shared = Some(Arc::clone(&made));
        }
        Ok(made)
    }

    /// Returns the [arguments](Self::arguments) for the event of the call's start: as text if they were decoded from text.
    pub(crate) fn arguments_of_event(&mut self) -> Result<EventValue, Fault> {
        let text = match self {
            // Nothing was kept to compare with, and nothing is sorted.
            Self::Function { start, read: None, unordered: None } => start.written_as_text(),
            _ => None,
        };
        match text {
            Some(text) => Ok(EventValue::from_json(text)),
            None => self.share_arguments().map(EventValue::from_shared),
        }
    }

    /// Returns the arguments as the approver sees them.
    pub(crate) fn shown(&self) -> Result<DisplayedArguments, Fault> {
        let (arguments, found) = find_files(|| self.write_arguments());
        let arguments = arguments?.into_owned();
        let (given, has_files) = match self {
            Self::Function { start, read, .. } => {
                (read.as_ref().map(|read| &read.given), start.has_files() || !found.is_empty())
            }
            Self::Worker(worker) => (Some(&worker.given), worker.has_files),
        };
        let given = given.filter(|given| !is_contained(given, &arguments)).cloned();
        Ok(DisplayedArguments { arguments, given, has_files })
    }
}
