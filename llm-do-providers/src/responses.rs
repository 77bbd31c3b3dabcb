//! Models behind the OpenAI Responses API.

mod builder;
mod convert;
mod fees;
mod files;
mod items;
mod output;
mod programs;
mod stream;
mod tools;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::OpenAiResponsesBuilder;
use self::stream::ResponsesAccumulator;
use crate::capability::OpenAiCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec};
use crate::openai;
use crate::response::Response;
use crate::schema::tool;
use crate::usage::ServiceTier;

const PROVIDER: &str = "openai-responses";
const PROTOCOL: &str = "the Responses API";
/// OpenAI's, under the name of this protocol.
const SERVER: ServerDefaults = ServerDefaults { provider: PROVIDER, ..openai::SERVER };

inventory::submit! {
    ModelProvider::with_capabilities(PROVIDER, |model, capabilities| {
        let builder = OpenAiResponsesBuilder::new(ClientConfig::from_env(&SERVER, model)?);
        Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
    })
}

/// A model that is reached through the OpenAI [Responses API](https://platform.openai.com/docs/api-reference/responses).
///
/// In the catalog, it is `openai-responses:MODEL`. It differs from [`OpenAiModel`](crate::OpenAiModel) in what models that
/// think gain by it: their thoughts go back to them, encrypted, from turn to turn. Nothing is stored at the provider
/// (`store: false`); a whole conversation goes with each request, as with every model here.
///
/// | Of ours | Goes as |
/// | --- | --- |
/// | instructions | `instructions` |
/// | tools | `tools` of the type `function`, with `strict: false`: the API's default is strict; schemas as in [chat completions](crate::OpenAiModel#requests) |
/// | [deferred tools](crate::Request::deferred_tools) | [`tool_search`](https://developers.openai.com/api/docs/guides/tools-tool-search), and the tools in namespaces of nine |
/// | [choice](crate::ToolChoice) of a tool | `tool_choice`: `required`, `none`, or a function by name; nothing without tools |
/// | [`ThinkingLevel`](crate::ThinkingLevel) | `reasoning.effort`, in the words that the model has, but `low` for `minimal` beside tools that the provider runs, which [it refuses](https://github.com/openai/codex/issues/3559) |
/// | thoughts of this provider | the `reasoning` items as they came, with `encrypted_content`, which is asked for of models that think; see below |
/// | output schema | `text.format`, strict where the schema has a [strict form](crate::OpenAiModel#requests), else with `strict: false` |
/// | `max_tokens` | `max_output_tokens` |
/// | `parallel_tool_calls`, `service_tier` | the same |
/// | `temperature`, `top_p` | the same; nothing while a model of OpenAI's [thinks](https://developers.openai.com/api/docs/guides/reasoning), which refuses them then |
/// | `seed`, `stop`, `presence_penalty`, `frequency_penalty`, `cache_prompt` | nothing: the API has no place for them; it caches by itself |
/// | `web_search`, with `allowed_domains` | the tool [`web_search`](https://platform.openai.com/docs/guides/tools-web-search), which opens pages too |
/// | `code_execution` | the tool [`code_interpreter`](https://platform.openai.com/docs/guides/tools-code-interpreter), in a container of its own |
/// | `image_generation` | the tool [`image_generation`](https://platform.openai.com/docs/guides/tools-image-generation); images are attachments of the answer |
/// | `programmatic_tool_calling` | the tool [`programmatic_tool_calling`](https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling), and `allowed_callers` of each function but the [output tool](crate::Request::output_tool) |
///
/// `max_uses` and `blocked_domains` of a search, and the tool `web_fetch`, are refused before anything is sent.
///
/// A setting that is not sent, or not as it was set, is a [warning](crate::Response::warnings) of the answer.
///
/// A level also asks for summaries, which are what is shown of thoughts. An organisation that OpenAI has not
/// [verified](https://help.openai.com/en/articles/10910291-api-organization-verification) is refused by status 400
/// (`unsupported_value`) for that, until [`summaries`](OpenAiResponsesBuilder::summaries) turns them off. Without a level neither
/// an effort nor a summary is asked for: thoughts have no text then, and go back all the same.
///
/// A model that does not think refuses thoughts. An answer that has some goes to it as one of another provider's: its text and its
/// calls, without thoughts, ids, and what the provider's tools did.
///
/// Timeouts, what is tried again, and fields and headers of your own are those of [all on the network](crate#on-the-network).
///
/// # Answers
///
/// [`Usage`](crate::Usage) has the tokens that came from the cache or went into it, and those of thoughts. A tool of the provider is reported
/// once it has finished, with its start and its end together.
///
/// An answer that ends at `max_output_tokens` finishes with [`Length`](crate::FinishReason::Length): its last call may be cut
/// off, and must not be run; a worker never does. One that the filter stops finishes with
/// [`ContentFilter`](crate::FinishReason::ContentFilter). An answer with an unknown reason, or with calls and without the
/// status `completed`, finishes with [`Other`](crate::FinishReason::Other). When a model declines, its words are the text, and the answer finishes with
/// `ContentFilter`.
///
/// # Programs
///
/// A program of the model is a use of the tool `programmatic_tool_calling`, whose input is its JavaScript. The calls that it makes,
/// and their results, go back with their `caller`, and all items of an answer in their order. A result for a program is text: its
/// files are left out. An answer with a program that has neither a call nor a message is continued, up to 10 times.
///
/// A program that can no longer finish is left out, and its calls go back as those of the model: if the user wrote while it
/// waited, if its beginning is no longer in the history, or if the request does not offer programs.
///
/// # Attachments
///
/// In messages and in results of tools, by the [page on inputs](https://platform.openai.com/docs/guides/images-vision):
///
/// | Media type | Goes as | Name |
/// | --- | --- | --- |
/// | `image/*` | `input_image`, a data URL | not sent |
/// | `application/pdf` | `input_file`, a data URL | sent; `attachment.pdf` without one |
/// | `text/*`, `application/json`, `*+json` | `input_text`, if it is UTF-8 | in the line above the text |
///
/// Any other, audio among them, is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and nothing is sent.
///
/// # Not supported
///
/// Citations, which are dropped; `previous_response_id` and stored conversations, file search,
/// computer use, MCP, custom tools, strict tools, partial images, files by URL or id, audio. An answer in the
/// [background](https://developers.openai.com/api/docs/guides/background) is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest), unless it is streamed.
///
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
    /// Returns an error of kind [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) if the key is missing or no key,
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

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.exchange(&request, false)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
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
