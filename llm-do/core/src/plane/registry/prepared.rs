//! Calls with decoded arguments.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use llm_do_providers::find_files;
use serde_json::Value;

use super::{Code, Registered, WorkerPlan};
use crate::base::error::Fault;
use crate::base::json::Json;
use crate::declare::argument::{Given, add_unwritten, is_contained};
use crate::declare::schema::{CheckedSchema, follow};
use crate::observe::event::EventValue;
use crate::plane::definition::{RenderPrompt, Start};

/// A call with decoded arguments.
pub(crate) enum Prepared {
    Function {
        start: Box<dyn Start>,
        /// The arguments before decoding, if their types do not decide alone what is valid: encoded again, some may be missing. In
        /// normal form if they were written from a Rust type.
        given: Option<Box<Value>>,
        /// Decoded, once something reads them.
        arguments: OnceCell<Json>,
        /// The schema of the arguments, by which they are compared, if they may contain sets or maps.
        unordered: Option<Arc<CheckedSchema>>,
    },
    Worker(Box<PreparedWorker>),
}

/// A call of a worker with decoded arguments.
pub(crate) struct PreparedWorker {
    pub(crate) plan: Arc<WorkerPlan>,
    pub(crate) render: RenderPrompt,
    /// The arguments for approval and events: decoded, with defaults filled in, in the order in which they were given.
    arguments: Json,
    /// The arguments before decoding.
    given: Value,
    /// The schema of the arguments, by which they are compared, if they may contain sets or maps.
    unordered: Option<Arc<CheckedSchema>>,
    has_files: bool,
}

/// The normal form of arguments, by which calls are compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NormalForm {
    pub(crate) arguments: Value,
    pub(crate) given: Option<Value>,
}

/// The arguments of a call as shown to an approver.
pub(crate) struct DisplayedArguments {
    /// The decoded arguments, with defaults filled in.
    pub(crate) arguments: Value,
    /// The arguments before decoding, if they contain more.
    pub(crate) given: Option<Value>,
    /// Their normal form, if it may differ.
    pub(crate) normal: Option<Box<NormalForm>>,
    pub(crate) has_files: bool,
}

impl Prepared {
    /// Checks arguments against the schema, which reports all faults, and decodes them.
    pub(crate) fn decode(tool: &Registered, given: impl Into<Given>) -> Result<Self, Fault> {
        Self::decode_or_keep(tool, given, &mut None)
    }

    /// The same; arguments that cannot be decoded are put into `refused`.
    pub(crate) fn decode_or_keep(
        tool: &Registered,
        given: impl Into<Given>,
        refused: &mut Option<Value>,
    ) -> Result<Self, Fault> {
        let given = given.into();
        if let Err(fault) = tool.validate(&given.value) {
            *refused = Some(given.value);
            return Err(Fault::new(fault));
        }
        Self::decode_valid(tool, given, refused)
    }

    /// Decodes a function's arguments from their text; `is_observed` is whether an event has them.
    ///
    /// Returns `None` if the text is not known to be valid, or if its types alone do not decide that.
    pub(crate) fn decode_text(tool: &Registered, text: &str, is_observed: bool) -> Option<Self> {
        let Code::Function(decode) = &tool.code else { return None };
        let decode = Some(decode).filter(|decode| tool.reads_text(decode))?;
        let start = (decode.text)(text, is_observed)?;
        Some(Self::function(start, None, None))
    }

    /// Like [`decode_or_keep`](Self::decode_or_keep); arguments that take long to check are checked off the async
    /// threads.
    pub(crate) async fn decode_apart(
        tool: &Registered,
        given: impl Into<Given>,
        refused: &mut Option<Value>,
    ) -> Result<Self, Fault> {
        let Given { value, is_typed } = given.into();
        let (value, checked) = tool.validate_apart(value).await;
        if let Err(fault) = checked {
            *refused = Some(value);
            return Err(Fault::new(fault));
        }
        Self::decode_valid(tool, Given { value, is_typed }, refused)
    }

    fn decode_valid(tool: &Registered, given: Given, refused: &mut Option<Value>) -> Result<Self, Fault> {
        match &tool.code {
            Code::Function(decode) => {
                let kept = (!tool.reads_text(decode)).then(|| kept(tool, &given));
                match (decode.value)(given.value) {
                    Ok(start) => Ok(Self::function(start, kept, tool.unordered())),
                    Err(fault) => {
                        *refused = kept;
                        Err(fault)
                    }
                }
            }
            Code::Value(function) => {
                // Functions that take JSON accept all arguments that the schema accepts.
                let kept = function.is_typed.then(|| given.value.clone());
                match (function.decode)(given.value) {
                    Ok(start) => Ok(Self::function(start, None, tool.unordered())),
                    Err(fault) => {
                        *refused = kept;
                        Err(fault)
                    }
                }
            }
            Code::Worker(plan) => {
                let kept = kept(tool, &given);
                let (decoded, found) = find_files(|| (plan.ask)(given, tool.schema()));
                let (render, arguments) = match decoded {
                    Ok(decoded) => decoded,
                    Err(fault) => {
                        *refused = Some(kept);
                        return Err(fault);
                    }
                };
                let unordered = tool.unordered();
                let arguments = completed(arguments, &kept, unordered.as_deref()).into();
                let (plan, has_files) = (Arc::clone(plan), !found.is_empty());
                let prepared = PreparedWorker { plan, render, arguments, given: kept, unordered, has_files };
                Ok(Self::Worker(Box::new(prepared)))
            }
        }
    }

