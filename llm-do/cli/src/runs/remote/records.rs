//! The records of a run, read from a service line by line.

use std::time::Duration;

use llm_do_core::observe::journal::Record;
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use tokio::runtime::{Builder, Runtime};

use super::{CommandError, TIMEOUT, refused};

/// How often a request is made again that the service refuses since there are too many.
const ATTEMPTS: u32 = 60;
/// How long such a request waits, unless the service returns a time.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum length of such a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Reads from a service in the caller's thread, over one connection.
pub(super) struct Reader {
    runtime: Runtime,
    http: Client,
}

/// The records of a run. The iterator ends after its first error.
pub(crate) struct RemoteRecords<'r> {
    runtime: &'r Runtime,
    /// `None` at the end.
    response: Option<Response>,
    /// What has arrived, and how much of it was read.
    bytes: Vec<u8>,
    read: usize,
}

impl Reader {
    pub(super) fn new() -> Result<Self, CommandError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(CommandError::from_error)?;
        // A token is for the address that the user named.
        let http = Client::builder().redirect(Policy::none()).connect_timeout(TIMEOUT).read_timeout(TIMEOUT).build();
        Ok(Self { runtime, http: http.map_err(CommandError::from_error)? })
    }

    /// Requests the records at an address; `None` if they are unknown.
    pub(super) fn read(&self, url: &Url, token: Option<&str>) -> Result<Option<RemoteRecords<'_>>, CommandError> {
        let response = self.runtime.block_on(self.request(url, token)).map_err(CommandError::from_error)?;
        match response.status() {
            status if status.is_success() => {
                let (response, bytes) = (Some(response), Vec::new());
                Ok(Some(RemoteRecords { runtime: &self.runtime, response, bytes, read: 0 }))
            }
            StatusCode::NOT_FOUND => Ok(None),
            status => {
                let text = self.runtime.block_on(response.text()).unwrap_or_default();
                Err(refused(status, &serde_json::from_str(&text).unwrap_or_default()))
            }
        }
    }

    async fn request(&self, url: &Url, token: Option<&str>) -> reqwest::Result<Response> {
        for _ in 1..ATTEMPTS {
            let response = self.send(url, token).await?;
            if response.status() != StatusCode::TOO_MANY_REQUESTS {
                return Ok(response);
            }
            let seconds = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
            tokio::time::sleep(seconds.map_or(PAUSE, Duration::from_secs).min(LONGEST_PAUSE)).await;
        }
        self.send(url, token).await
    }

    async fn send(&self, url: &Url, token: Option<&str>) -> reqwest::Result<Response> {
        let request = self.http.get(url.clone());
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.send().await
    }
}

impl RemoteRecords<'_> {
    /// Returns the next line; `None` at the end.
    fn line(&mut self) -> Result<Option<&[u8]>, CommandError> {
        let mut searched = self.read;
        loop {
            if let Some(end) = self.bytes[searched..].iter().position(|byte| *byte == b'\n') {
                let start = std::mem::replace(&mut self.read, searched + end + 1);
                return Ok(Some(&self.bytes[start..searched + end]));
            }
            self.bytes.drain(..self.read);
            (self.read, searched) = (0, self.bytes.len());
            let Some(response) = &mut self.response else { return Ok(None) };
            match self.runtime.block_on(response.chunk()).map_err(CommandError::from_error)? {
                Some(chunk) => self.bytes.extend_from_slice(&chunk),
                None => self.response = None,
            }
        }
    }

    fn record(&mut self) -> Result<Option<Record>, CommandError> {
        let Some(line) = self.line()? else { return Ok(None) };
        let fault = |error| CommandError::Error(format!("the service sent an invalid record: {error}"));
        serde_json::from_slice(line).map(Some).map_err(fault)
    }
}

impl Iterator for RemoteRecords<'_> {
    type Item = Result<Record, CommandError>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record();
        if record.is_err() {
            self.response = None;
            self.bytes.clear();
            self.read = 0;
        }
        record.transpose()
    }
}
