//! Models behind the Anthropic Messages API, at Anthropic or on any compatible server.

mod batch;
mod binding;
mod builder;
mod compaction;
mod convert;
mod fault;
mod history;
mod parts;
mod programs;
mod stream;
mod thinking;
mod tools;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::AnthropicBuilder;
use self::stream::AnthropicAccumulator;
use self::thinking::Plan;
use crate::batched::{self, BatchPace, BatchedRequest};
use crate::capability::AnthropicCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec, replay};
use crate::response::Response;
use crate::schema::tool;
use crate::usage::ServiceTier;

const PROVIDER: &str = "anthropic";
const PROTOCOL: &str = "the Messages API";
const SERVER: ServerDefaults = ServerDefaults {
    provider: PROVIDER,
    base_url: "https://api.anthropic.com",
    key_required_at: Some("api.anthropic.com"),
    url_variable: "ANTHROPIC_BASE_URL",
    key_variables: &["ANTHROPIC_API_KEY"],
};

inventory::submit! {
    ModelProvider::with_capabilities(PROVIDER, |model, capabilities| {
        let builder = AnthropicBuilder::new(ClientConfig::from_env(&SERVER, model)?);
        Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
    })
}

/// A model behind the [Anthropic Messages API](https://platform.claude.com/docs/en/api/messages/create).
///
/// Use it for Claude, and for models of other vendors on servers that support this API: set the server with
/// `ANTHROPIC_BASE_URL` or [`base_url`](AnthropicBuilder::base_url). In the catalog, a model is `anthropic:MODEL`.
///
/// What is sent to a Claude model depends on its name and the [capabilities](crate::CapabilityTable): settings that the API
/// would refuse are left out. A name that is newer than this crate is treated like the newest known models.
///
/// Timeouts, retries, and your own fields and headers work as for [all models on the network](crate#on-the-network). An
/// error event inside a stream gets the [HTTP status of its type](https://platform.claude.com/docs/en/api/errors), and
/// follows the retry rules for that status.
///
/// # Settings
///
/// | Setting | Sent as | Models |
/// | --- | --- | --- |
/// | instructions | `system` | all |
/// | `max_tokens` | `max_tokens`, which the API requires | all; see below |
/// | `temperature`, `top_p` | `temperature`, `top_p` | Claude up to 4.6, while thinking is off; from 3.7 on only one of the two, and `temperature` has precedence. Models of other vendors get both |
/// | `stop` | `stop_sequences` | all |
/// | `thinking` | `thinking`, `output_config.effort` | Claude from 3.7 on, and models of other vendors; see below |
/// | `parallel_tool_calls: false` | `disable_parallel_tool_use` | all, if the request has tools |
/// | `cache_prompt` | `cache_control` | all; see below |
/// | `service_tier` | `service_tier`: `auto`, `standard_only` | all |
/// | `batch` | the request goes to the [Message Batches API](https://platform.claude.com/docs/en/build-with-claude/batch-processing), together with those of other models; without `service_tier` | all |
/// | `compact_at` | `context_management` with the edit `compact_20260112`, at least 50,000, and its beta: the API [summarizes the conversation](https://platform.claude.com/docs/en/build-with-claude/compaction-threshold) | Claude from 4.6 on |
/// | `seed`, `presence_penalty`, `frequency_penalty` | not sent: the API has no field for them | |
///
/// A setting that is left out or changed is reported as a [warning](crate::Response::warnings) of the answer. Send other
/// fields, such as `metadata` and `top_k`, with [`extra_body`](crate::Settings::extra_body).
///
/// The default of `max_tokens` is 32,000 tokens, thinking included, or the model's maximum if that is lower: 8,192 for
/// Claude 3.5 and models of other vendors, 4,096 for older ones. An answer of that length arrives within the default
/// timeout. For longer answers, set a higher limit and stream.
///
/// # Thinking
///
/// How a [level](crate::ThinkingLevel) is sent [depends on the model](https://platform.claude.com/docs/en/build-with-claude/thinking):
///
/// - Claude 3.7 to 4.5 and models of other vendors get a budget in tokens: `minimal` 1,024, `low` 2,048, `medium` 8,192,
///   `high` 16,384. The budget of a level is reduced to fit `max_tokens`. Your own number is sent unchanged if it is at
///   least 1,024 and below `max_tokens`.
/// - Newer models get an effort of `low`, `medium` or `high`, and return a summary of their thoughts.
/// - `off` sends nothing up to Claude 4.5, which does not think by default. Newer models get `disabled`, Sonnet 5.5
///   `between_tools`, and the models that always think (Fable, Mythos and Opus 5.5) a low effort.
/// - Without the setting, nothing is sent: models from Sonnet 5 on then think, and do not return their thoughts.
///
/// No budget is sent if `max_tokens` is 1,024 or less, or in the middle of a turn that began without a thought of this
/// provider: the API refuses both.
///
/// Thoughts, encrypted ones included, are sent back unchanged, with their signatures. From Fable 5.1 and Claude 5.5 on, a
/// thought [is valid](https://platform.claude.com/docs/en/build-with-claude/preserved-thinking) only after the system prompt,
/// tools and messages that it was created with, and the API refuses a conversation in which these have changed. The request
/// therefore asks the API to drop invalid thoughts (`block_binding`), so that the conversation continues after a change of
/// the instructions or a shortened history. This needs the beta `thinking-binding-controls-2026-08-01`, which is sent to
/// `api.anthropic.com`. Other servers may refuse it, and get it only if you add it with [`beta`](AnthropicBuilder::beta).
/// With `off`, Sonnet 5.5 and Haiku 5.5 do not support `block_binding`: they get only the thoughts of the current turn.
///
/// # Tools and structured output
///
/// A [tool choice](crate::ToolChoice) is sent as `any`, `none`, or `tool` with a name. Where the API cannot force a tool
/// call, the model chooses: with a thinking budget, and with Fable, Mythos, Opus 5.5 and Sonnet 5.5.
///
/// Tool schemas are sent in draft 2020-12. The API refuses alternatives at the root of a schema, so these become one object
/// with the properties of all of them. It also refuses property names with characters other than letters, digits, `_`, `.`
/// and `-`: these properties are renamed, and get their own names back in calls. [`tool_notes`](crate::Model::tool_notes)
/// lists what is renamed, and what the schema only describes.
///
/// Claude 4.5 and newer enforce an output schema as
/// [`output_config.format`](https://platform.claude.com/docs/en/build-with-claude/structured-outputs); their [`Profile`]
/// declares it. Bounds that the API does not enforce move into descriptions, and so do defaults and examples. The
/// description of a field whose type is a reference moves into a separate definition, within the limits below. A schema that
/// the API cannot enforce is sent in the system prompt instead: one with a map, a value or an object of any kind, a
/// recursive type, more than 24 optional properties, or more than 16 alternatives.
///
/// If the token limit cuts off an answer inside a tool call, that call is dropped, and the answer finishes with
/// [`Length`](crate::FinishReason::Length). So does an answer that fills the context. An answer with an unknown stop reason,
/// or with calls and no stop reason, finishes with [`Other`](crate::FinishReason::Other).
///
/// If the model refuses, the answer finishes with [`ContentFilter`](crate::FinishReason::ContentFilter), and an opaque part
/// `refusal` contains the provider's reason.
///
/// # Server-side tools
///
/// | Tool | Sent as |
/// | --- | --- |
/// | `web_search`, with `max_uses` and either `allowed_domains` or `blocked_domains` | `web_search_20250305` |
/// | `web_fetch`, except for Opus 5 | `web_fetch_20250910` |
/// | `code_execution` | `code_execution_20250825` |
/// | `programmatic_tool_calling` | `code_execution_20260120`, which replaces `code_execution`, and `allowed_callers` of each tool; see below |
///
/// `image_generation` is refused, and so is a tool that is not in the model's [`Profile`]. Models of other vendors have no
/// server-side tools.
///
/// Models since Claude 3.5 support these versions; newer versions of search and fetch run code on the pages. Tool uses and
/// results are parts of the answer. They are sent back unchanged, with encrypted content and citations. Citations are an
/// opaque part after the text that they belong to. A container is reused within a turn, but not by the next turn.
///
/// With [`programmatic_tool_calling`](https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling),
/// both the model and its code may call tools, except the [output tool](crate::Request::output_tool) and tools with a
/// recursive schema, which the API refuses to offer to code. While code waits, only its results are sent, as text, without
/// files and cache breakpoints, and `parallel_tool_calls: false` is not sent. Code waits for about 4 minutes. Code that can
/// no longer finish is left out, and its calls are sent as the model's own: if the user wrote while it waited, or its start
/// is no longer in the history.
///
/// The provider [pauses](https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons) a turn that takes long.
/// The request is then continued automatically, up to 10 times, so that a request has one answer and a stream one end. The
/// usage covers all of these requests. If the answer pauses again, it finishes with [`Length`](crate::FinishReason::Length).
///
/// # Caching
///
/// With `cache_prompt`, [cache breakpoints](https://platform.claude.com/docs/en/build-with-claude/prompt-caching) are set
/// after the tools, the system prompt and the last two user messages, so that each request reads what the previous one
/// cached. A cache entry lasts five minutes. [`Usage::input_tokens`](crate::Usage) includes cache reads and writes, which
/// the API counts separately. It also includes the tokens of
/// [compaction](https://platform.claude.com/docs/en/build-with-claude/compaction-threshold) and of an
/// [advisor](https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool), if `extra_body` enables them.
///
/// # Attachments
///
/// Attachments are sent as [images](https://platform.claude.com/docs/en/build-with-claude/vision) and
/// [documents](https://platform.claude.com/docs/en/build-with-claude/pdf-support), in user messages and in tool results.
///
/// | Media type | Sent as | Name |
/// | --- | --- | --- |
/// | `image/jpeg`, `image/png`, `image/gif`, `image/webp` | `image` | not sent |
/// | `application/pdf` | `document` | its title |
/// | `text/*`, `application/json`, `*+json` | `document` of plain text, if it is UTF-8 | its title |
///
/// Any other type is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is sent. The
/// result of a failed call can contain only text: its files follow after all results of the turn, each after a line that
/// names its tool.
///
/// # Not supported
///
/// Files and images by URL or by the Files API, citations of documents that you send, caches of an hour, newer versions of
/// server-side tools, client-side tools that Anthropic defines (`bash`, `computer`), MCP connectors, skills, strict tools,
/// token counting.
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::{AnthropicModel, ApiKey};
///
/// let model = AnthropicModel::builder("claude-sonnet-4-5").api_key(ApiKey::new("sk-ant-1")?).build()?;
/// assert_eq!(model.name(), "anthropic:claude-sonnet-4-5");
/// assert!(model.profile().native_output);
/// # Ok::<_, llm_do_providers::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnthropicModel {
    name: String,
    model: Arc<str>,
    endpoint: Arc<Endpoint>,
    betas: String,
    capabilities: Arc<AnthropicCapabilities>,
    profile: Profile,
    retries: u32,
    pace: BatchPace,
}

