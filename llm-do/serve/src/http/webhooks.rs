//! Runs that other services start.

use std::borrow::Cow;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};

use super::body::{Raw, has_type};
use super::problem::Problem;
use super::runs::{check, started, unknown_entry};
use super::{App, Id};
use crate::Webhook;
use crate::store::{NewRun, Source};
use crate::webhook::{Message, Refused};

/// The field of a form with the event, as GitHub sends it.
const PAYLOAD: &str = "payload";

pub(super) async fn receive(
    State(shared): App,
    Id(name): Id,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, Problem> {
    let webhook = shared.options.webhooks.iter().find(|webhook| *webhook.name == *name);
    let webhook = webhook.ok_or_else(|| Problem::unknown("webhook"))?;
    let message = webhook.verify(&headers, &body, shared.now()).map_err(|Refused| Problem::unsigned())?;
    if message.is_ping() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if !message.has_valid_event() {
        return Err(Problem::invalid("`x-github-event` must have 1 to 64 lowercase letters, digits or `_`"));
    }
    let arguments = arguments(webhook, &message, json(&headers, &body)?);
    // The webhook may start it even if clients may not.
    let item = shared.runtime.registry().get(&webhook.entry);
    check(item.ok_or_else(|| unknown_entry(&shared, &webhook.entry))?, &arguments)?;
    let key = message.key(&webhook.name);
    let (source, owner) = (Source::Webhook { name, event: message.event }, (&webhook.tenant, &webhook.name));
    let new = NewRun::automatic(source, owner, &webhook.entry, arguments, key, shared.now());
    // A sender of a recorded message must not learn the result of its run.
    started(shared.store.insert_run(new).await?, false)
}

/// Reads the body: JSON, or a form with JSON in one field.
fn json(headers: &HeaderMap, body: &[u8]) -> Result<Value, Problem> {
    let is_form = has_type(headers, "application/x-www-form-urlencoded");
    let body = if is_form { payload(body)? } else { Cow::Borrowed(body) };
    let place = if is_form { "`payload`: " } else { "" };
    serde_json::from_slice(&body).map_err(|error| Problem::invalid(format!("{place}{error}")))
}

/// Returns the field of a form with the event.
fn payload(form: &[u8]) -> Result<Cow<'_, [u8]>, Problem> {
    let mut fields = form_urlencoded::parse(form);
    let field = fields.find(|(name, _)| name == PAYLOAD);
    let missing = || Problem::invalid("missing field `payload`: a form must have the event in it, as JSON");
    Ok(match field.ok_or_else(missing)?.1 {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    })
}

/// Returns the arguments of the run.
fn arguments(webhook: &Webhook, message: &Message, body: Value) -> Value {
    let mut arguments = match &webhook.argument {
        Some(argument) => Value::Object(Map::from_iter([(argument.clone(), body)])),
        None => body,
    };
    if let (Some(argument), Some(event), Value::Object(fields)) =
        (&webhook.type_argument, &message.event, &mut arguments)
    {
        fields.insert(argument.clone(), event.as_str().into());
    }
    arguments
}
