//! Approvals and questions: what waits, and the answers of people.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use serde_json::{Value, json};

use super::body::Json as Body;
use super::problem::Problem;
use super::view::{Answer, Answered, Decision, WaitList, WaitView};
use super::{App, Identity, Role};
use crate::app::serve::engine::Shared;
use crate::app::serve::store::{Decided, Wait, WaitKind};

/// The maximum number of approvals or questions in a list.
const MAX_LIST: u32 = 500;

pub(super) async fn approvals(State(shared): App, client: Identity) -> Result<Json<WaitList>, Problem> {
    list(&shared, &client, WaitKind::Approval).await
}

pub(super) async fn questions(State(shared): App, client: Identity) -> Result<Json<WaitList>, Problem> {
    list(&shared, &client, WaitKind::Question).await
}

async fn list(shared: &Shared, client: &Identity, kind: WaitKind) -> Result<Json<WaitList>, Problem> {
    client.require(Role::Watch)?;
    let waits = shared.store.waits(client.scope(), Some(kind), None, MAX_LIST).await?;
    Ok(Json(WaitList { waiting: waits.into_iter().map(WaitView::from).collect() }))
}

pub(super) async fn approval(app: App, client: Identity, path: Path<String>) -> Result<Json<WaitView>, Problem> {
    one(app, client, path, WaitKind::Approval).await
}

pub(super) async fn question(app: App, client: Identity, path: Path<String>) -> Result<Json<WaitView>, Problem> {
    one(app, client, path, WaitKind::Question).await
}

async fn one(
    State(shared): App,
    client: Identity,
    Path(id): Path<String>,
    kind: WaitKind,
) -> Result<Json<WaitView>, Problem> {
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
    Path(id): Path<String>,
    Body(decision): Body<Decision>,
) -> Result<Json<Answered>, Problem> {
    let Decision { digest, decision } = decision;
    respond(&shared, &client, &id, WaitKind::Approval, digest, json!(decision)).await
}

pub(super) async fn answer(
    State(shared): App,
    client: Identity,
    Path(id): Path<String>,
    Body(answer): Body<Answer>,
) -> Result<Json<Answered>, Problem> {
    let Answer { digest, answer } = answer;
    let answer = match answer {
        // How an input handler answers with several choices.
        Value::Array(choices) => Value::Array(choices).to_string().into(),
        Value::String(text) => Value::String(text),
        _ => return Err(Problem::invalid("`answer` must be a text or a list of texts")),
    };
    respond(&shared, &client, &id, WaitKind::Question, digest, answer).await
}

/// Records an answer, unless there is one, or the person saw something else.
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
    let decided = shared.store.answer(id, client.scope(), (kind, digest), answer, by).await?;
    shared.journal.notify_answers();
    match decided {
        Decided::Done => Ok(Json(Answered { id: id.to_owned(), answered_by: client.name.to_string() })),
        Decided::AlreadyAnswered(wait) => Err(already_answered(wait)),
        Decided::Stale(wait) => {
            let text = "it has changed since it was shown: look at it again, and name its new digest";
            Err(conflict("stale", text).with("current", json!(WaitView::from(wait))))
        }
        Decided::Withdrawn => Err(conflict("withdrawn", "the run no longer waits for it")),
        Decided::Unknown => Err(unknown(kind)),
    }
}

fn already_answered(wait: Wait) -> Problem {
    let by = wait.answered_by.clone().unwrap_or_default();
    Problem::new(StatusCode::CONFLICT, "already_answered", format!("`{by}` has already answered"))
        .with("current", json!(WaitView::from(wait)))
}
