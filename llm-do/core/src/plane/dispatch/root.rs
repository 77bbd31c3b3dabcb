//! The root call: starts a run and its journal entry.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::journal::{result_step, retry};
use super::{CreatedWorkers, Plane, Run, RunSettings};
use crate::base::cancellation::Cancellation;
use crate::base::error::CallError;
use crate::base::usage::Limits;
use crate::declare::argument::Given;
use crate::declare::tool::ToolReturn;
use crate::observe::event::Caller;
use crate::observe::journal::{ChildSteps, Journal, JournalError, JournalOutcome, LocalOutcome, StepKind, StepSpec};
use crate::plane::approval::RunMemory;
use crate::plane::context::{CallContext, CallFrame, Deadline, Host};
use crate::plane::conversation::{Conversation, Threads};
use crate::plane::declared::Callee;
use crate::plane::kept_results::KeptResults;
use crate::plane::mailbox::OpenMailbox;

/// The parts of a chat that a run continues and extends; a run without a chat has new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChatParts {
    /// The conversation that the root call continues and extends.
    pub(crate) conversation: Arc<Conversation>,
    pub(crate) threads: Arc<Threads>,
    pub(crate) created_workers: Arc<CreatedWorkers>,
    /// Whether later calls continue them.
    pub(crate) is_chat: bool,
    /// The results that were too long for a model.
    pub(crate) results: Arc<KeptResults>,
}

/// A root call before it is made.
pub(crate) struct Root {
    pub(crate) plane: Arc<Plane>,
    pub(crate) name: String,
    pub(crate) arguments: Result<Given, CallError>,
    pub(crate) chat: ChatParts,
    pub(crate) cancellation: CancellationToken,
    /// The user's context, set when the call starts: it holds the usage.
    pub(crate) user: Arc<OnceLock<CallContext>>,
    /// The run's id, once known. With a journal, it is known when the run starts, since a resumed run keeps its id.
    pub(crate) id: Arc<OnceLock<Arc<str>>>,
    pub(crate) settings: RunSettings,
    /// The messages to the run.
    pub(crate) mailbox: OpenMailbox,
    /// The call under which the run is started, if any.
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
        let compared = |arguments| if let Some(tool) = tool { tool.canonical(arguments) } else { arguments };
        let journal = self.settings.journal(&self.plane).cloned();
        let own_steps = self.settings.journal.is_some().then(ChildSteps::default);
        let steps = own_steps.as_ref().unwrap_or(&self.plane.root_steps);
        let begin =
            |_| steps.next(&Arc::default(), StepKind::Run, self.name.as_str(), compared(arguments.value.clone()));
        let (step, _in_flight) = journal.as_ref().map(begin).unzip();
        let given = self.settings.id.take();
        let fresh = given.or_else(|| self.id.get().cloned()).unwrap_or_else(fresh_id);
        let (id, is_resumed) = match (&journal, &step) {
            (Some(journal), Some(step)) => Box::pin(start(journal.as_ref(), step, &self.name, fresh)).await?,
            _ => (fresh, false),
        };
        if let (Some(journal), Some(step)) = (&journal, &step)
            && journal.is_recorded(&result_step(step).key)
        {
            // Its answers are replayed, and none is added.
            self.mailbox.0.close();
        }
        drop(self.id.set(Arc::clone(&id)));
        let (limits, spent) = (self.settings.limits(&self.plane), self.settings.time_spent);
        // Dropped when the run ends, even if a handle keeps the run's context alive.
        let approved = RunMemory::new();
        let (plane, scope) = (Arc::clone(&self.plane), approved.scope());
        let run =
            Arc::new(Run::new(plane, id, self.chat, Arc::clone(&self.mailbox.0), is_resumed, scope, self.settings));
        let _open_sinks = run.open_sinks();
        let host: Arc<dyn Host> = Arc::clone(&run) as _;
        let user = CallContext::root(host, frame((limits, spent), &self.name, self.cancellation, step));
        drop(self.user.set(user.clone()));
        let result = run.call(user.clone(), Callee::Shown(&self.name), arguments.into(), Caller::User).await;
        self.mailbox.0.close();
        run.settle().await;
        result
    }
}

/// Returns the id of a new run, which is unique and sorts after earlier ids.
#[doc(hidden)]
#[must_use]
pub fn fresh_id() -> Arc<str> {
    uuid::Uuid::now_v7().to_string().into()
}

/// Starts a run in the journal; returns its id, and whether an earlier process started it. In that case, the id is the
/// recorded one, and the failures that ended the run are retried.
async fn start(
    journal: &dyn Journal,
    step: &StepSpec,
    name: &str,
    fresh: Arc<str>,
) -> Result<(Arc<str>, bool), CallError> {
    let id = Value::String(fresh.to_string());
    let started = async move { LocalOutcome::Record(id) };
    let failed = |error: JournalError| CallError::Journal { tool: name.to_owned(), source: error.into() };
    let recorded = journal.step(step.clone(), Box::pin(started)).await.map_err(failed)?;
    retry(journal, step).await.map_err(failed)?;
    let is_resumed = matches!(recorded, JournalOutcome::Replayed(_));
    let id = recorded.into_value();
    Ok((id.as_ref().and_then(Value::as_str).map_or(fresh, Into::into), is_resumed))
}

/// Creates the frame of the user, with the limits of the run, and the time that was already spent on it.
fn frame(
    (limits, spent): (Option<Arc<Limits>>, Duration),
    name: &str,
    cancellation: CancellationToken,
    step: Option<StepSpec>,
) -> CallFrame {
    let after = limits.as_ref().and_then(|limits| limits.wall_time);
    let deadline = after.map(|after| Deadline::after(after, spent, name.into()));
    CallFrame {
        cancellation: Cancellation::from_token(cancellation),
        deadline: deadline.map(|deadline| OnceLock::from(Box::new(deadline))).unwrap_or_default(),
        limits,
        step: step.map(|step| Box::new(step).into()).unwrap_or_default(),
        ..CallFrame::new(0, name.into(), Caller::User)
    }
}
