//! Models behind the OpenAI Responses API.

mod builder;
mod convert;
mod fault;
mod history;
mod parts;
mod programs;
mod stream;
mod tools;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::OpenAiResponsesBuilder;
use self::stream::ResponsesAccumulator;
use crate::batched::{self, BatchPace, BatchedRequest};
use crate::capability::OpenAiCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec, replay};
use crate::openai;
use crate::response::Response;
use crate::schema::tool;
use crate::usage::ServiceTier;

const PROVIDER: &str = "openai-responses";
const PROTOCOL: &str = "the Responses API";
/// The path of requests below the base URL.
const PATH: &str = "/responses";
/// OpenAI's, under the name of this protocol.
const SERVER: ServerDefaults = ServerDefaults { provider: PROVIDER, ..openai::SERVER };

inventory::submit! {
    ModelProvider::with_capabilities(PROVIDER, |model, capabilities| {
        let builder = OpenAiResponsesBuilder::new(ClientConfig::from_env(&SERVER, model)?);
        Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
    })
}

/// A model behind the OpenAI [Responses API](https://platform.openai.com/docs/api-reference/responses).
///
/// In the catalog, a model is `openai-responses:MODEL`. The advantage over [`OpenAiModel`](crate::OpenAiModel) is for models
/// that think: their encrypted thoughts are sent back to them from turn to turn. The provider stores nothing
/// (`store: false`); each request contains the whole conversation, as with every model of this crate.
///
/// | Setting | Sent as |
/// | --- | --- |
/// | instructions | `instructions` |
/// | tools | `tools` of the type `function`, with `strict: false`, since the API's default is strict; schemas as with [chat completions](crate::OpenAiModel#requests) |
/// | [deferred tools](crate::Request::deferred_tools) | [`tool_search`](https://developers.openai.com/api/docs/guides/tools-tool-search), and the tools in namespaces of nine |
/// | [tool choice](crate::ToolChoice) | `tool_choice`: `required`, `none`, or a function by name; not sent without tools |
/// | [`ThinkingLevel`](crate::ThinkingLevel) | `reasoning.effort`, as the nearest word that the model supports; with server-side tools `low` for `minimal`, which [the API refuses](https://github.com/openai/codex/issues/3559) |
/// | thoughts of this provider | the `reasoning` items unchanged, with the `encrypted_content` that requests to thinking models ask for; see below |
/// | output schema | `text.format`, strict if the schema has a [strict form](crate::OpenAiModel#requests), with `strict: false` otherwise |
/// | `max_tokens` | `max_output_tokens` |
/// | `parallel_tool_calls`, `service_tier` | fields of the same name |
/// | `batch` | the request goes to the [Batch API](https://platform.openai.com/docs/guides/batch), without `service_tier` |
/// | `temperature`, `top_p` | fields of the same name; not sent while one of OpenAI's models [thinks](https://developers.openai.com/api/docs/guides/reasoning), since it refuses them |
/// | `compact_at` | `context_management`: the API [summarizes the conversation](https://developers.openai.com/api/docs/guides/compaction) in an encrypted item |
/// | `seed`, `stop`, `presence_penalty`, `frequency_penalty`, `cache_prompt` | not sent: the API has no field for them, and caches automatically |
/// | `web_search`, with `allowed_domains` | the tool [`web_search`](https://platform.openai.com/docs/guides/tools-web-search), which also opens pages |
/// | `code_execution` | the tool [`code_interpreter`](https://platform.openai.com/docs/guides/tools-code-interpreter), in a new container |
/// | `image_generation` | the tool [`image_generation`](https://platform.openai.com/docs/guides/tools-image-generation); images are attachments of the answer |
/// | `programmatic_tool_calling` | the tool [`programmatic_tool_calling`](https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling), and `allowed_callers` of each function except the [output tool](crate::Request::output_tool) |
///
/// A `web_search` with `max_uses` or `blocked_domains`, and the tool `web_fetch`, are refused before a request is sent.
///
/// A setting that is left out or changed is reported as a [warning](crate::Response::warnings) of the answer.
///
/// A thinking level also requests summaries, which are the text of the thoughts. For an organization that OpenAI has not
/// [verified](https://help.openai.com/en/articles/10910291-api-organization-verification), such a request fails with status
/// 400 (`unsupported_value`): turn summaries off with [`summaries`](OpenAiResponsesBuilder::summaries). Without a level,
/// neither an effort nor a summary is requested. Thoughts then have no text, but are still sent back.
///
/// A model that does not think refuses thoughts. An answer that contains some is sent to it like an answer of another
/// provider: its text and calls, without thoughts, ids and uses of server-side tools.
///
/// Timeouts, retries, and your own fields and headers work as for [all models on the network](crate#on-the-network).
///
/// # Answers
///
/// [`Usage`](crate::Usage) includes the tokens of cache reads and writes and of thoughts. The use of a server-side tool is
/// reported when it has finished: its start and its end together.
///
/// An answer that reaches `max_output_tokens` finishes with [`Length`](crate::FinishReason::Length). Its last call may be cut
/// off and must not run; a worker does not run it. An answer that the content filter stops finishes with
/// [`ContentFilter`](crate::FinishReason::ContentFilter), and so does a refusal, whose words are the text. An answer with an
/// unknown reason, or with calls and without the status `completed`, finishes with [`Other`](crate::FinishReason::Other).
///
/// # Programs
///
/// A program of the model is a use of the tool `programmatic_tool_calling`, whose input is its JavaScript code. Its calls and
/// their results are sent back with their `caller`, and all items of an answer in their order. The result of a program's call
/// is text, without files. If an answer contains a program but neither a call nor a message, the request is continued
/// automatically, up to 10 times.
///
/// A program that can no longer finish is left out, and its calls are sent as the model's own: if the user wrote while it
/// waited, if its start is no longer in the history, or if the request does not offer programs.
///
/// # Attachments
///
/// Attachments are sent in messages and in tool results, by the
/// [page on inputs](https://platform.openai.com/docs/guides/images-vision):
///
/// | Media type | Sent as | Name |
/// | --- | --- | --- |
/// | `image/*` | `input_image`, a data URL | not sent |
/// | `application/pdf` | `input_file`, a data URL | sent; the default is `attachment.pdf` |
/// | `text/*`, `application/json`, `*+json` | `input_text`, if it is UTF-8 | in the line above the text |
///
/// Any other type, audio included, is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is
/// sent.
///
/// # Not supported
///
/// Citations, which are dropped; `previous_response_id` and stored conversations, file search, computer use, MCP, custom
/// tools, strict tools, partial images, files by URL or id, audio. An answer in the
/// [background](https://developers.openai.com/api/docs/guides/background) is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest), unless it is streamed.
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::{ApiKey, OpenAiResponsesModel};
///
/// let model = OpenAiResponsesModel::builder("gpt-5-mini").api_key(ApiKey::new("sk-1")?).build()?;
/// assert_eq!(model.name(), "openai-responses:gpt-5-mini");
/// # Ok::<_, llm_do_providers::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenAiResponsesModel {
    name: String,
    model: Arc<str>,
    endpoint: Arc<Endpoint>,
    capabilities: Arc<OpenAiCapabilities>,
    profile: Profile,
    summaries: bool,
    retries: u32,
    pace: BatchPace,
}

