//! A call with its arguments decoded.

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::find_files;
use serde_json::Value;

use super::{Code, Registered, WorkerPlan};
use crate::base::error::Fault;
use crate::declare::argument::{add_unwritten, is_contained};
use crate::declare::schema::CheckedSchema;
use crate::plane::definition::{Ask, Start};

/// A call with its arguments decoded.
pub(crate) enum Prepared {
    Function {
        start: Box<dyn Start>,
        /// The arguments before they were decoded, if anybody may read them.
        given: Option<Box<Value>>,
        /// The schema of the arguments, if they have parts without an order.
        unordered: Option<Arc<CheckedSchema>>,
    },
    Worker(Box<Briefing>),
}

/// What a worker is asked.
pub(crate) struct Briefing {
    pub(crate) plan: Arc<WorkerPlan>,
    pub(crate) ask: Ask,
    /// The arguments as they are approved, reported and recorded: decoded, defaults filled in, sets and maps sorted.
    arguments: Value,
    /// The arguments before they were decoded.
    given: Value,
    has_files: bool,
}

/// Arguments as somebody is asked about them.
pub(crate) struct Shown {
    /// Decoded, defaults filled in.
    pub(crate) arguments: Value,
    /// As they were given, if they say more.
    pub(crate) given: Option<Value>,
    pub(crate) has_files: bool,
}

impl Prepared {
    /// Checks arguments by the schema, which names every fault, and decodes them.
    ///
    /// `is_read` says whether anybody may read them before or beside the call; if not, none are kept.
    pub(crate) fn decode(tool: &Registered, given: Value, is_read: bool) -> Result<Self, Fault> {
        tool.validate(&given).map_err(Fault::new)?;
        Self::decode_valid(tool, given, is_read)
    }

    /// The same; arguments that take long to check are checked off the async threads.
    pub(crate) async fn decode_apart(tool: &Registered, given: Value, is_read: bool) -> Result<Self, Fault> {
        let (given, checked) = tool.validate_apart(given).await;
        checked.map_err(Fault::new)?;
        Self::decode_valid(tool, given, is_read)
    }

    fn decode_valid(tool: &Registered, given: Value, is_read: bool) -> Result<Self, Fault> {
        match &tool.code {
            Code::Function(decode) => {
                let kept = is_read.then(|| Box::new(tool.canonical(given.clone())));
                Ok(Self::Function { start: decode(given)?, given: kept, unordered: tool.unordered() })
            }
            Code::Worker(plan) => {
                let kept = tool.canonical(given.clone());
                let (asked, found) = find_files(|| (plan.ask)(given, tool.schema()));
                let (ask, mut arguments) = asked?;
                add_unwritten(&mut arguments, &kept, tool.unordered().is_some());
                let arguments = tool.canonical(arguments);
                let (plan, has_files) = (Arc::clone(plan), !found.is_empty());
                Ok(Self::Worker(Box::new(Briefing { plan, ask, arguments, given: kept, has_files })))
            }
        }
    }

    /// Returns the arguments as they are approved, reported and recorded: decoded, defaults filled in, with what their types
    /// read and do not write, sets and maps sorted.
    pub(crate) fn arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        match self {
            Self::Function { start, given, unordered } => {
                let sorted = |arguments| match unordered {
                    Some(schema) => schema.canonical(arguments),
                    None => arguments,
                };
                // Sorted before too, so that the items of sets stand at the same places as given.
                let mut arguments = sorted(start.written()?);
                if let Some(given) = given {
                    add_unwritten(&mut arguments, given, unordered.is_some());
                }
                Ok(Cow::Owned(sorted(arguments)))
            }
            Self::Worker(briefing) => Ok(Cow::Borrowed(&briefing.arguments)),
        }
    }

    /// Returns what is shown to whoever decides about the call.
    pub(crate) fn shown(&self) -> Result<Shown, Fault> {
        let (arguments, found) = find_files(|| self.arguments());
        let arguments = arguments?.into_owned();
        let (given, has_files) = match self {
            Self::Function { start, given, .. } => (given.as_deref(), start.has_files() || !found.is_empty()),
            Self::Worker(briefing) => (Some(&briefing.given), briefing.has_files),
        };
        let given = given.filter(|given| !is_contained(given, &arguments)).cloned();
        Ok(Shown { arguments, given, has_files })
    }
}
