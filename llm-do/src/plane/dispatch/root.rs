//! The root call: starts a run and its journal entry.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::record::retry;
use super::{Plane, Run, RunSettings};
use crate::base::cancellation::Cancellation;
use crate::base::error::CallError;
use crate::base::usage::Limits;
use crate::declare::tool::ToolReturn;
use crate::observe::event::Caller;
use crate::observe::journal::{Journal, JournalError, StepKind, StepSpec};
use crate::plane::approval::RunMemory;
use crate::plane::context::{CallContext, CallFrame, Deadline, GivenArguments, Host};
use crate::plane::conversation::{Conversation, Threads};
use crate::plane::declared::Callee;

/// A root call before it is made.
pub(crate) struct Root {
    pub(crate) plane: Arc<Plane>,
    pub(crate) name: String,
    pub(crate) arguments: Result<Value, CallError>,
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) threads: Arc<Threads>,
    pub(crate) cancellation: CancellationToken,
    /// The user's context, set when the call starts: it holds the usage.
    pub(crate) user: Arc<OnceLock<CallContext>>,
    /// The run's id, once known: with a journal, when the run starts, since a resumed run keeps its id.
    pub(crate) id: Arc<OnceLock<Arc<str>>>,
    pub(crate) settings: RunSettings,
    /// The call that the run is started under, if any.
    pub(crate) under: Option<CallContext>,
}

impl Root {
    /// Executes the call.
    pub(crate) async fn run(mut self) -> Result<ToolReturn, CallError> {
        let _cancel_on_drop = self.cancellation.clone().drop_guard();
        if let Some(caller) = self.under.take() {
            return Box::pin(self.run_under(caller)).await;
        }
        let arguments = self.arguments?;
        let tool = self.plane.registry.get(&self.name);
        let arguments = if let Some(tool) = tool { tool.canonical(arguments) } else { arguments };
        let journaled =
            self.plane.config.journal.as_ref().map(|_| {
                self.plane.root_steps.next(&Arc::default(), StepKind::Run, self.name.as_str(), arguments.clone())
            });
        let (step, _in_flight) = journaled.unzip();
        let fresh = self.id.get().cloned().unwrap_or_else(fresh_id);
        let id = match (&self.plane.config.journal, &step) {
            (Some(journal), Some(step)) => start(journal.as_ref(), step, &self.name, &fresh).await?,
            _ => Arc::clone(&fresh),
        };
        let is_resumed = id != fresh;
        drop(self.id.set(Arc::clone(&id)));
        let limits = self.settings.limits(&self.plane);
        // Dropped when the run ends, even if a handle keeps the run's context alive.
        let approved = RunMemory::new();
        let (plane, scope) = (Arc::clone(&self.plane), approved.scope());
        let run = Arc::new(Run::new(plane, id, (self.conversation, self.threads), is_resumed, scope, self.settings));
        let _open_sinks = run.open_sinks();
        let host: Arc<dyn Host> = Arc::clone(&run) as _;
        let user = CallContext::root(host, frame(limits, &self.name, self.cancellation, step));
        drop(self.user.set(user.clone()));
        let result =
            run.call(user.clone(), Callee::Shown(&self.name), GivenArguments::Value(arguments), Caller::User).await;
        run.settle().await;
        result
    }
}

/// Returns the id of a new run: unique, and later ones sort after earlier ones.
pub(crate) fn fresh_id() -> Arc<str> {
    uuid::Uuid::now_v7().to_string().into()
}

/// Starts a run in the journal, and returns its id: the recorded one if the run is resumed, whose failures are retried.
async fn start(journal: &dyn Journal, step: &StepSpec, name: &str, fresh: &Arc<str>) -> Result<Arc<str>, CallError> {
    let id = Value::String(fresh.to_string());
    let recorded = journal.step(step.clone(), Box::pin(async move { Ok(id) })).await;
    let failed = |error: JournalError| CallError::Journal { tool: name.to_owned(), source: error.into() };
    let recorded = recorded.map_err(failed)?;
    retry(journal, step).await.map_err(failed)?;
    Ok(recorded.as_str().map_or_else(|| Arc::clone(fresh), Into::into))
}

/// Creates the frame of the user, with the limits of the run.
fn frame(
    limits: Option<Arc<Limits>>,
    name: &str,
    cancellation: CancellationToken,
    step: Option<StepSpec>,
) -> CallFrame {
    let after = limits.as_ref().and_then(|limits| limits.wall_time);
    let deadline = after.and_then(|after| Deadline::after(after, name.into()));
    CallFrame {
        cancellation: Cancellation::from_token(cancellation),
        deadline: deadline.map(|deadline| OnceLock::from(Box::new(deadline))).unwrap_or_default(),
        limits,
        step: step.map(|step| Box::new(step).into()).unwrap_or_default(),
        ..CallFrame::new(0, name.into(), Caller::User)
    }
}