impl OpenAiResponsesModel {
    /// Sets up the model that the server calls `model`; no variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> OpenAiResponsesBuilder {
        OpenAiResponsesBuilder::new(ClientConfig::new(&SERVER, model.into()))
    }

    /// Returns the model that the server calls `model`, at `OPENAI_BASE_URL` with the key in `OPENAI_API_KEY`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) if the key is missing or invalid,
    /// or if the base URL is not an `http` or `https` URL.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        OpenAiResponsesBuilder::new(ClientConfig::from_env(&SERVER, model)?).build()
    }

    pub(crate) fn exchange(
        &self,
        request: &Request<'_>,
        stream: bool,
    ) -> Result<Exchange<impl Fn() -> ResponsesAccumulator + Send + use<>>, ProviderError> {
        let mut writer = request.writer(&self.model);
        let (asking, warnings) =
            convert::request(&self.model, &self.capabilities, self.summaries, request, stream, &mut writer)?;
        let requested_model = Arc::clone(&self.model);
        let tier = ServiceTier::requested(request.settings.service_tier.as_deref());
        let begin = move || ResponsesAccumulator::new(Arc::clone(&requested_model), tier);
        let exchange = Exchange::new(&self.endpoint, &asking, request.settings, self.retries, begin)?;
        Ok(exchange.with_warnings(warnings))
    }
}

#[async_trait]
impl Model for OpenAiResponsesModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        Ok(tool::openai(&tool.parameters).notes.clone())
    }

    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        let (settings, warning) = batched::settings(request.settings);
        let exchange = self.exchange(&Request { settings: &settings, ..request }, false)?.with_warning(warning);
        Ok(Some(exchange.batched(|call| openai::batcher(&self.endpoint, PATH, &self.model, call, self.pace))))
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

#[cfg(test)]
mod tests {
    use super::{ClientConfig, OpenAiResponsesBuilder, OpenAiResponsesModel, SERVER};
    use crate::error::{ErrorKind, ProviderError};
    use crate::model::Model;

    fn with(variables: &[(&str, &str)]) -> Result<OpenAiResponsesModel, ProviderError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        OpenAiResponsesBuilder::new(ClientConfig::from_variables(&SERVER, "gpt-5", find)?).build()
    }

    #[test]
    fn a_missing_key_is_named_by_its_variable() {
        let error = with(&[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("set `OPENAI_API_KEY`"), "{error}");
        let model = with(&[("OPENAI_API_KEY", "sk-secret")]).unwrap();
        assert_eq!(model.name(), "openai-responses:gpt-5");
        assert!(!format!("{model:?}").contains("sk-secret"));
    }
}
