//! The contents of a dry run's plan.

use serde::{Deserialize, Serialize};

use super::detail::ItemKind;

/// The kind of an entry in the plan of a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlannedKind {
    /// A call of a function in code.
    Tool,
    /// A call of a worker, which needs approval.
    Worker,
    /// A call of an entry.
    Entry,
    /// An effect of code, made by [`CallContext::effect`](crate::plane::context::CallContext::effect).
    Effect,
    /// A tool that the provider of a worker's model runs; it is in the plan once for each call of the worker.
    ServerSideTool,
}

impl From<ItemKind> for PlannedKind {
    fn from(kind: ItemKind) -> Self {
        match kind {
            ItemKind::Tool => Self::Tool,
            ItemKind::Worker => Self::Worker,
            ItemKind::Entry => Self::Entry,
        }
    }
}

/// The approval that a call in the plan of a dry run would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlannedApproval {
    /// A rule approves the call, or the user made it.
    NotNeeded,
    /// The approver would be asked.
    Asked,
    /// The approval mode approves the call.
    ByMode,
}

impl PlannedApproval {
    /// Returns the description, to follow the name of a call.
    #[doc(hidden)]
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::NotNeeded => "needs no approval",
            Self::Asked => "would ask for approval",
            Self::ByMode => "is approved by the approval mode",
        }
    }
}
