//! Runs a call until it finishes or needs the next request of its client.

use std::time::Duration;

use futures_util::future::join_all;
use llm_do_core::base::error::CallError;
use llm_do_core::declare::tool::ToolReturn;
use rmcp::model::{CallToolResult, CreateTaskResult, InputRequest, InputRequiredResult};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::task_manager::TaskExit;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::time::timeout;

use super::ask::Ask;
use super::client::Client;
use super::open_call::{OpenCall, Step};
use super::report::Reports;
use super::tasks::RunningTask;
use super::{Shared, result};

/// The request that waits for a call.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) client: Client,
    pub(super) reports: Reports,
    pub(super) context: RequestContext<RoleServer>,
    /// The digest of client, tool and arguments, which the client's next request for the call must have too.
    pub(super) binding: Vec<u8>,
}

/// The progress of a call.
pub(super) enum Advanced {
    Finished(Result<ToolReturn, CallError>),
    /// The call needs answers, which the client's next request contains.
    InputRequired(InputRequiredResult),
    /// The call has run for `task_after`.
    Long(OpenCall),
}

/// The reason that a call is not finished yet.
enum Paused {
    Asked(Vec<Ask>),
    Long,
}

impl Shared {
    /// Runs a call until it finishes, needs answers by another request, or has run for `task_after`. The questions
    /// `asks` have no answer yet.
    pub(super) async fn advance(
        &self,
        mut call: OpenCall,
        mut asks: Vec<Ask>,
        waiting: &mut Waiting,
        task_after: Option<Duration>,
    ) -> Result<Advanced, ErrorData> {
        loop {
            if asks.is_empty() {
                let cancelled = waiting.context.ct.clone();
                let step = tokio::select! {
                    // Dropping the call cancels it; the error has no reader.
                    () = cancelled.cancelled() => return Err(cancellation()),
                    step = next(&mut call, &mut waiting.reports, task_after) => step,
                };
                match step {
                    Ok(finished) => return Ok(Advanced::Finished(finished)),
                    Err(Paused::Asked(more)) => asks = more,
                    Err(Paused::Long) => return Ok(Advanced::Long(call)),
                }
            }
            let (supported, others): (Vec<_>, Vec<_>) =
                asks.into_iter().partition(|ask| ask.is_supported(&waiting.client.capabilities));
            for ask in others {
                ask.refuse(UNREACHABLE);
            }
            asks = Vec::new();
            if !waiting.client.has_rounds {
                let (peer, limit) = (&waiting.context.peer, self.answer_timeout);
                tokio::select! {
                    _ = join_all(supported.into_iter().map(|ask| request(peer, ask, limit))) => {}
                    () = waiting.context.ct.cancelled() => {}
                }
            } else if !supported.is_empty() {
                let parked = self.parked.park(call, supported, &waiting.client.principal, &waiting.binding)?;
                return Ok(Advanced::InputRequired(parked));
            }
        }
    }

    /// Turns a call into a task: the client polls it, answers its questions and may cancel it.
    pub(super) fn as_task(&self, client: &Client, call: OpenCall, has_schema: bool) -> CreateTaskResult {
        let (limit, expiry) = (self.answer_timeout, self.task_expiry);
        let task = self.tasks.spawn(client, call.mailbox(), |task| {
            let run = timeout(expiry, finish_task(call, task, has_schema, limit));
            Box::pin(async { run.await.unwrap_or_else(|_| Err(TaskExit::Error(expired()))) })
        });
        CreateTaskResult::new(task)
    }
}

fn cancellation() -> ErrorData {
    ErrorData::internal_error("the client cancelled the call", None)
}

fn expired() -> ErrorData {
    ErrorData::internal_error("the task has expired, and its call was cancelled", None)
}

/// The reason of a denial if the client cannot be asked.
const UNREACHABLE: &str = "the user must answer, but the client cannot show forms (it lacks the capability \
                           `elicitation`); the operator of the server can approve the call in advance by a policy, or \
                           start the server with --approve-all";

/// Waits until the call finishes or pauses.
async fn next(
    call: &mut OpenCall,
    reports: &mut Reports,
    task_after: Option<Duration>,
) -> Result<Result<ToolReturn, CallError>, Paused> {
    let long = async {
        match task_after {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        step = call.next(reports) => match step {
            Step::Finished(result) => Ok(result),
            Step::Asked(asks) => Err(Paused::Asked(asks)),
        },
        () = long => Err(Paused::Long),
    }
}

/// Asks the client during the call, for at most `limit`.
#[expect(deprecated, reason = "the protocol keeps these requests until 2027-07-28 at least")]
async fn request(peer: &Peer<RoleServer>, ask: Ask, limit: Duration) {
    let answer = match ask.request() {
        InputRequest::CreateMessage(request) => {
            within(limit, peer.create_message(request.params)).await.map(serde_json::to_value)
        }
        InputRequest::ListRoots(_) => within(limit, peer.list_roots()).await.map(serde_json::to_value),
        // The request is withdrawn at the client, which would otherwise keep showing the form.
        InputRequest::Elicitation(request) => {
            peer.create_elicitation_with_timeout(request.params, Some(limit)).await.map(serde_json::to_value)
        }
        _ => return ask.refuse("this version of the server cannot ask the client that"),
    };
    match answer {
        Ok(Ok(answer)) => drop(ask.respond(answer)),
        Ok(Err(error)) => ask.refuse(&format!("the client's answer is invalid: {error}")),
        Err(ServiceError::Timeout { .. }) => ask.expire(limit),
        Err(error) => ask.refuse(&format!("the client could not be asked: {error}")),
    }
}

async fn within<T>(limit: Duration, request: impl Future<Output = Result<T, ServiceError>>) -> Result<T, ServiceError> {
    timeout(limit, request).await.unwrap_or(Err(ServiceError::Timeout { timeout: limit }))
}

/// Runs a call to its end as a task. The client has `limit` to answer each question.
async fn finish_task(
    mut call: OpenCall,
    task: RunningTask,
    has_schema: bool,
    limit: Duration,
) -> Result<CallToolResult, TaskExit> {
    loop {
        let step = tokio::select! {
            () = task.cancelled() => return Err(TaskExit::Cancelled),
            step = call.next_unreported() => step,
        };
        match step {
            Step::Finished(finished) => return result::of_call(finished, has_schema).map_err(TaskExit::Error),
            Step::Asked(asks) => drop(join_all(asks.into_iter().map(|ask| task.ask(ask, limit))).await),
        }
    }
}
