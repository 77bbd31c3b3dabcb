//! Runs that other services start.

use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::App;
use super::body::Raw;
use super::problem::Problem;
use super::runs::{check, started};
use crate::app::serve::store::{NewRun, Source};
use crate::app::serve::webhook::Refused;

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
    let key = format!("webhook:{}:{id}", webhook.name);
    let (source, owner) = (Source::Webhook { name }, (&webhook.tenant, &webhook.name));
    let new = NewRun::automatic(source, owner, &webhook.entry, arguments, key, shared.now());
    started(shared.store.insert_run(new).await?)
}
