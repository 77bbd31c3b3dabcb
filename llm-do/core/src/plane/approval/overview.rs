//! The pending requests of a run, and the remembered approvals.

use std::sync::Arc;

use serde_json::Value;

use super::{ApprovalRequest, LastingApproval};
use crate::observe::event::ApprovalScope;

/// The approvals of a run: its pending requests, and the remembered approvals.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ApprovalOverview {
    /// The unanswered requests of this run, in the order in which they were made.
    pub pending: Vec<Arc<ApprovalRequest>>,
    /// The approvals of this run and of the session that hold for more than one call. Sorted by tool.
    pub remembered: Vec<RememberedApproval>,
}

/// A remembered approval: equal calls run without another request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RememberedApproval {
    /// The tool's registered name.
    pub tool: Arc<str>,
    /// The arguments that a call must have.
    pub arguments: Value,
    /// How long it holds, and for which callers.
    pub scope: ApprovalScope,
    /// The callers from the root, for the scope of a caller; empty for other scopes.
    pub callers: Vec<Arc<str>>,
}

impl From<&LastingApproval> for RememberedApproval {
    fn from(LastingApproval { scope, call, path }: &LastingApproval) -> Self {
        let callers = path.iter().flatten().map(|(name, _)| Arc::clone(name)).collect();
        Self { tool: call.tool(), arguments: call.arguments(), scope: *scope, callers }
    }
}

impl RememberedApproval {
    pub(super) fn order(&self) -> (Arc<str>, String, Vec<Arc<str>>) {
        (Arc::clone(&self.tool), self.arguments.to_string(), self.callers.clone())
    }
}
