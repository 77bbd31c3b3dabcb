//! What each request does.

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
use crate::{App, User};

type Fault = (StatusCode, &'static str);

/// What a run is to answer.
#[data]
pub(crate) struct Question {
    question: String,
}

/// What a user decides about a call.
#[data]
pub(crate) struct Answer {
    approve: bool,
}

impl FromRequestParts<App> for User {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fault> {
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let user = token.and_then(|token| app.users.get(token));
        user.cloned().ok_or((StatusCode::UNAUTHORIZED, "unknown or missing token"))
    }
}

impl App {
    /// Looks at a run, which must be the user's.
    fn with_run<T>(&self, user: &User, id: &str, look: impl FnOnce(&mut UserRun) -> T) -> Result<T, Fault> {
        let mut runs = self.runs();
        let run = runs.get_mut(id).filter(|run| run.user == user.name);
        run.map(look).ok_or((StatusCode::NOT_FOUND, "no such run"))
    }
}

/// Starts a run.
pub(crate) async fn start(
    State(app): State<App>,
    user: User,
    Json(Question { question }): Json<Question>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let started = run::start(&app.runtime, &user, question);
    let (id, run) = started.ok_or((StatusCode::INTERNAL_SERVER_ERROR, "the run has no id"))?;
    app.runs().insert(id.clone(), run);
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

/// Returns what became of a run.
pub(crate) async fn look(State(app): State<App>, user: User, Path(id): Path<String>) -> Result<Json<Value>, Fault> {
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
) -> Result<Sse<impl Stream<Item = Result<Event, axum::Error>>>, Fault> {
    let events = app.with_run(&user, &id, |run| run.events.take())?;
    let events = events.ok_or((StatusCode::CONFLICT, "these events are streamed already"))?;
    let events = events.map(|event| Event::default().id(event.seq.to_string()).json_data(&*event));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Lists the calls that wait for approval.
pub(crate) async fn approvals(
    State(app): State<App>,
    user: User,
    Path(id): Path<String>,
) -> Result<Json<Vec<Value>>, Fault> {
    app.with_run(&user, &id, |run| {
        let state = run.progress.lock();
        let open = state.pending.iter().filter(|(_, question)| question.is_open());
        let listed = open.map(|(number, question)| {
            let request = question.request();
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
    Json(Answer { approve }): Json<Answer>,
) -> Result<StatusCode, Fault> {
    let question = app.with_run(&user, &id, |run| run.progress.lock().pending.remove(&number))?;
    let question = question.ok_or((StatusCode::NOT_FOUND, "no such question, or it is answered"))?;
    if approve {
        question.approve();
    } else {
        question.deny("the user denied it");
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels a run, and forgets it.
pub(crate) async fn cancel(State(app): State<App>, user: User, Path(id): Path<String>) -> Result<StatusCode, Fault> {
    app.with_run(&user, &id, |run| run.handle.cancel())?;
    app.runs().remove(&id);
    Ok(StatusCode::NO_CONTENT)
}
