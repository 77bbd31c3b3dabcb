//! The root call: the run that it is, and its place in the journal.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::record::retry;
use super::{Plane, Run};
use crate::cancellation::Cancellation;
use crate::context::{CallContext, CallFrame, Deadline, Host};
use crate::declared::Callee;
use crate::error::CallError;
use crate::event::{self, Caller};
use crate::history::Conversation;
use crate::journal::{Journal, JournalError, StepKind, StepSpec};
use crate::tool::ToolReturn;

/// A root call before it is made.
pub(crate) struct Root {
    pub(crate) plane: Arc<Plane>,
    pub(crate) name: String,
    pub(crate) arguments: Result<Value, CallError>,
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) cancellation: CancellationToken,
    /// The user's context, once the call is made: it knows what was used.
    pub(crate) user: Arc<OnceLock<CallContext>>,
}

impl Root {
    /// Makes the call.
    pub(crate) async fn run(self) -> Result<ToolReturn, CallError> {
        let _cancel_on_drop = self.cancellation.clone().drop_guard();
        let arguments = self.arguments?;
        let tool = self.plane.registry.get(&self.name);
        let arguments = if let Some(tool) = tool { tool.canonical(arguments) } else { arguments };
        let placed = self
            .plane
            .journal
            .as_ref()
            .map(|_| self.plane.places.next(&Arc::default(), StepKind::Run, self.name.as_str(), arguments.clone()));
        let (step, _visit) = placed.unzip();
        let fresh: Arc<str> = uuid::Uuid::now_v7().to_string().into();
        let id = match (&self.plane.journal, &step) {
            (Some(journal), Some(step)) => begin(journal.as_ref(), step, &self.name, &fresh).await?,
            _ => fresh,
        };
        let run: Arc<dyn Host> = Arc::new(Run::new(Arc::clone(&self.plane), id, self.conversation));
        let user = CallContext::root(Arc::clone(&run), frame(&self.plane, &self.name, self.cancellation, step));
        drop(self.user.set(user.clone()));
        let result = run.call(user.clone(), Callee::Shown(&self.name), Ok(arguments), Caller::User).await;
        event::settle(&self.plane.sinks).await;
        result
    }
}

/// Begins a run in the journal, and returns its id: the recorded one, if it is resumed. What it failed by is tried again.
async fn begin(journal: &dyn Journal, step: &StepSpec, name: &str, fresh: &Arc<str>) -> Result<Arc<str>, CallError> {
    let id = Value::String(fresh.to_string());
    let begun = journal.step(step.clone(), Box::pin(async move { Ok(id) })).await;
    let failed = |error: JournalError| CallError::Journal { tool: name.to_owned(), source: error.into() };
    let begun = begun.map_err(failed)?;
    retry(journal, step).await.map_err(failed)?;
    Ok(begun.as_str().map_or_else(|| Arc::clone(fresh), Into::into))
}

/// Returns the frame of the user, whose limits are those of the run.
fn frame(plane: &Plane, name: &str, cancellation: CancellationToken, step: Option<StepSpec>) -> CallFrame {
    let after = plane.limits.as_ref().and_then(|limits| limits.wall_time);
    let deadline = after.and_then(|after| Deadline::after(after, name.into()));
    CallFrame {
        cancellation: Cancellation::of(cancellation),
        deadline: deadline.map(|deadline| OnceLock::from(Box::new(deadline))).unwrap_or_default(),
        limits: plane.limits.clone(),
        step: step.map(|step| Box::new(step).into()).unwrap_or_default(),
        ..CallFrame::new(0, name.into(), Caller::User)
    }
}
