//! The service itself: what it offers, its figures, whether it works.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::problem::Problem;
use super::view::{EntryList, EntryView, HybridList, HybridView};
use super::{App, Identity, Role};
use crate::openapi;

pub(super) async fn entries(State(shared): App, client: Identity) -> Result<Json<EntryList>, Problem> {
    if !client.may(Role::Start) {
        client.require(Role::Watch)?;
    }
    let registry = shared.runtime.registry();
    let entries = shared.options.entries.iter().filter_map(|name| registry.get(name)).map(|item| EntryView {
        name: item.name().to_owned(),
        description: item.description().to_owned(),
        parameters: item.parameters().clone(),
    });
    Ok(Json(EntryList { entries: entries.collect() }))
}

/// Lists the hybrids with a guarantee: their calls are those of all tenants.
pub(super) async fn hybrids(State(shared): App, client: Identity) -> Result<Json<HybridList>, Problem> {
    client.require(Role::Administer)?;
    let known = shared.runtime.hybrid_status().await.map_err(|_| Problem::storage_failed())?;
    Ok(Json(HybridList { hybrids: known.into_iter().map(HybridView::from).collect() }))
}

pub(super) async fn metrics(State(shared): App, client: Identity) -> Result<Response, Problem> {
    client.require(Role::Administer)?;
    let (runs, waits) = (shared.store.counts().await?, shared.store.open_waits().await?);
    let text = shared.metrics.text(&runs, waits);
    let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, format)], text).into_response())
}

/// The process answers.
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// The process accepts runs: its file could be written lately and can be read, and it is not about to end.
pub(super) async fn ready(State(shared): App) -> Result<Json<Value>, Problem> {
    if shared.shutdown.is_cancelled() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", "the service is shutting down"));
    }
    if shared.health.is_failing() {
        return Err(Problem::storage_failed());
    }
    shared.store.check().await?;
    Ok(Json(json!({ "status": "ok" })))
}

pub(super) async fn openapi() -> Json<Arc<Value>> {
    Json(openapi::document())
}

pub(super) async fn unknown_path() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown_path", "unknown path; `/openapi.json` lists the paths")
}

pub(super) async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "the path does not have this method")
}
