//! Fetches a URL, with its redirects.

use std::time::Instant;

use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::plane::context::CallContext;
use llm_do_providers::Attachment;
use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, LOCATION};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::answer::{FetchedResponse, header};
use super::client::{self, Clients};
use super::fault::Fault;
use super::page::{self, CharRange};
use super::settings::Http;
use super::target;
use super::text::{self, ResponseContent};

/// Limits the threads that convert responses: each may need hundreds of megabytes.
static CONVERSIONS: Semaphore = Semaphore::const_new(2);

/// A URL that may be fetched once it is approved.
#[derive(Debug)]
pub(super) struct PreparedFetch {
    settings: Http,
    url: Url,
}

/// The end of a request with its redirects.
enum FetchEnd {
    Response(Box<FetchedResponse>),
    /// A redirect to another host, which needs a separate call.
    Elsewhere {
        from: Url,
        to: Url,
    },
}

impl PreparedFetch {
    /// Parses a URL; fails if it must not be fetched.
    pub(super) fn new<D>(ctx: &CallContext<D>, url: &str) -> Result<Self, Fault> {
        let settings = ctx.state::<Http>().map(|settings| Http::clone(&settings)).unwrap_or_default();
        let url = target::parse(&settings, url)?;
        Ok(Self { settings, url })
    }

    /// Returns whether the URL needs no approval.
    pub(super) fn is_approved(&self) -> Result<bool, Fault> {
        self.settings.is_allowed(&self.url)
    }

    /// Returns the URL of the request.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Fetches the URL.
    pub(super) async fn fetch(self, part: CharRange) -> Result<ToolReturn, Fault> {
        let (url, after) = (self.url.to_string(), self.settings.timeout);
        let fetched = tokio::time::timeout(after, self.fetch_all(part)).await;
        fetched.unwrap_or(Err(Fault::Timeout { url, after }))
    }

    async fn fetch_all(self, part: CharRange) -> Result<ToolReturn, Fault> {
        let deadline = Instant::now() + self.settings.timeout;
        match self.request().await? {
            FetchEnd::Elsewhere { from, to } => Ok(ToolReturn::text(format!(
                "`{from}` redirects to `{to}`, which is on another host; to follow it, fetch that URL"
            ))),
            FetchEnd::Response(answer) => {
                // A thread does not end with its call by itself.
                let call = CancellationToken::new();
                let _end = call.clone().drop_guard();
                let permit = CONVERSIONS.acquire().await.ok();
                let read = tokio::task::spawn_blocking(move || {
                    // Held by the thread, which may outlive the call.
                    let _permit = permit;
                    shown(*answer, part, &|| call.is_cancelled() || Instant::now() > deadline)
                });
                read.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
            }
        }
    }

    async fn request(self) -> Result<FetchEnd, Fault> {
        let Self { settings, mut url } = self;
        for _ in 0..=settings.max_redirects {
            let client = Clients::for_url(&settings, &url).await?;
            // Without compression, a small response cannot expand to a large one.
            let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
            let response = request.send().await.map_err(|error| client::fault(error, &url, &settings))?;
            let location = header(&response, LOCATION);
            if !response.status().is_redirection() || location.is_empty() {
                return Ok(FetchEnd::Response(Box::new(FetchedResponse::read(response, url, &settings).await?)));
            }
            let to = target::redirected(&settings, &url, &location)?;
            if !target::may_follow(&settings, &url, &to)? {
                return Ok(FetchEnd::Elsewhere { from: url, to });
            }
            url = to;
        }
        Err(Fault::Redirects { count: settings.max_redirects, url: url.to_string() })
    }
}

/// Returns the result of a response for a model.
fn shown(answer: FetchedResponse, part: CharRange, is_over: &dyn Fn() -> bool) -> Result<ToolReturn, Fault> {
    match text::content(&answer, is_over)? {
        ResponseContent::Text(text) => Ok(ToolReturn::text(page::page(&answer, &text, part)?)),
        ResponseContent::File if answer.is_cut => {
            Err(Fault::FileSize { url: answer.url.to_string(), limit: answer.body.len() })
        }
        ResponseContent::File => {
            let name = answer.url.path_segments().and_then(Iterator::last).filter(|name| !name.is_empty());
            let head = page::head(&answer);
            let file = Attachment::new(answer.media_type.clone(), answer.body);
            let file = match name {
                Some(name) => file.named(name),
                None => file,
            };
            Ok(ToolReturn::text(head).attach(file))
        }
    }
}
