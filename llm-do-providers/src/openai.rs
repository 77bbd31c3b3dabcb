//! Models behind the OpenAI chat completions API, at its home or on any compatible server.

mod answer;
mod builder;
mod convert;
mod parts;
mod search;
mod stream;
mod strict;
mod wire;

use std::env;
use std::sync::Arc;

use async_trait::async_trait;

use self::answer::Answer;
pub use self::builder::OpenAiBuilder;
use self::convert::Dialect;
pub(crate) use self::convert::{arguments, effort};
pub(crate) use self::strict::strict;
pub(crate) use self::wire::{Base64, Choose, DataUrl};
use crate::catalog::ModelProvider;
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::Exchange;
use crate::http::Endpoint;
use crate::model::{Model, Profile, Request, ResponseStream};
use crate::response::Response;
use crate::secret::ApiKey;

const PROVIDER: &str = "openai";
const PROTOCOL: &str = "chat completions";
pub(crate) const HOME: &str = "https://api.openai.com/v1";
pub(crate) const HOME_HOST: &str = "api.openai.com";
pub(crate) const BASE_URL: &str = "OPENAI_BASE_URL";
pub(crate) const API_KEY: &str = "OPENAI_API_KEY";

inventory::submit! {
    ModelProvider::new(PROVIDER, |model| Ok(Arc::new(OpenAiModel::from_env(model)?)))
}

/// A model that is reached through the OpenAI chat completions API.
///
/// Many servers speak it, local ones too; `OPENAI_BASE_URL` or [`base_url`](OpenAiBuilder::base_url) says which to
/// ask. In the catalog, it is `openai:MODEL`.
///
/// Failures that may pass (no connection, and the statuses 408, 409, 429, 500, 502, 503, 504 and 529) are tried
/// again, after a growing wait or the one that the server asks for, up to 60 s; a longer one is reported at once. A
/// streamed answer is asked for anew only while nothing of it has arrived; its stream begins at once, so that all
/// failures are items of it, and each wait is a [`Waiting`](crate::StreamEvent::Waiting).
///
/// Of the server-side tools there is `web_search`, with nothing set of it, and only on OpenAI's models for it:
/// `gpt-4o-search-preview`, `gpt-4o-mini-search-preview` and `gpt-5-search-api`.
///
/// When a model declines, its words are the text, and the answer finishes with
/// [`ContentFilter`](crate::FinishReason::ContentFilter).
///
/// # Attachments
///
/// They go as the protocol's [parts of a user's message](https://platform.openai.com/docs/api-reference/chat/create);
/// which of them a model understands, its server decides.
///
/// | Media type | Goes as | Name |
/// | --- | --- | --- |
/// | `image/*` | `image_url`, a data URL | not sent |
/// | `application/pdf` | `file`, a data URL | sent; `attachment.pdf` without one |
/// | `audio/wav`, `audio/mpeg` | `input_audio` | not sent |
/// | `text/*`, `application/json`, `*+json` | `text`, if it is UTF-8 | in the line above the text |
///
/// Any other is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and nothing is sent. The
/// attachments of tools' results follow in one user's message after all results of the turn, each below a line that
/// says from which tool it comes, because a tool's message takes only text.
///
/// # Examples
///
/// ```
/// use llm_do_providers::{Model, OpenAiModel};
///
/// let model = OpenAiModel::builder("qwen3-4b").base_url("http://127.0.0.1:8080/v1").build()?;
/// assert_eq!(model.name(), "openai:qwen3-4b");
/// # Ok::<_, llm_do_providers::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiModel {
    name: String,
    model: Arc<str>,
    endpoint: Arc<Endpoint>,
    dialect: Dialect,
    profile: Profile,
    retries: u32,
}

impl OpenAiModel {
    /// Sets up the model that the server calls `model`; no variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder::new(model.into())
    }

    /// Returns the model that the server calls `model`, at `OPENAI_BASE_URL` with the key in `OPENAI_API_KEY`.
    ///
    /// Without `OPENAI_BASE_URL` it is `https://api.openai.com/v1`, which needs a key; other servers may do without.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`] if the key is missing or no key, or if the base URL is
    /// not an `http` or `https` URL.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        Self::from_variables(model, |name| env::var(name).ok())
    }

    fn from_variables(model: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ProviderError> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let mut builder = Self::builder(model);
        if let Some(url) = set(BASE_URL) {
            builder = builder.base_url(url);
        }
        if let Some(key) = set(API_KEY) {
            let key = ApiKey::checked(&key).map_err(|fault| configuration(&format!("`{API_KEY}`: {fault}")))?;
            builder = builder.api_key(key);
        }
        builder.build()
    }

    pub(crate) fn exchange(
        &self,
        request: &Request<'_>,
        stream: bool,
    ) -> Result<Exchange<impl Fn() -> Answer + Send + use<>>, ProviderError> {
        search::check(&self.model, request.server_side_tools)?;
        let chat = convert::chat(&self.model, request, self.dialect, stream)?;
        let (asked, turn) = (Arc::clone(&self.model), request.messages.len());
        let begin = move || Answer::new(Arc::clone(&asked), turn);
        Exchange::new(&self.endpoint, &chat, request.settings, self.retries, begin)
    }
}

#[async_trait]
impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.exchange(&request, false)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        Ok(self.exchange(&request, true)?.stream())
    }
}

fn configuration(text: &str) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
}

#[cfg(test)]
mod tests {
    use super::OpenAiModel;
    use crate::error::{ErrorKind, ProviderError};
    use crate::model::Model;

    fn with(variables: &[(&str, &str)]) -> Result<OpenAiModel, ProviderError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        OpenAiModel::from_variables("gpt-5", find)
    }

    #[test]
    fn the_default_server_needs_a_key() {
        for variables in [&[][..], &[("OPENAI_API_KEY", "")]] {
            let error = with(variables).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().contains("set `OPENAI_API_KEY`"), "{error}");
        }
        let model = with(&[("OPENAI_API_KEY", "sk-1")]).unwrap();
        assert_eq!(model.name(), "openai:gpt-5");
        assert!(model.dialect.completion_limit);
    }

    #[test]
    fn another_server_needs_no_key() {
        let model = with(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")]).unwrap();
        assert!(!model.dialect.completion_limit);
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_blamed_on_its_variable() {
        let error = with(&[("OPENAI_API_KEY", "sk-secret\n")]).unwrap_err().to_string();
        assert!(error.contains("`OPENAI_API_KEY`"), "{error}");
        assert!(!error.contains("sk-secret"), "{error}");
    }

    #[test]
    fn a_base_url_that_is_none_is_refused() {
        for url in ["localhost:8080", "ftp://host/v1", "not a url", "/v1"] {
            let error = with(&[("OPENAI_BASE_URL", url)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
        }
    }

    #[test]
    fn a_model_does_not_show_its_key() {
        let model = with(&[("OPENAI_API_KEY", "sk-secret")]).unwrap();
        assert!(!format!("{model:?}").contains("sk-secret"));
    }

    #[tokio::test]
    async fn the_catalog_knows_the_provider() {
        // The outcome depends on the environment; that the prefix is known does not.
        if let Err(error) = crate::model("openai:gpt-5") {
            assert_eq!(error.provider(), "openai");
            assert!(!error.to_string().contains("no provider"), "{error}");
        }
    }
}
