//! Takes a call as far as it gets without its client's next request.

use std::time::Duration;

use futures_util::future::join_all;
use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult, ElicitResult};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use rmcp::{ErrorData, Peer, RoleServer};

use super::ask::Ask;
use super::client::{Client, Reach};
use super::offer::Offered;
use super::open_call::{OpenCall, Step};
use super::report::Reports;
use super::{Shared, result};
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;
use crate::observe::event::ItemKind;

/// The request that waits for a call.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) client: Client,
    pub(super) reports: Reports,
    pub(super) context: RequestContext<RoleServer>,
    /// What the client's next request for the call must have in common with this one.
    pub(super) binding: Vec<u8>,
}

/// Why a call is not finished yet.
enum Paused {
    Asked(Vec<Ask>),
    /// It takes long, and the client can poll it.
    Long,
}

impl Shared {
    /// Runs a call until it finishes, asks its client by a round, or becomes a task; `asks` are still without an answer.
    pub(super) async fn advance(
        &self,
        offered: &Offered,
        mut call: OpenCall,
        mut asks: Vec<Ask>,
        mut waiting: Waiting,
    ) -> Result<CallToolResponse, ErrorData> {
        let has_schema = offered.tool.output_schema.is_some();
        let becomes_task = waiting.client.has_tasks && offered.item.kind() != ItemKind::Tool;
        let task_after = becomes_task.then_some(self.task_after);
        loop {
            if asks.is_empty() {
                let cancelled = waiting.context.ct.clone();
                let paused = tokio::select! {
                    // Dropping the call cancels it; nobody reads the error.
                    () = cancelled.cancelled() => return Err(ErrorData::internal_error("the client cancelled the call", None)),
                    step = next(&mut call, &mut waiting.reports, task_after) => step,
                };
                match paused {
                    Ok(finished) => return Ok(response(finished, has_schema).into()),
                    Err(Paused::Asked(more)) => asks = more,
                    Err(Paused::Long) => return Ok(self.as_task(call, has_schema).into()),
                }
            }
            match waiting.client.reach {
                Reach::Rounds => return Ok(self.parked.park(call, asks, &waiting.binding)?.into()),
                Reach::Requests => {
                    let peer = &waiting.context.peer;
                    let answered = join_all(std::mem::take(&mut asks).into_iter().map(|ask| elicit(peer, ask)));
                    tokio::select! {
                        _ = answered => {}
                        () = waiting.context.ct.cancelled() => {}
                    }
                }
                Reach::Nothing => std::mem::take(&mut asks).into_iter().for_each(|ask| ask.refuse(UNREACHABLE)),
            }
        }
    }

    /// Makes a task of a call: the client polls it, answers its questions and may cancel it.
    fn as_task(&self, call: OpenCall, has_schema: bool) -> CreateTaskResult {
        let options = TaskOptions::new().with_ttl_ms(u64::try_from(self.task_expiry.as_millis()).unwrap_or(u64::MAX));
        let task = self.tasks.spawn(options, |task| Box::pin(finish_task(call, task, has_schema)));
        CreateTaskResult::new(task)
    }
}

/// The reason of a denial that a client without forms gets.
const UNREACHABLE: &str = "it needs the user, but this client shows no forms (it has no elicitation capability); the \
                           operator of the server can approve it in advance by a policy, or start the server with \
                           --approve-all";

/// Waits for the end of a call, or for what keeps it from ending.
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

fn response(finished: Result<ToolReturn, CallError>, has_schema: bool) -> CallToolResult {
    match finished {
        Ok(returned) => result::of_return(returned, has_schema),
        Err(error) => result::of_error(&error),
    }
}

/// Asks the client during the call.
async fn elicit(peer: &Peer<RoleServer>, ask: Ask) {
    match peer.create_elicitation(ask.form()).await {
        Ok(answer) => ask.respond(&answer),
        Err(error) => ask.refuse(&format!("the client could not be asked: {error}")),
    }
}

/// Runs a call to its end as a task.
async fn finish_task(mut call: OpenCall, task: TaskContext, has_schema: bool) -> Result<CallToolResult, TaskExit> {
    let mut count = 0_usize;
    loop {
        let step = tokio::select! {
            () = task.cancelled() => return Err(TaskExit::Cancelled),
            step = call.next_unreported() => step,
        };
        let asks = match step {
            Step::Finished(finished) => return Ok(response(finished, has_schema)),
            Step::Asked(asks) => asks,
        };
        let answers = asks.into_iter().map(|ask| {
            count += 1;
            let (key, request, task) = (format!("question_{count}"), ask.input_request(), &task);
            async move {
                match task.request_input(key, request).await.map(serde_json::from_value::<ElicitResult>) {
                    Ok(Ok(answer)) => ask.respond(&answer),
                    _ => ask.refuse("the client gave no valid answer"),
                }
            }
        });
        join_all(answers).await;
    }
}
