//! Runs that other services start.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::body::Raw;
use super::problem::Problem;
use super::runs::{check, started, unknown_entry};
use super::{App, Id};
use crate::app::serve::store::{NewRun, Source};
use crate::app::serve::webhook::Refused;

pub(super) async fn receive(
    State(shared): App,
    Id(name): Id,
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
    // Offered by the webhook, also if clients may not start it.
    let item = shared.runtime.registry().get(&webhook.entry);
    check(item.ok_or_else(|| unknown_entry(&shared, &webhook.entry))?, &arguments)?;
    let key = format!("webhook:{}:{id}", webhook.name);
    let (source, owner) = (Source::Webhook { name }, (&webhook.tenant, &webhook.name));
    let new = NewRun::automatic(source, owner, &webhook.entry, arguments, key, shared.now());
    // Who sends a recorded message again learns nothing from it.
    started(shared.store.insert_run(new).await?, false)
}