impl AnthropicModel {
    /// Sets up the model that the server calls `model`; no variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> AnthropicBuilder {
        AnthropicBuilder::new(ClientConfig::new(&SERVER, model.into()))
    }

    /// Returns the model that the server calls `model`, at `ANTHROPIC_BASE_URL` with the key in `ANTHROPIC_API_KEY`.
    ///
    /// Default: `https://api.anthropic.com`, which requires a key; other servers may not.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the key is missing or invalid, or if the base URL is
    /// not an `http` or `https` URL.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        AnthropicBuilder::new(ClientConfig::from_env(&SERVER, model)?).build()
    }

    pub(crate) fn exchange(
        &self,
        request: &Request<'_>,
        stream: bool,
    ) -> Result<Exchange<impl Fn() -> AnthropicAccumulator + Send + use<>>, ProviderError> {
        let mut plan = Plan::new(&self.capabilities, request.settings, request.messages);
        if self.capabilities.bound_thoughts && binding::has_beta(&self.betas, request.settings) {
            plan.drop_stale_thoughts(request.messages);
        }
        if request.takes_programs() {
            plan.warn_of_parallel_calls(request.settings);
        }
        let mut writer = request.writer(&self.model);
        let body = convert::request(&self.model, &plan, self.profile, request, stream, &mut writer)?;
        let model = Arc::clone(&self.model);
        let tier = ServiceTier::requested(request.settings.service_tier.as_deref());
        let begin = move || AnthropicAccumulator::new(Arc::clone(&model), tier);
        let warnings = plan.warnings;
        let with_beta = plan.compact_at.map(|_| compaction::with_beta(request.settings, &self.betas));
        let settings = with_beta.as_ref().unwrap_or(request.settings);
        let exchange = Exchange::new(&self.endpoint, &body, settings, self.retries, begin)?;
        Ok(exchange.with_warnings(warnings).with_renamed(tools::renamed(request)))
    }
}

