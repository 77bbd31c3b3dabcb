//! The request handlers.

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt};
use llm_do::error::chain;
use llm_do::{Value, data, json};

use crate::run::{self, UserRun};
use crate::{App, User, assistant};

type HttpError = (StatusCode, &'static str);

/// The body of a request that starts a run.
#[data]
pub(crate) struct Question {
    question: String,
}

/// The body of a request that decides about a call.
#[data]
pub(crate) struct ApprovalDecision {
    approve: bool,
}

impl FromRequestParts<App> for User {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let user = token.and_then(|token| app.users.get(token));
        user.cloned().ok_or((StatusCode::UNAUTHORIZED, "unknown or missing token"))
    }
}

impl App {
    /// Calls `access` with a run of the user.
    fn with_run<T>(&self, user: &User, id: &str, access: impl FnOnce(&mut UserRun) -> T) -> Result<T, HttpError> {
        let mut runs = self.runs();
        let run = runs.get_mut(id).filter(|run| run.user == user.name);
        run.map(access).ok_or((StatusCode::NOT_FOUND, "unknown run"))
    }
}

/// Starts a run.
pub(crate) async fn start(
    State(app): State<App>,
    user: User,
    Json(Question { question }): Json<Question>,
) -> Result<(StatusCode, Json<Value>), HttpError> {
    let started = run::start(&app.runtime, &user, question);
    let (id, run) = started.ok_or((StatusCode::INTERNAL_SERVER_ERROR, "the run has no id"))?;
    app.runs().insert(id.clone(), run);
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

/// Returns the state of a run, with its answer or its error.
pub(crate) async fn status(
    State(app): State<App>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Value>, HttpError> {
    app.with_run(&user, &id, |run| {
        let usage = run.handle.usage();
        Json(match &run.progress.lock().result {
            None => json!({ "state": "running", "usage": usage }),
            Some(Ok(answer)) => json!({ "state": "done", "answer": answer, "usage": usage }),
            Some(Err(error)) => json!({ "state": "failed", "error": chain(error), "usage": usage }),
        })
    })
}

/// Streams the events of a run; the stream ends with the run.
pub(crate) async fn events(
    State(app): State<App>,
    user: User,
    Path(id): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, axum::Error>>>, HttpError> {
    let events = app.with_run(&user, &id, |run| run.events.take())?;
    let events = events.ok_or((StatusCode::CONFLICT, "the events of this run are already being streamed"))?;
    let events = events.map(|event| Event::default().id(event.seq.to_string()).json_data(&*event));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Streams an answer while it is written, each time as far as it is there. No user is asked: calls that need approval are denied.
pub(crate) async fn answer(
    State(app): State<App>,
    user: User,
    Json(Question { question }): Json<Question>,
) -> Sse<impl Stream<Item = Result<Event, axum::Error>>> {
    let start = app.runtime.start(assistant { input: question }).project_root(&user.folder);
    Sse::new(start.stream().map(|partial| Event::default().json_data(partial)))
}

/// Lists the calls that wait for approval.
pub(crate) async fn approvals(
    State(app): State<App>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Vec<Value>>, HttpError> {
    app.with_run(&user, &id, |run| {
        let state = run.progress.lock();
        let open = state.pending.iter().filter(|(_, pending)| pending.is_open());
        let listed = open.map(|(number, pending)| {
            let request = pending.request();
            json!({ "number": number, "summary": request.summary(), "details": request.details() })
        });
        Json(listed.collect())
    })
}

/// Approves or denies a call.
pub(crate) async fn decide(
    State(app): State<App>,
    user: User,
    Path((id, number)): Path<(String, u64)>,
    Json(ApprovalDecision { approve }): Json<ApprovalDecision>,
) -> Result<StatusCode, HttpError> {
    let pending = app.with_run(&user, &id, |run| run.progress.lock().pending.remove(&number))?;
    let pending = pending.ok_or((StatusCode::NOT_FOUND, "unknown approval request, or it is already decided"))?;
    if approve {
        pending.approve();
    } else {
        pending.deny_and_stop("the user denied it");
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels a run and removes it.
pub(crate) async fn cancel(
    State(app): State<App>,
    user: User,
    Path(id): Path<String>,
) -> Result<StatusCode, HttpError> {
    app.with_run(&user, &id, |run| run.handle.cancel())?;
    app.runs().remove(&id);
    Ok(StatusCode::NO_CONTENT)
}
