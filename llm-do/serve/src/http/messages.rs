//! Messages to unfinished runs.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use llm_do_core::plane::dispatch::fresh_id;
use llm_do_core::plane::mailbox::{RunMessage, SendError};
use serde_json::{Value, json};

use super::body::Json as Body;
use super::problem::Problem;
use super::runs::{chat_busy, idempotency_key, started, view, visible};
use super::view::{ChangedRun, SendToRun};
use super::{App, Id, Identity, Role};
use crate::engine::Shared;
use crate::store::{Inserted, MAX_MESSAGES, MessageInserted, NewMessage, NewRun};

/// How often a message is tried to be brought to a chat whose run is about to end.
const TRIES: u32 = 40;
/// How long to wait before each further try.
const PAUSE: Duration = Duration::from_millis(50);

/// Why a run does not take a message.
enum Refused {
    Finished,
    Full,
}

pub(super) async fn send(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    headers: HeaderMap,
    Body(SendToRun { message, worker, interrupt, pin }): Body<SendToRun>,
) -> Result<Response, Problem> {
    client.require(Role::Start)?;
    let run = visible(&shared, &client, &id).await?;
    if shared.is_elsewhere() {
        let text = "runs that live in Restate take no messages";
        return Err(Problem::new(StatusCode::NOT_IMPLEMENTED, "no_messages", text));
    }
    if message.trim().is_empty() {
        return Err(Problem::invalid("`message` is empty: write a text"));
    }
    let message = RunMessage::new(message).with_options(worker, interrupt, pin);
    let new = new_message(&shared, &client, run.tenant.into(), &id, message, idempotency_key(&headers)?);
    match bring(&shared, new).await? {
        Ok(()) => accepted(&shared, &client, &id).await,
        Err(Refused::Full) => Err(full()),
        Err(Refused::Finished) => {
            let text = "the run has ended and takes no more messages; start another run";
            Err(Problem::new(StatusCode::CONFLICT, "already_finished", text))
        }
    }
}

fn new_message(
    shared: &Shared,
    client: &Identity,
    tenant: Arc<str>,
    run: &str,
    message: RunMessage,
    idempotency_key: Option<String>,
) -> NewMessage {
    let message = message.with_id(fresh_id());
    NewMessage {
        run: run.to_owned(),
        tenant,
        client: Arc::clone(&client.name),
        idempotency_key,
        message,
        now: shared.now(),
    }
}

/// Stores a message, and brings it to its run if this process drives that.
async fn bring(shared: &Shared, new: NewMessage) -> Result<Result<(), Refused>, Problem> {
    let (run, message) = (new.run.clone(), new.message.clone());
    let number = match shared.store.insert_message(new).await? {
        MessageInserted::New(number) => number,
        MessageInserted::Existing => return Ok(Ok(())),
        MessageInserted::Finished => return Ok(Err(Refused::Finished)),
        MessageInserted::Full => return Ok(Err(Refused::Full)),
    };
    match shared.active.send(&run, number, message) {
        Some(Err(SendError::Ended)) => {
            shared.store.delete_message(number).await?;
            Ok(Err(Refused::Finished))
        }
        // Another process drives it, or none: the message waits in the file.
        _ => Ok(Ok(())),
    }
}

async fn accepted(shared: &Shared, client: &Identity, run: &str) -> Result<Response, Problem> {
    let run = ChangedRun::new(view(shared, client, run).await?, client.may(Role::Watch));
    Ok((StatusCode::ACCEPTED, Json(run)).into_response())
}

fn full() -> Problem {
    let text = format!("limit reached: at most {MAX_MESSAGES} messages to a run");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_messages", text)
}

/// Starts a run with a message of a chat; or brings the message to the run of the chat that has not ended.
pub(super) async fn start_or_join(
    shared: &Shared,
    client: &Identity,
    new: NewRun,
    interrupt: bool,
) -> Result<Response, Problem> {
    if let Some(key) = &new.idempotency_key
        && let Some(run) = shared.store.run_of_message(Arc::clone(&new.tenant), key.clone()).await?
    {
        return accepted(shared, client, &run).await;
    }
    for _ in 0..TRIES {
        let run = match shared.store.insert_run(new.clone()).await? {
            Inserted::ChatBusy(run) => run,
            inserted => return started(inserted, client.may(Role::Watch)),
        };
        let Some(text) = only_text(&new.arguments) else { return Err(chat_busy(&run)) };
        let message = RunMessage::new(text).with_options(None, interrupt, false);
        let (tenant, key) = (Arc::clone(&new.tenant), new.idempotency_key.clone());
        match bring(shared, new_message(shared, client, tenant, &run, message, key)).await? {
            Ok(()) => return accepted(shared, client, &run).await,
            Err(Refused::Full) => return Err(full()),
            Err(Refused::Finished) => tokio::time::sleep(PAUSE).await,
        }
    }
    let text = "the run of the chat is about to end; send the message again";
    Err(Problem::new(StatusCode::CONFLICT, "chat_busy", text).with("chat", json!(new.chat)))
}

/// Returns the text of arguments that are only one text.
fn only_text(arguments: &Value) -> Option<&str> {
    let mut fields = arguments.as_object()?.values();
    let text = fields.next()?.as_str().filter(|text| !text.trim().is_empty())?;
    fields.next().is_none().then_some(text)
}
