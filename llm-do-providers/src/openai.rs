//! Models behind the OpenAI chat completions API, at OpenAI or on any compatible server.

mod batch;
mod builder;
mod convert;
mod dialect;
mod fault;
mod history;
mod parts;
mod reasoning;
mod server;
mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
mod window;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub(crate) use self::batch::batcher;
pub use self::builder::OpenAiBuilder;
use self::dialect::{Dialect, Target};
pub(crate) use self::history::object_text;
pub(crate) use self::parts::{IMAGES, MAX_FILE, UNNAMED_PDF};
pub(crate) use self::server::OPENAI_SERVER as SERVER;
pub use self::server::Server;
use self::stream::ChatAccumulator;
pub(crate) use self::wire::{DataUrl, ToolChoiceParam};
use crate::batched::{self, BatchPace, BatchedRequest};
use crate::capability::OpenAiCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint};
use crate::model::{ContextWindow, Model, Profile, Request, ResponseStream, ToolSpec, replay};
use crate::response::Response;
use crate::schema::tool;
use crate::usage::ServiceTier;

const PROVIDER: &str = "openai";
const PROTOCOL: &str = "chat completions";
/// The path of requests below the base URL.
const PATH: &str = "/chat/completions";

/// Registers each server under its prefix, since a constant expression cannot read the prefix from the table.
macro_rules! register {
    ($($prefix:literal => $server:ident),+ $(,)?) => {
        $(inventory::submit! {
            ModelProvider::with_capabilities($prefix, |model, capabilities| {
                let builder = OpenAiBuilder::from_env(Server::$server, model)?;
                Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
            })
        })+
    };
}

register! {
    "deepseek" => DeepSeek,
    "groq" => Groq,
    "llama-cpp" => LlamaCpp,
    "mistral" => Mistral,
    "ollama" => Ollama,
    "openai" => OpenAi,
    "openrouter" => OpenRouter,
    "vllm" => Vllm,
}

/// A model behind the OpenAI chat completions API, at OpenAI or on any compatible server.
///
/// Servers differ in how they support this API. The main ones are known by name: [`Server`] documents the differences, and
/// in the catalog each has its own prefix, such as `groq:MODEL`. A model of any other server is `openai:MODEL`: set the
/// server with `OPENAI_BASE_URL` or [`base_url`](OpenAiBuilder::base_url).
///
/// Timeouts, retries, and your own fields and headers work as for [all models on the network](crate#on-the-network).
///
/// # Requests
///
/// This table describes requests to OpenAI; [`Server`] documents the other settings, and what other servers get instead. A
/// setting that is left out or changed is reported as a [warning](crate::Response::warnings) of the answer.
///
/// | Setting | Sent as |
/// | --- | --- |
/// | instructions | the first message, with the role `system` |
/// | tools | [`tools`](https://platform.openai.com/docs/guides/function-calling): functions, without `strict`; see below |
/// | output schema | [`response_format`](https://platform.openai.com/docs/guides/structured-outputs): a `json_schema`, with `strict: true` if the schema has a strict form, see below, and `strict: false` otherwise |
/// | `temperature`, `top_p`, `stop` | fields of the same name |
/// | `batch` | the request goes to the [Batch API](https://platform.openai.com/docs/guides/batch), without `service_tier`; for the other servers by name an error, and a server with another base URL must have that API |
///
/// Tool schemas are sent in draft 2020-12. Alternatives at the root become one object. Look-around in patterns, and the
/// longest lists of more than 1,000 values, move into descriptions. llama.cpp gets what its grammars enforce, and
/// descriptions of the rest. [`tool_notes`](crate::Model::tool_notes) lists what the schema only describes.
///
/// The strict form of a schema allows only the properties that it names, and requires all of them: an optional property
/// must be null instead. Descriptions stay; defaults, examples and formats that OpenAI does not support move into them. The
/// description of a field whose type is a reference moves into a separate definition. A schema has no strict form if it has
/// a map, a value or an object of any kind, an optional property that cannot be null, alternatives that cannot be
/// distinguished, `allOf`, tuples, bounds on the length of strings, look-around in patterns, or more than 1,000 listed
/// values.
///
/// A streamed request asks for usage with `stream_options.include_usage`, except at Mistral, which always sends it.
///
/// The only server-side tool is [`web_search`](https://platform.openai.com/docs/guides/tools-web-search), without settings,
/// and only with OpenAI's search models: `gpt-4o-search-preview`, `gpt-4o-mini-search-preview` and `gpt-5-search-api`. A
/// search has no event, and its citations are dropped.
///
/// # Answers
///
/// [`Usage`](crate::Usage) includes the tokens of cache reads and writes and of thoughts, if the server reports them: in the
/// details of its `usage`, in DeepSeek's `prompt_cache_hit_tokens`, or in Groq's `x_groq.usage`.
///
/// An answer that ends with `length` finishes with [`Length`](crate::FinishReason::Length). Its last call may be cut off and
/// must not run; a worker does not run it. An answer that ends with `content_filter` finishes with
/// [`ContentFilter`](crate::FinishReason::ContentFilter), and so does a refusal, whose words are the text. An answer with an
/// unknown finish reason, or with calls and no reason, finishes with [`Other`](crate::FinishReason::Other).
///
/// An answer that ends in an error is an error with the [partial answer](crate::ProviderError::partial_response). It is retried
/// unless an event of it has reached the caller. This holds for an answer that contains an `error`, that ends with `error`,
/// `abort` or `insufficient_system_resource`, or that ends with a call that the server behind OpenRouter could not parse.
///
/// # Attachments
///
/// Attachments are sent as [parts of a user message](https://platform.openai.com/docs/api-reference/chat/create). Which of
/// them a model supports depends on the server.
///
/// | Media type | Sent as | Name |
/// | --- | --- | --- |
/// | `image/*` | `image_url`, a data URL | not sent |
/// | `application/pdf` | `file`, a data URL | sent; the default is `attachment.pdf` |
/// | `audio/wav`, `audio/mpeg` | `input_audio` | not sent |
/// | `text/*`, `application/json`, `*+json` | `text`, if it is UTF-8 | in the line above the text |
///
/// Any other type is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is sent. A tool
/// message can contain only text, so the attachments of tool results follow in one user message after all results of the
/// turn, each after a line that names the tool. Mistral gets them in the tool message.
///
/// # Not supported
///
/// OpenAI's files by URL or id, audio and images as answers, several answers (`n`), stored completions, custom tools, strict
/// tools. [`Server`] lists the features that other servers do not support.
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::OpenAiModel;
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
    dialect: &'static Dialect,
    is_mistral: bool,
    capabilities: Arc<OpenAiCapabilities>,
    profile: Profile,
    retries: u32,
    pace: BatchPace,
}

