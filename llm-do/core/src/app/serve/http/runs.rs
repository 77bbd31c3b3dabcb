//! Runs: start, list, look at, cancel, resume.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::body::Json as Body;
use super::problem::Problem;
use super::view::{ChangedRun, MAX_LIST, MessageView, RunList, RunListQuery, RunQuery, RunView, SettleCall, StartRun};
use super::{App, Id, Identity, Role};
use crate::app::serve::engine::Shared;
use crate::app::serve::store::{Cancelling, Inserted, MessageRow, NewRun, QuotaReached, Resuming, RunRow, Source};
use crate::observe::journal::JournalError;
use crate::plane::dispatch::{fresh_id, may_repeat_effects};
use crate::plane::registry::Registered;

/// The header of a key that makes starting a run idempotent.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The longest time that a request waits for a run, in seconds.
const MAX_WAIT: u64 = 60;
/// The maximum interval at which a run is read during a wait.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The maximum length of such a key, in bytes.
const MAX_KEY_BYTES: usize = 255;

pub(super) async fn start(
    State(shared): App,
    client: Identity,
    headers: HeaderMap,
    Body(request): Body<StartRun>,
) -> Result<Response, Problem> {
    client.require(Role::Start)?;
    let StartRun { entry, arguments } = request;
    let new = new_run(&shared, &client, &headers, entry, arguments, None)?;
    started(shared.store.insert_run(new).await?, client.may(Role::Watch))
}

/// Returns the run for a request.
pub(super) fn new_run(
    shared: &Shared,
    client: &Identity,
    headers: &HeaderMap,
    entry: String,
    arguments: Value,
    chat: Option<String>,
) -> Result<NewRun, Problem> {
    check(offered(shared, &entry)?, &arguments)?;
    Ok(NewRun {
        id: fresh_id().to_string(),
        tenant: Arc::clone(&client.tenant),
        client: Arc::clone(&client.name),
        quota: client.quota,
        source: Source::Client,
        entry,
        arguments,
        idempotency_key: idempotency_key(headers)?,
        chat,
        now: shared.now(),
    })
}

/// Checks the arguments of an item.
pub(super) fn check(item: &Registered, arguments: &Value) -> Result<(), Problem> {
    let invalid = |fault| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_arguments", fault);
    item.validate(arguments).map_err(invalid)
}

/// Returns the item with this name, if clients may start it.
pub(super) fn offered<'a>(shared: &'a Shared, entry: &str) -> Result<&'a Registered, Problem> {
    let entries = &shared.options.entries;
    let item = shared.runtime.registry().get(entry).filter(|_| entries.iter().any(|known| known == entry));
    item.map(AsRef::as_ref).ok_or_else(|| unknown_entry(shared, entry))
}

pub(super) fn unknown_entry(shared: &Shared, entry: &str) -> Problem {
    let hint = did_you_mean(entry, shared.options.entries.iter().map(String::as_str));
    let text = format!("unknown entry `{entry}`{hint}");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unknown_entry", text)
}

/// Returns the key that makes a request idempotent, if it has one.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| (1..=MAX_KEY_BYTES).contains(&key.len()));
    let fault =
        || Problem::invalid(format!("`{IDEMPOTENCY_KEY}` must have 1 to {MAX_KEY_BYTES} printable ASCII characters"));
    // The prefix separates them from the keys of schedules and webhooks.
    key.map(|key| Some(format!("client:{key}"))).ok_or_else(fault)
}

/// Returns the answer to a request that starts a run. Clients that may not watch receive only its id and state, since a
/// known key returns a run that may have a result.
pub(super) fn started(inserted: Inserted, may_watch: bool) -> Result<Response, Problem> {
    let refused = |status, code, detail: String| Err(Problem::new(status, code, detail));
    match inserted {
        Inserted::New(run) => Ok(located(StatusCode::CREATED, run, may_watch)),
        Inserted::Existing(run) => Ok(located(StatusCode::OK, run, may_watch)),
        Inserted::Conflict(run) => {
            let text = "the idempotency key belongs to a run with another entry or other arguments; use a new key";
            refused(StatusCode::CONFLICT, "other_request", text.to_owned())
                .map_err(|problem| problem.with("run", json!(run.id)))
        }
        Inserted::ChatBusy(run) => Err(chat_busy(&run)),
        Inserted::OverQuota(reached) => Err(over_quota(reached)),
    }
}

fn over_quota(reached: QuotaReached) -> Problem {
    let (code, text) = match reached {
        QuotaReached::Runs(limit) => (
            "too_many_runs",
            format!("limit reached: at most {limit} unfinished runs; try again when a run has finished"),
        ),
        QuotaReached::DailyCost(limit) => (
            "cost_limit_reached",
            format!(
                "limit reached: the runs of a day may cost at most {limit}; try again when a run has finished, or after \
                 midnight UTC"
            ),
        ),
    };
    Problem::new(StatusCode::TOO_MANY_REQUESTS, code, text)
}

pub(super) fn chat_busy(run: &str) -> Problem {
    let text = "the chat has an unfinished run, which takes only messages that are one text; send this one once it has finished";
    Problem::new(StatusCode::CONFLICT, "chat_busy", text).with("run", json!(run))
}

