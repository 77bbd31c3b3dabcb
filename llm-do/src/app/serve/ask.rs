//! What runs ask people: stored first, answered by a person later, in this process or another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::store::{Asked, Store, StoreError, Topic, WaitKind};
use crate::base::clock::Clock;
use crate::base::error::BoxError;
use crate::observe::event::ApprovalScope;
use crate::plane::approval::{ApprovalRequest, Approver, Decision};
use crate::plane::user_input::{InputHandler, InputRequest};

/// Asks people on behalf of one run.
#[derive(Clone, Debug)]
pub(super) struct Asker(Arc<AskingRun>);

#[derive(Debug)]
struct AskingRun {
    run: String,
    attempt: u64,
    store: Store,
    clock: Arc<dyn Clock>,
    /// Whether the run is only set aside: what it asks stays open.
    is_set_aside: AtomicBool,
}

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(super) enum Verdict {
    /// The call may run.
    Approve {
        /// Which equal calls run without another request: default only this one.
        #[serde(default)]
        scope: Scope,
    },
    /// The call may run with these arguments, which are validated like a caller's.
    Edit {
        /// The arguments.
        arguments: Value,
    },
    /// The call may not run.
    Deny {
        /// The reason; models may see it.
        reason: String,
    },
}

/// Which equal calls of the run an approval holds for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(super) enum Scope {
    /// This call only.
    #[default]
    Call,
    /// Equal calls of the same callers.
    Caller,
    /// Equal calls of any caller.
    Run,
}

impl From<Verdict> for Decision {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Approve { scope: Scope::Call } => Self::approve(),
            Verdict::Approve { scope: Scope::Caller } => Self::approve_for(ApprovalScope::Caller),
            Verdict::Approve { scope: Scope::Run } => Self::approve_for(ApprovalScope::Run),
            Verdict::Edit { arguments } => Self::approve_with(arguments),
            Verdict::Deny { reason } => Self::deny(reason),
        }
    }
}

/// Withdraws what a call asked if the call no longer waits for it.
struct WithdrawOnDrop {
    asking: Arc<AskingRun>,
    id: Option<String>,
}

impl Asker {
    pub(super) fn new((run, attempt): (String, u64), store: Store, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(AskingRun { run, attempt, store, clock, is_set_aside: AtomicBool::new(false) }))
    }

    /// Keeps open what the run asks, although its future will be dropped.
    pub(super) fn set_aside(&self) {
        self.0.is_set_aside.store(true, Ordering::Relaxed);
    }

    /// Stores what the run asks, and waits for the answer.
    async fn ask(&self, kind: WaitKind, key: &str, request: Value, is_repeated: bool) -> Result<Value, StoreError> {
        let AskingRun { run, attempt, store, clock, .. } = &*self.0;
        let mut changes = store.changes(Topic::Answers);
        let (key, digest, now) = (key.to_owned(), digest(&request), clock.now());
        let asked = Asked { run: run.clone(), attempt: *attempt, key, kind, request, digest, is_repeated, now };
        let (id, answer) = store.ask(asked).await?;
        if let Some(answer) = answer {
            return Ok(answer);
        }
        let mut open = WithdrawOnDrop { asking: Arc::clone(&self.0), id: Some(id.clone()) };
        loop {
            changes.mark_unchanged();
            if let Some(answer) = store.answer_of(&id).await? {
                open.id = None;
                return Ok(answer);
            }
            // The store, which holds the sender, lives as long as this.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        let Some(id) = self.id.take().filter(|_| !self.asking.is_set_aside.load(Ordering::Relaxed)) else { return };
        let asking = Arc::clone(&self.asking);
        if let Ok(tokio) = tokio::runtime::Handle::try_current() {
            // Ignored: the end of the run withdraws it too.
            tokio.spawn(async move { asking.store.withdraw(&id).await });
        }
    }
}

#[async_trait]
impl Approver for Asker {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let Some(key) = &request.key else { return Decision::undecided("the call is not recorded") };
        let answer = self.ask(WaitKind::Approval, key, shown_approval(request), request.problem.is_some()).await;
        answer.map_or_else(|error| Decision::undecided(error.to_string()), decision)
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }
}

#[async_trait]
impl InputHandler for Asker {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        let key = request.key.as_ref().ok_or("the question is not recorded")?;
        let answer = self.ask(WaitKind::Question, key, shown_question(request), request.problem.is_some()).await?;
        answer.as_str().map(str::to_owned).ok_or_else(|| "the stored answer is not a text".into())
    }
}

/// Returns the decision that is stored as a [`Verdict`].
pub(super) fn decision(stored: Value) -> Decision {
    let verdict = serde_json::from_value::<Verdict>(stored);
    verdict.map_or_else(|error| Decision::undecided(format!("the stored decision is invalid: {error}")), Decision::from)
}

/// Returns what a person sees of a call. What changes from process to process, such as numbers of calls, is left out.
pub(super) fn shown_approval(request: &ApprovalRequest) -> Value {
    json!({
        "tool": request.tool,
        "summary": request.summary(),
        "description": request.description,
        "effect": request.effect,
        "arguments": request.arguments,
        "given": request.given,
        "path": request.path,
        "preview": request.preview,
        "problem": request.problem,
        "can_be_edited": !request.has_begun,
    })
}

/// Returns what a person sees of a question.
pub(super) fn shown_question(request: &InputRequest) -> Value {
    let mut shown = json!(request.question);
    shown["caller"] = json!(request.caller);
    shown["problem"] = json!(request.problem);
    shown
}

/// Returns the digest of what a person sees, which a decision must name.
pub(super) fn digest(shown: &Value) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(shown.to_string().as_bytes()))
}
