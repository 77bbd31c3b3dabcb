//! Runs that other services start.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::App;
use super::body::Raw;
use super::problem::Problem;
use super::runs::{check, started};
use crate::app::serve::client::Quota;
use crate::app::serve::store::{NewRun, Source};
use crate::app::serve::webhook::Refused;
use crate::plane::dispatch::fresh_id;

pub(super) async fn receive(
    State(shared): App,
    Path(name): Path<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, Problem> {
    let webhook = shared.options.webhooks.iter().find(|webhook| *webhook.name == *name);
    let webhook = webhook.ok_or_else(|| Problem::unknown("webhook"))?;
    let id = webhook.verify(&headers, &body, shared.now()).map_err(|Refused| Problem::unauthenticated())?;
    let body: Value = serde_json::from_slice(&body).map_err(|error| Problem::invalid(error.to_string()))?;
    let arguments = match &webhook.argument {
        Some(argument) => Value::Object(Map::from_iter([(argument.clone(), body)])),
        None => body,
    };
    check(&shared, &webhook.entry, &arguments)?;
    let new = NewRun {
        id: fresh_id().to_string(),
        tenant: Arc::clone(&webhook.tenant),
        client: Arc::clone(&webhook.name),
        quota: Quota::default(),
        source: Source::Webhook { name },
        entry: webhook.entry.clone(),
        arguments,
        idempotency_key: Some(format!("webhook:{}:{id}", webhook.name)),
        chat: None,
        now: shared.now(),
    };
    started(shared.store.insert_run(new).await?)
}