#[async_trait]
impl Model for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        Ok(tool::anthropic(&tool.parameters).notes.clone())
    }

    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        let (settings, warning) = batched::settings(request.settings);
        let exchange = self.exchange(&Request { settings: &settings, ..request }, false)?.with_warning(warning);
        Ok(Some(exchange.batched(|call| batch::batcher(&self.endpoint, call, self.pace))))
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
    use super::{AnthropicBuilder, AnthropicModel, ClientConfig, SERVER};
    use crate::error::{ErrorKind, ProviderError};
    use crate::model::Model;

    fn with(variables: &[(&str, &str)]) -> Result<AnthropicModel, ProviderError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        AnthropicBuilder::new(ClientConfig::from_variables(&SERVER, "claude-opus-5-5", find)?).build()
    }

    #[test]
    fn the_default_server_needs_a_key() {
        for variables in [&[][..], &[("ANTHROPIC_API_KEY", "")]] {
            let error = with(variables).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().contains("set `ANTHROPIC_API_KEY`"), "{error}");
        }
        assert_eq!(with(&[("ANTHROPIC_API_KEY", "sk-1")]).unwrap().name(), "anthropic:claude-opus-5-5");
    }

    #[test]
    fn another_server_needs_no_key() {
        assert!(with(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")]).is_ok());
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_blamed_on_its_variable_and_not_shown() {
        let error = with(&[("ANTHROPIC_API_KEY", "sk-secret\n")]).unwrap_err().to_string();
        assert!(error.contains("`ANTHROPIC_API_KEY`") && !error.contains("sk-secret"), "{error}");
        let model = with(&[("ANTHROPIC_API_KEY", "sk-secret")]).unwrap();
        assert!(!format!("{model:?}").contains("sk-secret"));
    }

    #[test]
    fn an_invalid_base_url_or_beta_is_refused() {
        let error = with(&[("ANTHROPIC_BASE_URL", "localhost:8080")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let error = AnthropicModel::builder("m").base_url("http://localhost").beta("a\nb").build().unwrap_err();
        assert!(error.to_string().contains("`anthropic-beta` cannot be sent"), "{error}");
    }

    #[tokio::test]
    async fn the_catalog_knows_the_provider() {
        // The outcome depends on the environment; that the prefix is known does not.
        if let Err(error) = crate::model("anthropic:claude-opus-5-5") {
            assert_eq!(error.provider(), "anthropic");
            assert!(!error.to_string().contains("no provider"), "{error}");
        }
    }
}
