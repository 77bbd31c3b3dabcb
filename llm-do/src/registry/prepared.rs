//! A call with its arguments decoded.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::{Code, Registered, WorkerPlan};
use crate::definition::{Ask, Start};
use crate::error::Fault;

/// A call with its arguments decoded.
pub(crate) enum Prepared {
    Function(Box<dyn Start>),
    Worker(Box<Briefing>),
}

/// What a worker is asked.
pub(crate) struct Briefing {
    pub(crate) plan: Arc<WorkerPlan>,
    pub(crate) ask: Ask,
    /// The arguments as they are approved and reported: decoded, defaults filled in.
    arguments: Value,
}

impl Prepared {
    /// Checks arguments by the schema, which names every fault, and decodes them.
    pub(crate) fn decode(tool: &Registered, given: Value) -> Result<Self, Fault> {
        tool.validate(&given).map_err(Fault::new)?;
        match &tool.code {
            Code::Function(decode) => Ok(Self::Function(decode(given)?)),
            Code::Worker(plan) => {
                let (ask, arguments) = (plan.ask)(given)?;
                Ok(Self::Worker(Box::new(Briefing { plan: Arc::clone(plan), ask, arguments })))
            }
        }
    }

    /// Returns the arguments as they are approved and reported: decoded, defaults filled in.
    pub(crate) fn arguments(&self) -> Result<Cow<'_, Value>, Fault> {
        match self {
            Self::Function(start) => start.written().map(Cow::Owned),
            Self::Worker(briefing) => Ok(Cow::Borrowed(&briefing.arguments)),
        }
    }
}