impl OpenAiModel {
    /// Sets up the model that OpenAI, or the server at another [`base_url`](OpenAiBuilder::base_url), calls `model`; no
    /// variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> OpenAiBuilder {
        Self::at(Server::OpenAi, model)
    }

    /// Sets up the model that `server` calls `model`; no variable of the environment is read.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
    /// use llm_do::Model;
    /// use llm_do::model::{OpenAiModel, Server};
    ///
    /// let model = OpenAiModel::at(Server::Ollama, "qwen3:8b").build()?;
    /// assert_eq!(model.name(), "ollama:qwen3:8b");
    /// # Ok::<_, llm_do_providers::ProviderError>(())
    /// ```
    pub fn at(server: Server, model: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder::new(server, ClientConfig::new(&server.dialect().server, model.into()))
    }

    /// Returns the model that the server calls `model`, at `OPENAI_BASE_URL` with the key in `OPENAI_API_KEY`.
    ///
    /// Default: `https://api.openai.com/v1`, which requires a key; other servers may not.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the key is missing or invalid, or if the
    /// base URL is not an `http` or `https` URL.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        Self::from_env_at(Server::OpenAi, model)
    }

    /// Returns the model that `server` calls `model`, with the base URL and the key in the variables that [`Server`] names.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the key is missing or invalid, or if the
    /// base URL is not an `http` or `https` URL.
    pub fn from_env_at(server: Server, model: &str) -> Result<Self, ProviderError> {
        OpenAiBuilder::from_env(server, model)?.build()
    }

    fn target(&self) -> Target<'_> {
        let Self { model, dialect, capabilities, is_mistral, .. } = self;
        Target { model, dialect, capabilities, is_mistral: *is_mistral }
    }

    pub(crate) fn exchange(
        &self,
        request: &Request<'_>,
        stream: bool,
    ) -> Result<Exchange<impl Fn() -> ChatAccumulator + Send + use<>>, ProviderError> {
        let mut writer = request.writer(&self.model);
        let (chat, warnings) = convert::request(self.target(), request, stream, &mut writer)?;
        let (dialect, requested_model, turn) = (self.dialect, Arc::clone(&self.model), request.messages.len());
        let (tier, has_search) = (ServiceTier::requested(chat.service_tier), chat.web_search_options.is_some());
        let begin =
            move || ChatAccumulator::new(dialect, Arc::clone(&requested_model), turn).requested(tier, has_search);
        let exchange = Exchange::new(&self.endpoint, &chat, request.settings, self.retries, begin)?;
        Ok(exchange.with_warnings(warnings))
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

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        tool::notes(tools::form(tool, self.dialect))
    }

    fn reports_window(&self) -> bool {
        window::path(self.dialect.server.provider, "").is_some()
    }

    async fn ask_window(&self) -> Result<Option<ContextWindow>, ProviderError> {
        let provider = self.dialect.server.provider;
        let Some(path) = window::path(provider, self.endpoint.path_before(PATH)) else {
            return Ok(None);
        };
        let answer = self.endpoint.get_json(&path).await?;
        Ok(window::read(provider, &self.model, &answer))
    }

    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        if self.dialect.server.provider != PROVIDER {
            return Err(batched::unsupported(&self.name));
        }
        let (settings, warning) = batched::settings(request.settings);
        let exchange = self.exchange(&Request { settings: &settings, ..request }, false)?.with_warning(warning);
        Ok(Some(exchange.batched(|call| batcher(&self.endpoint, PATH, &self.model, call, self.pace))))
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        if request.settings.is_batch()
            && let Some(batched) = self.batch(request)?
        {
            return batched.answer().await;
        }
        self.exchange(&request, false)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        if request.settings.is_batch() {
            return Ok(replay(self.request(request).await?));
        }
        Ok(self.exchange(&request, true)?.stream())
    }
}
