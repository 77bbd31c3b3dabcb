//! One runtime that serves many users over HTTP: each run has its user's approvals, events, folder and limits.
//!
//! | request | does |
//! |---|---|
//! | `POST /runs` `{"question": ".."}` | starts a run and returns its id |
//! | `GET /runs/ID` | returns whether it is running, its answer or its error |
//! | `GET /runs/ID/events` | streams its events, as server-sent events |
//! | `GET /runs/ID/approvals` | lists the calls that wait for approval |
//! | `POST /runs/ID/approvals/N` `{"approve": true}` | approves or denies one |
//! | `DELETE /runs/ID` | cancels the run and removes it |
//!
//! Each request is authenticated by `Authorization: Bearer TOKEN`. For the run of another user, the status is 404.

mod demo;
mod routes;
mod run;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::routing::{get, post};
use llm_do::prelude::*;

use self::run::UserRun;

/// Add a line to the user's notes.
#[tool(effect = destructive, summary = "note: {line}")]
fn take_note(ctx: &CallContext, line: String) -> std::io::Result<()> {
    // The project root of this run is the user's folder.
    let path = ctx.project_root().join("notes.txt");
    let mut notes = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(notes, "{line}")
}

/// Answer the user. Note what the user wants to be noted.
#[worker(toolsets = [take_note])]
async fn assistant(input: String) -> String;

/// A user who may start runs.
#[derive(Clone, Debug)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The folder of the user's files.
    pub folder: PathBuf,
}

/// The state that all requests share.
#[derive(Clone, Debug)]
struct App {
    runtime: Runtime,
    /// Users by token.
    users: Arc<HashMap<String, User>>,
    /// Runs by id.
    runs: Arc<Mutex<HashMap<String, UserRun>>>,
}

impl App {
    fn runs(&self) -> MutexGuard<'_, HashMap<String, UserRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the routes of the server; `users` are pairs of token and user.
pub fn router(runtime: Runtime, users: impl IntoIterator<Item = (String, User)>) -> Router {
    let app = App { runtime, users: Arc::new(users.into_iter().collect()), runs: Arc::default() };
    Router::new()
        .route("/answers", post(routes::answer))
        .route("/runs", post(routes::start))
        .route("/runs/{id}", get(routes::status).delete(routes::cancel))
        .route("/runs/{id}/events", get(routes::events))
        .route("/runs/{id}/approvals", get(routes::approvals))
        .route("/runs/{id}/approvals/{number}", post(routes::decide))
        .with_state(app)
}
