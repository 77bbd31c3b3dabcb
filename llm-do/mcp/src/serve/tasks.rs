//! The tasks of all clients, each with its owner.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::mailbox::{Mailbox, RunMessage, SendError};
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, InputResponses, Task};
use rmcp::task_manager::{TaskContext, TaskFuture, TaskManager, TaskOptions};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::ask::Ask;
use super::client::{Client, Principal};

/// The tasks of all clients; they end with the service.
pub(super) struct Tasks {
    manager: TaskManager,
    expiry: Duration,
    /// The clients of the tasks, by their ids.
    owners: Mutex<HashMap<String, Owner>>,
}

/// The key of an answer that no question has: a message to the run.
const MESSAGE: &str = "message";

/// A message to a run, unless it is a text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskMessage {
    text: String,
    #[serde(default)]
    worker: Option<String>,
    #[serde(default)]
    interrupt: bool,
    #[serde(default)]
    pin: bool,
}

/// Reads a message to a run.
fn read_message(message: Value) -> Result<RunMessage, String> {
    if let Value::String(text) = message {
        return Ok(RunMessage::new(text));
    }
    let fault = |error| {
        format!("invalid `{MESSAGE}`: {error}; write a text, or an object with `text`, `worker`, `interrupt` and `pin`")
    };
    let TaskMessage { text, worker, interrupt, pin } = serde_json::from_value(message).map_err(fault)?;
    Ok(RunMessage::new(text).with_options(worker, interrupt, pin))
}

/// The owner of a task.
struct Owner {
    principal: Principal,
    /// When the task is deleted; `None` for never.
    until: Option<Instant>,
    /// The messages to its run.
    mailbox: Arc<Mailbox>,
}

impl Tasks {
    pub(super) fn new(expiry: Duration) -> Self {
        Self { manager: TaskManager::new(), expiry, owners: Mutex::default() }
    }

    /// Starts a task of a client.
    pub(super) fn spawn(
        &self,
        client: &Client,
        mailbox: Arc<Mailbox>,
        run: impl FnOnce(RunningTask) -> TaskFuture,
    ) -> Task {
        let options = TaskOptions::new().with_ttl_ms(u64::try_from(self.expiry.as_millis()).unwrap_or(u64::MAX));
        let manager = self.manager.clone();
        let task =
            self.manager.spawn(options, |context| run(RunningTask { context, manager, asked: Mutex::default() }));
        let now = Instant::now();
        // The result of a task can be read for the same time again.
        let until = now.checked_add(self.expiry.saturating_mul(2));
        let mut owners = self.owners.lock().ignore_poison();
        owners.retain(|_, owner| owner.until.is_none_or(|until| until > now));
        owners.insert(task.task_id.clone(), Owner { principal: client.principal.clone(), until, mailbox });
        task
    }

    pub(super) fn get(&self, client: &Client, id: &str) -> Result<DetailedTask, ErrorData> {
        self.check(client, id)?;
        self.manager.get_task(id)
    }

    /// Passes answers on to a task, and the message to its run if there is one.
    ///
    /// Nothing is passed on if the message is refused.
    pub(super) fn update(&self, client: &Client, id: &str, mut responses: InputResponses) -> Result<(), ErrorData> {
        self.check(client, id)?;
        if let Some(message) = responses.remove(MESSAGE) {
            self.send(id, message)?;
        }
        self.manager.update_task(id, responses)
    }

    fn send(&self, id: &str, message: Value) -> Result<(), ErrorData> {
        let message = read_message(message).map_err(|fault| ErrorData::invalid_params(fault, None))?;
        let mailbox = self.owners.lock().ignore_poison().get(id).map(|owner| Arc::clone(&owner.mailbox));
        let sent = mailbox.ok_or(SendError::Ended).and_then(|mailbox| mailbox.send(message));
        sent.map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    pub(super) fn cancel(&self, client: &Client, id: &str) -> Result<(), ErrorData> {
        self.check(client, id)?;
        self.manager.cancel_task(id)
    }

    /// Returns the error for an unknown task if a task does not belong to this client.
    fn check(&self, client: &Client, id: &str) -> Result<(), ErrorData> {
        let owners = self.owners.lock().ignore_poison();
        let is_own = owners.get(id).is_some_and(|owner| owner.principal == client.principal);
        is_own.then_some(()).ok_or_else(|| ErrorData::invalid_params(format!("unknown task `{id}`"), None))
    }
}

/// A task, as its call sees it.
pub(super) struct RunningTask {
    context: TaskContext,
    manager: TaskManager,
    /// The number of questions so far.
    asked: Mutex<u64>,
}

impl RunningTask {
    /// Waits until the client cancels the task.
    pub(super) async fn cancelled(&self) {
        self.context.cancelled().await;
    }

    /// Asks the client, which has `limit` to answer when it polls the task.
    pub(super) async fn ask(&self, ask: Ask, limit: Duration) {
        let key = {
            let mut asked = self.asked.lock().ignore_poison();
            *asked += 1;
            format!("question_{asked}")
        };
        match timeout(limit, self.context.request_input(&key, ask.request())).await {
            Ok(Ok(answer)) => drop(ask.respond(answer)),
            Ok(Err(_)) => ask.refuse("the client gave no answer"),
            Err(_) => {
                // An answer removes the question, although no call waits for it. An error means that the task has
                // expired.
                let _ = self.manager.update_task(self.context.task_id(), [(key, Value::Null)]);
                ask.expire(limit);
            }
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.manager.shutdown();
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("running", &self.manager.running_task_count()).finish_non_exhaustive()
    }
}
