//! The runs of a running service, over HTTP.

mod records;

use std::path::Path;
use std::time::Duration;

use llm_do_core::observe::journal::Settlement;
use llm_do_core::plane::mailbox::RunMessage;
use llm_do_serve::RunListQuery;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, StatusCode, Url};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::records::{Reader, RemoteRecords};
use super::{CommandError, token};
use crate::run::block_on;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running service.
pub(crate) struct Remote {
    base: Url,
    token: Option<String>,
    reader: Reader,
}

impl Remote {
    /// Creates a client for the service at an address.
    fn new(url: &str, token: Option<String>) -> Result<Self, CommandError> {
        let fault = |fault: String| CommandError::Usage(format!("--url {url}: {fault}"));
        let base = Url::parse(url).map_err(|error| fault(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(fault("expected an address such as `https://runs.example.com`".to_owned()));
        }
        Ok(Self { base, token, reader: Reader::new()? })
    }

    /// Names the service at an address, with the token in a file or in the environment.
    pub(crate) fn named(url: &str, token_file: Option<&Path>) -> Result<Self, CommandError> {
        Self::new(url, token(token_file)?)
    }

    /// Returns the records of a run; `None` if it is unknown, or belongs to another tenant.
    pub(crate) fn records(&self, id: &str) -> Result<Option<RemoteRecords<'_>>, CommandError> {
        let (url, token) = (self.path(&["runs", id, "records"])?, self.token.as_deref());
        self.reader.read(&url, token)
    }

    pub(crate) fn list(&self, query: RunListQuery) -> Result<Value, CommandError> {
        let mut url = self.path(&["runs"])?;
        let RunListQuery { state, entry, chat, before, since, until, tenant, version, limit } = query;
        let parameters = [
            ("state", state.map(|state| state.as_str().to_owned())),
            ("entry", entry),
            ("chat", chat),
            ("before", before),
            ("since", since.map(|since| since.to_string())),
            ("until", until.map(|until| until.to_string())),
            ("tenant", tenant),
            ("version", version),
            ("limit", limit.map(|limit| limit.to_string())),
        ];
        let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        url.query_pairs_mut().extend_pairs(given);
        match self.get(url)? {
            (status, list) if status.is_success() => Ok(list),
            (status, problem) => Err(refused(status, &problem)),
        }
    }

    /// Returns a run; `None` if it is unknown, or belongs to another tenant.
    pub(crate) fn run(&self, id: &str) -> Result<Option<Value>, CommandError> {
        match self.get(self.path(&["runs", id])?)? {
            (status, run) if status.is_success() => Ok(Some(run)),
            (StatusCode::NOT_FOUND, problem) if problem.is_object() => Ok(None),
            (status, problem) => Err(refused(status, &problem)),
        }
    }

    /// Settles the outcome of a call of a run.
    pub(super) fn settle(&self, id: &str, step: &str, settlement: &Settlement) -> Result<(), CommandError> {
        let url = self.path(&["runs", id, "settle"])?;
        self.post(url, &json!({ "step": step, "outcome": settlement }))
    }

    /// Sends a message to a run.
    pub(super) fn send(&self, id: &str, message: &RunMessage) -> Result<(), CommandError> {
        let body = json!({
            "message": message.text(), "worker": message.worker(), "interrupt": message.interrupts(),
            "pin": message.is_pinned(),
        });
        self.post(self.path(&["runs", id, "messages"])?, &body)
    }

    fn post(&self, url: Url, body: &Value) -> Result<(), CommandError> {
        match self.exchange(Method::POST, url, Some(body))? {
            (status, _) if status.is_success() => Ok(()),
            (status, problem) => Err(refused(status, &problem)),
        }
    }

    fn path(&self, segments: &[&str]) -> Result<Url, CommandError> {
        let mut url = self.base.clone();
        match url.path_segments_mut() {
            Ok(mut path) => drop(path.pop_if_empty().extend(segments)),
            Err(()) => return Err(CommandError::Usage(format!("--url {}: it cannot have a path", self.base))),
        }
        Ok(url)
    }

    fn get(&self, url: Url) -> Result<(StatusCode, Value), CommandError> {
        self.exchange(Method::GET, url, None)
    }

    /// Returns the status and the body of a response; the body is null if it is not JSON.
    fn exchange(&self, method: Method, url: Url, body: Option<&Value>) -> Result<(StatusCode, Value), CommandError> {
        let answer = async {
            // Without redirects, since the token is only for the address that the user named.
            let http = Client::builder().redirect(Policy::none()).timeout(TIMEOUT).build()?;
            let request = http.request(method, url);
            let request = match body {
                Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.to_string()),
                None => request,
            };
            let request = match &self.token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let response = request.send().await?;
            Ok::<_, reqwest::Error>((response.status(), response.text().await?))
        };
        let (status, text) = block_on(&CancellationToken::new(), answer)?.map_err(CommandError::from_error)?;
        Ok((status, serde_json::from_str(&text).unwrap_or_default()))
    }
}

fn refused(status: StatusCode, problem: &Value) -> CommandError {
    let detail = problem["detail"].as_str().map(|detail| format!(": {detail}")).unwrap_or_default();
    let hint = if status == StatusCode::UNAUTHORIZED { "; give a token by --token-file" } else { "" };
    CommandError::Error(format!("the service answers {status}{detail}{hint}"))
}