fn located(status: StatusCode, run: RunRow, may_watch: bool) -> Response {
    let location = HeaderValue::from_str(&format!("/runs/{}", run.id)).ok();
    let mut response = (status, Json(ChangedRun::new(RunView::new(run, Vec::new()), may_watch))).into_response();
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub(super) async fn list(
    State(shared): App,
    client: Identity,
    query: Result<Query<RunListQuery>, QueryRejection>,
) -> Result<Json<RunList>, Problem> {
    client.require(Role::Watch)?;
    let Query(query) = query.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
    Ok(Json(shared.store.runs(query.filter(client.scope())).await?.into()))
}

pub(super) async fn one(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    query: Result<Query<RunQuery>, QueryRejection>,
) -> Result<Json<RunView>, Problem> {
    client.require(Role::Watch)?;
    let Query(RunQuery { wait }) = query.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
    let end = Instant::now() + Duration::from_secs(wait.unwrap_or_default().min(MAX_WAIT));
    let mut changes = shared.store.run_changes(&id);
    loop {
        let run = view(&shared, &client, &id).await?;
        let left = end.saturating_duration_since(Instant::now());
        if run.is_settled() || left.is_zero() || shared.shutdown.is_cancelled() {
            return Ok(Json(run));
        }
        tokio::select! {
            _ = changes.changed() => {}
            // Other processes may have written too.
            () = tokio::time::sleep(left.min(LOOK_AGAIN)) => {}
            () = shared.shutdown.cancelled() => {}
        }
    }
}

pub(super) async fn view(shared: &Shared, client: &Identity, id: &str) -> Result<RunView, Problem> {
    let run = visible(shared, client, id).await?;
    let waits = shared.store.waits_of(&run.id, MAX_LIST).await?;
    let has_no_result = run.state.is_unsuccessful();
    let view = RunView::new(run, waits).with_messages(messages(shared, id).await?);
    if !has_no_result {
        return Ok(view);
    }
    // Unreadable records hide only the data from them: they may be the reason for the run's error.
    let unknown = if shared.is_elsewhere() { Vec::new() } else { shared.unknown_calls(id).await.unwrap_or_default() };
    Ok(view.with_effects(shared.effects(id).await?).with_unknown(unknown))
}

/// Returns the messages to a run, each with whether it has joined the conversation of a worker.
async fn messages(shared: &Shared, id: &str) -> Result<Vec<MessageView>, Problem> {
    let messages = shared.store.messages_of(id).await?;
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let joined = shared.store.joined_messages(id).await?;
    let view = |row: MessageRow| {
        let has_joined = row.message.id().is_some_and(|id| joined.contains(id));
        MessageView::new(row, has_joined)
    };
    Ok(messages.into_iter().map(view).collect())
}

/// Returns a run that the client has changed.
async fn changed(shared: &Shared, client: &Identity, id: &str) -> Result<ChangedRun, Problem> {
    Ok(ChangedRun::new(view(shared, client, id).await?, client.may(Role::Watch)))
}

/// Returns a run that the client may see.
pub(super) async fn visible(shared: &Shared, client: &Identity, id: &str) -> Result<RunRow, Problem> {
    let run = shared.store.run(id).await?;
    run.filter(|run| client.sees(&run.tenant)).ok_or_else(|| Problem::unknown("run"))
}

pub(super) async fn cancel(
    State(shared): App,
    client: Identity,
    Id(id): Id,
) -> Result<(StatusCode, Json<ChangedRun>), Problem> {
    client.require(Role::Start)?;
    visible(&shared, &client, &id).await?;
    let status = match shared.store.cancel(&id, shared.now()).await? {
        Cancelling::Requested => StatusCode::ACCEPTED,
        Cancelling::Done => StatusCode::OK,
        Cancelling::AlreadyFinished => {
            return Err(Problem::new(StatusCode::CONFLICT, "already_finished", "the run has already finished"));
        }
        Cancelling::Unknown => return Err(Problem::unknown("run")),
    };
    shared.active.cancel(&id);
    Ok((status, Json(changed(&shared, &client, &id).await?)))
}

pub(super) async fn settle(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    Body(request): Body<SettleCall>,
) -> Result<Json<ChangedRun>, Problem> {
    client.require(Role::Decide)?;
    let run = visible(&shared, &client, &id).await?;
    let refused = |text: String| Problem::new(StatusCode::CONFLICT, "not_settled", text);
    if shared.is_elsewhere() {
        return Err(refused("a run in Restate asks what became of its calls; answer there".to_owned()));
    }
    if !run.state.is_unsuccessful() {
        return Err(refused(
            "only calls of failed and cancelled runs are settled; answer what this run asks".to_owned(),
        ));
    }
    let SettleCall { step, outcome } = request;
    match shared.settle(&id, &step, &outcome).await {
        Ok(()) => Ok(Json(changed(&shared, &client, &id).await?)),
        Err(error @ (JournalError::InvalidValue { .. } | JournalError::Claimed { .. })) => {
            Err(refused(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn resume(
    State(shared): App,
    client: Identity,
    Id(id): Id,
) -> Result<(StatusCode, Json<ChangedRun>), Problem> {
    client.require(Role::Start)?;
    visible(&shared, &client, &id).await?;
    let refused = |text| Err(Problem::new(StatusCode::CONFLICT, "not_resumable", text));
    if shared.is_elsewhere() {
        return refused("a run in Restate is not resumed once it has ended; start a new one");
    }
    if !client.may(Role::Decide) && may_repeat_effects(&shared.outlines(&id).await?).await {
        let text = "calls of the run began and may have had their effect, and would be made again: the role `decide` is required";
        return Err(Problem::new(StatusCode::FORBIDDEN, "may_repeat_effects", text));
    }
    match shared.store.resume(&id, client.quota, shared.now()).await? {
        Resuming::Done => Ok((StatusCode::ACCEPTED, Json(changed(&shared, &client, &id).await?))),
        Resuming::NotResumable => refused("only failed and cancelled runs can be resumed"),
        Resuming::ChatWentOn => refused("a later message of the chat has succeeded; send this one again"),
        Resuming::ChatBusy(run) => Err(chat_busy(&run)),
        Resuming::OverQuota(reached) => Err(over_quota(reached)),
    }
}