    fn function(start: Box<dyn Start>, given: Option<Value>, unordered: Option<Arc<CheckedSchema>>) -> Self {
        Self::Function { start, given: given.map(Box::new), arguments: OnceCell::new(), unordered }
    }

    /// Returns the arguments for approval and events, made once: decoded, with defaults filled in and with the fields that their
    /// types read but do not write, in the order in which they were given.
    pub(crate) fn arguments(&self) -> Result<&Json, Fault> {
        let made = match self {
            Self::Function { arguments, .. } => arguments,
            Self::Worker(worker) => return Ok(&worker.arguments),
        };
        if let Some(arguments) = made.get() {
            return Ok(arguments);
        }
        let written = self.write_arguments()?;
        Ok(made.get_or_init(|| written))
    }

    /// Serializes the [arguments](Self::arguments), and registers their files with [`find_files`].
    fn write_arguments(&self) -> Result<Json, Fault> {
        match self {
            Self::Function { start, given: None, .. } => start.arguments(),
            Self::Function { start, given: Some(given), unordered, .. } => {
                Ok(completed(start.arguments()?.into_value(), given, unordered.as_deref()).into())
            }
            Self::Worker(worker) => Ok(worker.arguments.clone()),
        }
    }

    /// Returns the [arguments](Self::arguments) in normal form: equal calls have equal ones.
    pub(crate) fn normal_arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        let arguments = self.arguments()?.value();
        Ok(match self.unordered() {
            Some(schema) => Cow::Owned(schema.canonical(arguments.clone())),
            None => Cow::Borrowed(arguments),
        })
    }

    /// Returns the [arguments](Self::normal_arguments) in normal form, shared with the call where they are those of it.
    pub(crate) fn share_normal_arguments(&self) -> Result<Arc<Value>, Fault> {
        let arguments = self.arguments()?.shared_value();
        Ok(match self.unordered() {
            Some(schema) => Arc::new(schema.canonical(Value::clone(arguments))),
            None => Arc::clone(arguments),
        })
    }

    fn unordered(&self) -> Option<&CheckedSchema> {
        match self {
            Self::Function { unordered, .. } => unordered.as_deref(),
            Self::Worker(worker) => worker.unordered.as_deref(),
        }
    }

    /// Returns the [arguments](Self::arguments) for the event of the call's start.
    pub(crate) fn arguments_of_event(&self) -> Result<EventValue, Fault> {
        self.arguments().cloned().map(EventValue::from_json)
    }

    /// Returns the arguments as the approver sees them.
    pub(crate) fn shown(&self) -> Result<DisplayedArguments, Fault> {
        let (arguments, found) = find_files(|| self.write_arguments());
        let arguments = arguments?.into_value();
        let (given, has_files) = match self {
            Self::Function { start, given, .. } => (given.as_deref(), start.has_files() || !found.is_empty()),
            Self::Worker(worker) => (Some(&worker.given), worker.has_files),
        };
        let given = given.filter(|given| !is_contained(given, &arguments)).cloned();
        let normal = self.unordered().map(|schema| {
            let given = given.clone().map(|given| schema.canonical(given));
            Box::new(NormalForm { arguments: schema.canonical(arguments.clone()), given })
        });
        Ok(DisplayedArguments { arguments, given, normal, has_files })
    }
}

/// Returns a copy of the arguments before decoding; sets and maps of a Rust type are sorted, since their order has no
/// meaning.
fn kept(tool: &Registered, given: &Given) -> Value {
    let copy = given.value.clone();
    if given.is_typed { tool.canonical(copy) } else { copy }
}

/// Returns serialized arguments, completed with the fields that only `given` has, in its order.
fn completed(mut written: Value, given: &Value, unordered: Option<&CheckedSchema>) -> Value {
    let Some(schema) = unordered else {
        add_unwritten(&mut written, given, false);
        return written;
    };
    // In normal form, the items of sets are at the same positions in both values.
    let (mut sorted, sorted_given) = (schema.canonical(written), schema.canonical(given.clone()));
    add_unwritten(&mut sorted, &sorted_given, true);
    sorted = schema.canonical(sorted);
    follow(&mut sorted, given, &sorted_given);
    sorted
}
