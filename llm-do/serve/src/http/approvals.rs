//! Approvals and questions: the open ones, and the answers of people.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use http::StatusCode;
use serde_json::{Value, json};

use super::body::Json as Body;
use super::problem::Problem;
use super::view::{Answer, Answered, Decision, MAX_LIST, WaitList, WaitListQuery, WaitView};
use super::{App, Id, Identity, Role};
use crate::engine::Shared;
use crate::store::{AnswerOutcome, Wait, WaitFilter, WaitKind};

type WaitQuery = Result<Query<WaitListQuery>, QueryRejection>;

pub(super) async fn approvals(
    State(shared): App,
    client: Identity,
    query: WaitQuery,
) -> Result<Json<WaitList>, Problem> {
    list(&shared, &client, WaitKind::Approval, query).await
}

pub(super) async fn questions(
    State(shared): App,
    client: Identity,
    query: WaitQuery,
) -> Result<Json<WaitList>, Problem> {
    list(&shared, &client, WaitKind::Question, query).await
}

async fn list(shared: &Shared, client: &Identity, kind: WaitKind, query: WaitQuery) -> Result<Json<WaitList>, Problem> {
    client.require(Role::Watch)?;
    let Query(WaitListQuery { after, limit }) = query.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
    let limit = limit.unwrap_or(MAX_LIST).clamp(1, MAX_LIST);
    let waits = shared.store.waits(WaitFilter { kind, tenant: client.scope(), after, limit }).await?;
    let next = waits.rows.last().filter(|_| waits.is_full).map(|wait| wait.id.clone());
    Ok(Json(WaitList { waiting: waits.rows.into_iter().map(WaitView::from).collect(), next }))
}

pub(super) async fn approval(app: App, client: Identity, id: Id) -> Result<Json<WaitView>, Problem> {
    one(app, client, id, WaitKind::Approval).await
}

pub(super) async fn question(app: App, client: Identity, id: Id) -> Result<Json<WaitView>, Problem> {
    one(app, client, id, WaitKind::Question).await
}

async fn one(State(shared): App, client: Identity, Id(id): Id, kind: WaitKind) -> Result<Json<WaitView>, Problem> {
    client.require(Role::Watch)?;
    let wait = shared.store.wait(&id).await?.filter(|wait| wait.kind == kind && client.sees(&wait.tenant));
    wait.map(|wait| Json(wait.into())).ok_or_else(|| unknown(kind))
}

fn unknown(kind: WaitKind) -> Problem {
    Problem::unknown(match kind {
        WaitKind::Approval => "approval",
        WaitKind::Question => "question",
    })
}

pub(super) async fn decide(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    Body(decision): Body<Decision>,
) -> Result<Json<Answered>, Problem> {
    let Decision { digest, decision } = decision;
    respond(&shared, &client, &id, WaitKind::Approval, digest, json!(decision)).await
}

pub(super) async fn answer(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    Body(answer): Body<Answer>,
) -> Result<Json<Answered>, Problem> {
    let Answer { digest, answer } = answer;
    let answer = match answer {
        // The form in which an input handler answers with several choices.
        Value::Array(choices) => Value::Array(choices).to_string().into(),
        Value::String(text) => Value::String(text),
        _ => return Err(Problem::invalid("`answer` must be a text or a list of texts")),
    };
    respond(&shared, &client, &id, WaitKind::Question, digest, answer).await
}

/// Records an answer, unless there is one already, or the person saw a different request.
async fn respond(
    shared: &Shared,
    client: &Identity,
    id: &str,
    kind: WaitKind,
    digest: String,
    answer: Value,
) -> Result<Json<Answered>, Problem> {
    client.require(Role::Decide)?;
    let by = (Arc::clone(&client.name), shared.now());
    let conflict = |code, detail: &str| Problem::new(StatusCode::CONFLICT, code, detail);
    let with_current = |problem: Problem, wait| {
        if client.may(Role::Watch) { problem.with("current", json!(WaitView::from(wait))) } else { problem }
    };
    let decided = shared.store.answer(id, client.scope(), (kind, digest), answer, by).await?;
    shared.journal.notify_answers();
    match decided {
        AnswerOutcome::Done => Ok(Json(Answered { id: id.to_owned(), answered_by: client.name.to_string() })),
        AnswerOutcome::AlreadyAnswered(wait) => Err(with_current(already_answered(&wait), wait)),
        AnswerOutcome::Stale(wait) => {
            let text = "the request has changed since it was shown: review `current`, and send its `digest`";
            Err(with_current(conflict("stale", text), wait))
        }
        AnswerOutcome::Withdrawn => Err(conflict("withdrawn", "the run no longer waits for this answer")),
        AnswerOutcome::Unknown => Err(unknown(kind)),
    }
}

fn already_answered(wait: &Wait) -> Problem {
    let by = wait.answered_by.as_deref().unwrap_or_default();
    Problem::new(StatusCode::CONFLICT, "already_answered", format!("`{by}` has already answered"))
}
