//! Requests to the engine that start, list, cancel and answer runs.

use std::fmt;

use llm_do_core::base::error::chain;
use llm_do_core::observe::event::Label;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ServiceError;
use super::inbox::OpenQuestion;
use super::names::Names;

/// The engine with the runs of an application that [`RestateWorker`](super::RestateWorker)s run.
///
/// For [`Service::on_restate`](crate::Service::on_restate).
#[derive(Clone, Debug)]
#[must_use = "it names an engine for `Service::on_restate`"]
pub struct RestateEngine {
    pub(super) names: Names,
    ingress: String,
    admin: String,
}

impl RestateEngine {
    /// Names the service of an application in Restate, as in [`RestateWorker::new`](super::RestateWorker::new), with an engine on
    /// this machine.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has other characters than letters, digits, `.`, `_` and `-`.
    pub fn new(service: &str) -> Result<Self, ServiceError> {
        let names = Names::new(service)?;
        Ok(Self { names, ingress: "http://127.0.0.1:8080".to_owned(), admin: "http://127.0.0.1:9070".to_owned() })
    }

    /// Sets the address at which the engine accepts requests. Default: `http://127.0.0.1:8080`.
    pub fn ingress(mut self, uri: impl Into<String>) -> Self {
        self.ingress = uri.into();
        self
    }

    /// Sets the address of its administration. Default: `http://127.0.0.1:9070`.
    pub fn admin(mut self, uri: impl Into<String>) -> Self {
        self.admin = uri.into();
        self
    }
}

/// The error of a request to the engine; a retry may succeed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the engine Restate: {0}")]
pub(crate) struct EngineError(String);

impl From<reqwest::Error> for EngineError {
    fn from(error: reqwest::Error) -> Self {
        Self(chain(&error))
    }
}

/// A client of an engine. Clones share its connections.
#[derive(Clone)]
pub(crate) struct EngineClient {
    engine: RestateEngine,
    http: reqwest::Client,
}

/// The engine's data about a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Invocation {
    pub(crate) id: String,
    pub(crate) status: String,
    /// The number of entries in the engine's journal: it grows with each step.
    pub(crate) journal_size: Option<u64>,
    pub(crate) completion_failure: Option<String>,
}

impl Invocation {
    pub(crate) fn is_completed(&self) -> bool {
        self.status == "completed"
    }
}

#[derive(Deserialize)]
struct Rows<T> {
    rows: Vec<T>,
}

/// The columns of an [`Invocation`].
const COLUMNS: &str = "id, status, journal_size, completion_failure";

impl EngineClient {
    pub(crate) fn new(engine: RestateEngine) -> Self {
        Self { engine, http: reqwest::Client::new() }
    }

    /// Returns the name of the service that starts runs.
    pub(super) fn runs_service(&self) -> &str {
        &self.engine.names.runs
    }

    /// Starts a run, once per key; returns the id of its invocation. `source` is whose text the arguments may carry, if it is set.
    pub(crate) async fn start(
        &self,
        key: &str,
        (entry, tenant): (&str, &str),
        arguments: &Value,
        source: Option<Label>,
    ) -> Result<String, EngineError> {
        let uri = format!("{}/{}/run/send", base(&self.engine.ingress), self.engine.names.runs);
        let mut body = json!({ "entry": entry, "arguments": arguments, "tenant": tenant });
        if let Some(label) = source {
            body["source"] = json!(label);
        }
        let request = self.http.post(uri).header("idempotency-key", key);
        let (status, text) = send(request.header("content-type", "application/json").body(body.to_string())).await?;
        let sent: Value = serde_json::from_str(&text).unwrap_or_default();
        match sent["invocationId"].as_str() {
            Some(id) if status.is_success() => Ok(id.to_owned()),
            _ => Err(EngineError(format!("it answers {status}: {text}"))),
        }
    }

    /// Cancels a run, which may have ended in the meantime.
    pub(crate) async fn cancel(&self, invocation: &str) -> Result<(), EngineError> {
        let uri = format!("{}/invocations/{invocation}/cancel", base(&self.engine.admin));
        let (status, text) = send(self.http.request(Method::PATCH, uri)).await?;
        let is_over = matches!(status, StatusCode::NOT_FOUND | StatusCode::CONFLICT);
        if status.is_success() || is_over { Ok(()) } else { Err(EngineError(format!("it answers {status}: {text}"))) }
    }

    /// Sends an answer to the inbox; the question may have been withdrawn in the meantime.
    pub(crate) async fn answer(&self, answer: &Value) -> Result<(), EngineError> {
        let uri = format!("{}/{}/all/answer", base(&self.engine.ingress), self.engine.names.inbox);
        let request = self.http.post(uri).header("content-type", "application/json").body(answer.to_string());
        let (status, text) = send(request).await?;
        if status.is_server_error() { Err(EngineError(format!("it answers {status}: {text}"))) } else { Ok(()) }
    }

    /// Returns the engine's data about these runs, without unknown ones.
    pub(crate) async fn invocations(&self, ids: &[String]) -> Result<Vec<Invocation>, EngineError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = ids.iter().map(|id| quoted(id)).collect();
        self.query(&format!("SELECT {COLUMNS} FROM sys_invocation WHERE id IN ({})", ids.join(", "))).await
    }

    /// Lists the questions of runs to people.
    pub(crate) async fn questions(&self) -> Result<Vec<OpenQuestion>, EngineError> {
        #[derive(Deserialize)]
        struct State {
            value_utf8: String,
        }
        let service = quoted(&self.engine.names.inbox);
        let state: Vec<State> =
            self.query(&format!("SELECT value_utf8 FROM state WHERE service_name = {service}")).await?;
        Ok(state.iter().filter_map(|state| serde_json::from_str(&state.value_utf8).ok()).collect())
    }

    pub(super) async fn query<T: DeserializeOwned>(&self, sql: &str) -> Result<Vec<T>, EngineError> {
        let uri = format!("{}/query", base(&self.engine.admin));
        let request = self.http.post(uri).header("content-type", "application/json");
        let request = request.header("accept", "application/json").body(json!({ "query": sql }).to_string());
        let (status, text) = send(request).await?;
        if !status.is_success() {
            return Err(EngineError(format!("it answers {status}: {text}")));
        }
        let rows = serde_json::from_str::<Rows<T>>(&text);
        rows.map(|rows| rows.rows).map_err(|error| EngineError(format!("unexpected answer: {error}")))
    }
}

async fn send(request: reqwest::RequestBuilder) -> Result<(StatusCode, String), EngineError> {
    let response = request.send().await?;
    Ok((response.status(), response.text().await?))
}

fn base(uri: &str) -> &str {
    uri.trim_end_matches('/')
}

/// Returns a text as a literal of SQL.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl fmt::Debug for EngineClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineClient").field("engine", &self.engine).finish_non_exhaustive()
    }
}
