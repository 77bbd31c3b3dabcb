//! Who may decide whether a call runs, and what is remembered of it.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::event::{Judge, Kind};
use crate::registry::Registered;
use crate::tool::Effect;

/// Decides about calls that need approval.
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Decides whether one call may run. Called for one call at a time.
    async fn review(&self, request: &ApprovalRequest) -> Decision;
}

/// A call that needs approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool's registered name.
    pub tool: Arc<str>,
    /// What the tool does.
    pub description: Arc<str>,
    /// What a call may change.
    pub effect: Effect,
    /// The arguments, decoded already: they follow the schema.
    pub arguments: Value,
    /// Who asks: the name of the calling tool, worker or entry.
    pub caller: Arc<str>,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// This once.
    Approved,
    /// Now, and whenever the same tool is called with the same arguments in this session.
    ApprovedForSession,
    /// Not.
    Denied {
        /// Why, in words fit to show to a model.
        reason: String,
    },
}

/// How calls that need approval are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// The approver is asked; without one, the call is denied.
    #[default]
    Prompt,
    /// Each is approved.
    ApproveAll,
    /// Each is denied.
    RejectAll,
}

/// The approvals of a session: how they are decided, and those to remember.
#[derive(Debug)]
pub(crate) struct Approvals {
    mode: ApprovalMode,
    approver: Option<Arc<dyn Approver>>,
    remembered: Mutex<HashSet<(Arc<str>, String)>>,
    /// One question at a time.
    turn: Semaphore,
}

/// A decision and whose it is.
pub(crate) type Ruling = (Result<(), String>, Judge);

impl Approvals {
    pub(crate) fn new(mode: ApprovalMode, approver: Option<Arc<dyn Approver>>) -> Self {
        Self { mode, approver, remembered: Mutex::default(), turn: Semaphore::new(1) }
    }

    /// Asks the mode, the memory or the approver about `request`.
    pub(crate) async fn decide(&self, request: &ApprovalRequest) -> Ruling {
        match self.mode {
            ApprovalMode::ApproveAll => (Ok(()), Judge::Mode),
            ApprovalMode::RejectAll => (Err("every call that needs approval is rejected".to_owned()), Judge::Mode),
            ApprovalMode::Prompt => self.prompt(request).await,
        }
    }

    async fn prompt(&self, request: &ApprovalRequest) -> Ruling {
        let Some(approver) = &self.approver else {
            let reason = "nobody can be asked: give the runtime an approver, or approve all calls";
            return (Err(reason.to_owned()), Judge::Policy);
        };
        // The semaphore is never closed; an error would only mean that questions may overlap.
        let _turn = self.turn.acquire().await.ok();
        let key = (Arc::clone(&request.tool), canonical(&request.arguments).to_string());
        if self.remembered().contains(&key) {
            return (Ok(()), Judge::Memory);
        }
        match approver.review(request).await {
            Decision::Approved => (Ok(()), Judge::Approver),
            Decision::ApprovedForSession => {
                self.remembered().insert(key);
                (Ok(()), Judge::Approver)
            }
            Decision::Denied { reason } => (Err(reason), Judge::Approver),
        }
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, HashSet<(Arc<str>, String)>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sorts the keys of all objects, so that equal arguments have equal texts.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            fields.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            fields.into_iter().collect()
        }
        other => other.clone(),
    }
}

/// Returns whether a call of `tool` needs approval, by what the tool declares.
///
/// A worker does not: what it calls is asked about.
pub(crate) fn needs_approval(tool: &Registered) -> bool {
    tool.kind() != Kind::Worker && tool.effect() != Effect::ReadOnly
}
