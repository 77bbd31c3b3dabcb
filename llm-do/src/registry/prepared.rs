//! A call with its arguments decoded.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::{Code, Registered, WorkerPlan};
use crate::definition::{Ask, Start};
use crate::error::Fault;
use crate::schema::CheckedSchema;

/// A call with its arguments decoded.
pub(crate) enum Prepared {
    /// With the schema of its arguments, if they have parts without an order.
    Function(Box<dyn Start>, Option<Arc<CheckedSchema>>),
    Worker(Box<Briefing>),
}

/// What a worker is asked.
pub(crate) struct Briefing {
    pub(crate) plan: Arc<WorkerPlan>,
    pub(crate) ask: Ask,
    /// The arguments as they are approved, reported and recorded: decoded, defaults filled in, sets and maps sorted.
    arguments: Value,
}

impl Prepared {
    /// Checks arguments by the schema, which names every fault, and decodes them.
    pub(crate) fn decode(tool: &Registered, given: Value) -> Result<Self, Fault> {
        tool.validate(&given).map_err(Fault::new)?;
        match &tool.code {
            Code::Function(decode) => Ok(Self::Function(decode(given)?, tool.unordered())),
            Code::Worker(plan) => {
                let (ask, arguments) = (plan.ask)(given, tool.schema())?;
                Ok(Self::Worker(Box::new(Briefing { plan: Arc::clone(plan), ask, arguments })))
            }
        }
    }

    /// Returns the arguments as they are approved, reported and recorded: decoded, defaults filled in, sets and maps sorted.
    pub(crate) fn arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        match self {
            Self::Function(start, None) => start.written().map(Cow::Owned),
            Self::Function(start, Some(schema)) => Ok(Cow::Owned(schema.canonical(start.written()?))),
            Self::Worker(briefing) => Ok(Cow::Borrowed(&briefing.arguments)),
        }
    }
}
