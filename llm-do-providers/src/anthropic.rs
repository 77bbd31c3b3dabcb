//! Models behind the Anthropic Messages API, at its home or on any compatible server.

mod accumulator;
mod binding;
mod builder;
mod parts;
mod programs;
mod replay;
mod request;
mod server_tools;
mod stream;
mod thinking;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::AnthropicBuilder;
use self::stream::AnthropicAccumulator;
use self::thinking::Plan;
use crate::capability::AnthropicCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec};
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

/// A model that is reached through the [Anthropic Messages API](https://platform.claude.com/docs/en/api/messages/create).
///
/// The models are Claude, and models of other makers whose servers support this API; `ANTHROPIC_BASE_URL` or
/// [`base_url`](AnthropicBuilder::base_url) sets the server. In the catalog, it is `anthropic:MODEL`. What is sent to a
/// Claude model, and what is left out because the API would refuse it, depends on its name and the
/// [capabilities](crate::CapabilityTable); a name that is newer than this crate is treated as one of the newest models.
///
/// Timeouts, what is tried again, and fields and headers of your own are those of [all on the
/// network](crate#on-the-network). An error inside of a stream has the [status of its
/// type](https://platform.claude.com/docs/en/api/errors), and so is tried again like one before it.
///
/// # Settings
///
/// | Setting | Goes as | On |
/// | --- | --- | --- |
/// | instructions | `system` | all |
/// | `max_tokens` | `max_tokens`, which the API requires | all; see below |
/// | `temperature`, `top_p` | the same | up to 4.6, while the model does not think; from 3.7 on only one of the two, and
//`temperature` has precedence. Both to models of other makers |
/// | `stop` | `stop_sequences` | all |
/// | `thinking` | `thinking`, `output_config.effort` | from 3.7 on, and models of other makers; see below |
/// | `parallel_tool_calls: false` | `disable_parallel_tool_use` | all, if there are tools |
/// | `cache_prompt` | `cache_control` | all; see below |
/// | `service_tier` | the same: `auto`, `standard_only` | all |
/// | `seed`, `presence_penalty`, `frequency_penalty` | nothing: the API has no place for them | |
///
/// A setting that is not sent, or not as it was set, is a [warning](crate::Response::warnings) of the answer.
///
/// `metadata`, `top_k` and others go through [`extra_body`](crate::Settings::extra_body).
///
/// By default, an answer may have 32,000 tokens, thoughts included, or the maximum of the model if that
/// is lower: 8,192 for Claude 3.5 and models of other makers, 4,096 for older ones. That much arrives within the default
/// timeout; stream the answer, and set a higher limit, if you expect more.
///
/// # Thinking
///
/// [Levels](crate::ThinkingLevel) go as the [model understands](https://platform.claude.com/docs/en/build-with-claude/thinking)
/// them: Claude 3.7 to 4.5 as a budget of tokens (`minimal` 1,024, `low` 2,048, `medium` 8,192, `high` 16,384, which become less
/// where `max_tokens` leaves no room; your own number stays as it is, if it is at least 1,024 and below `max_tokens`), newer ones as an effort of `low`, `medium` or `high`, with a summary of the
/// thoughts. `off` sends nothing up to 4.5, which do not think by default, then `disabled`, with Sonnet 5.5
/// `between_tools`, and a low effort where a model always thinks: Fable, Mythos and Opus 5.5. If nothing is set, nothing is
/// sent; models from Sonnet 5 on then think, and show no thoughts.
///
/// Models of other makers are asked as Claude 3.7. No budget goes where `max_tokens` is 1,024 or less, nor amid a turn that
/// began without a thought of this provider's, since the API refuses both.
///
/// Thoughts, encrypted ones too, are kept with their signatures and go back as they came. From Fable 5.1 and Claude 5.5 on, they
/// [hold](https://platform.claude.com/docs/en/build-with-claude/preserved-thinking) only behind the system prompt, the tools and
/// the messages that they were made for, and the API refuses a conversation in which those have changed. So the request
/// asks it to drop thoughts that are no longer valid (`block_binding`), and the model continues without them: after the
/// instructions changed, or a history was shortened. That needs the beta `thinking-binding-controls-2026-08-01`, which is
/// sent to `api.anthropic.com`; other
/// servers may refuse it, and get it only if you name it with [`beta`](AnthropicBuilder::beta). With `off`, Sonnet 5.5 and
/// Haiku 5.5 do not support `block_binding`: they get only the thoughts of the turn in progress.
///
/// # Tools and structured output
///
/// A [choice](crate::ToolChoice) goes as `any`, `none`, or for one tool as `tool` with its name. Where the API refuses to
/// force a tool, the model has the choice instead: with a budget to think, and with Fable, Mythos, Opus 5.5 and Sonnet 5.5.
///
/// The schema of a tool goes in draft 2020-12. The API refuses alternatives at its root, so these become one object with the
/// properties of all, and names of properties with other characters than letters, digits, `_`, `.` and `-`: these are renamed, and
/// restored in calls. [`tool_notes`](crate::Model::tool_notes) lists what is renamed or only in words.
///
/// An output schema goes as [`output_config.format`](https://platform.claude.com/docs/en/build-with-claude/structured-outputs)
/// with Claude 4.5 and newer; their [`Profile`] declares it. Bounds that the API does not enforce go into descriptions, as do
/// defaults and examples. The description of a field whose type is a reference goes into a separate definition, where the
/// limits below leave room for it. A schema that it cannot enforce (a map, a value or an object of any kind, a recursive type, more than 24
/// optional properties or 16 alternatives) goes into the system prompt instead.
///
/// If the limit on tokens cuts off an answer in a call, that call is left out, and the answer finishes with
/// [`Length`](crate::FinishReason::Length), as it does when the context is full. An answer with an unknown stop reason, or with
/// calls and no stop reason, finishes with [`Other`](crate::FinishReason::Other).
///
/// When a model refuses, the answer finishes with [`ContentFilter`](crate::FinishReason::ContentFilter), and an opaque part
/// `refusal` has the reason that the provider gives.
///
/// # Server-side tools
///
/// | Tool | Goes as |
/// | --- | --- |
/// | `web_search`, with `max_uses` and one of `allowed_domains` and `blocked_domains` | `web_search_20250305` |
/// | `web_fetch`, which Opus 5 does not have | `web_fetch_20250910` |
/// | `code_execution` | `code_execution_20250825` |
/// | `programmatic_tool_calling` | `code_execution_20260120`, in place of the one above, and `allowed_callers` of each tool; see below |
///
/// `image_generation` is refused, and so is a tool that is not in the model's [`Profile`]; models of other makers have none.
///
/// These are the versions that models since 3.5 take; newer ones of search and fetch run code on what they find. Uses and
/// results are parts of the answer, and go back as they came, encrypted content and citations included. Citations
/// stand as an opaque part behind the text that they are of. A container goes on within a turn, and is not taken up by the next.
///
/// With [`programmatic_tool_calling`](https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling), tools
/// are offered to the model and to its code, except the [output tool](crate::Request::output_tool) and tools with a recursive schema,
/// which the API refuses there. While code waits, its results go alone and as text, without files and cache breakpoints;
/// `parallel_tool_calls: false` is not sent. Code waits for about 4 minutes. If it can no longer finish, because the user
/// wrote while it waited or its beginning is no longer in the history, it is left out, and its calls go back as those of the model.
///
/// The provider [pauses](https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons) a turn that takes long.
/// It is asked to go on here, up to 10 times, so that a request has one answer and a stream one end; its usage counts each of
/// the requests. What is paused after that finishes with [`Length`](crate::FinishReason::Length).
///
/// # Caching
///
/// With `cache_prompt`, [marks](https://platform.claude.com/docs/en/build-with-claude/prompt-caching) stand behind the tools,
/// the system prompt and the last two messages of the user, so that each request finds what the one before it put there.
/// They last five minutes. [`Usage::input_tokens`](crate::Usage) includes what comes from the cache or goes into it, which on
/// the wire it does not. It also includes what [compaction](https://platform.claude.com/docs/en/build-with-claude/compaction-threshold)
/// and an [advisor](https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool) used, where `extra_body` asks for
/// them.
///
/// # Attachments
///
/// They go as [images](https://platform.claude.com/docs/en/build-with-claude/vision) and
/// [documents](https://platform.claude.com/docs/en/build-with-claude/pdf-support), in user messages and in tools' results.
///
/// | Media type | Goes as | Name |
/// | --- | --- | --- |
/// | `image/jpeg`, `image/png`, `image/gif`, `image/webp` | `image` | not sent |
/// | `application/pdf` | `document` | its title |
/// | `text/*`, `application/json`, `*+json` | `document` of plain text, if it is UTF-8 | its title |
///
/// Any other is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is sent. The result
/// of a call that failed may only hold text: its files follow after all results of the turn, each below a line that names
/// its tool.
///
/// # Not supported
///
/// Files and images by URL or by the Files API, citations of documents that you send, caches of an hour, newer versions of
/// server-side tools, those that run on your side by a schema of Anthropic's (`bash`, `computer`), MCP connectors, skills, strict
/// tools, batches, counting of tokens.
///
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
}

impl AnthropicModel {
    /// Sets up the model that the server calls `model`; no variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> AnthropicBuilder {
        AnthropicBuilder::new(ClientConfig::new(&SERVER, model.into()))
    }

    /// Returns the model that the server calls `model`, at `ANTHROPIC_BASE_URL` with the key in `ANTHROPIC_API_KEY`.
    ///
    /// Without `ANTHROPIC_BASE_URL` it is `https://api.anthropic.com`, which needs a key; other servers may do without.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the key is missing or no key, or if the base URL is
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
        let body = request::messages(&self.model, &plan, self.profile, request, stream, &mut writer)?;
        let model = Arc::clone(&self.model);
        let tier = ServiceTier::requested(request.settings.service_tier.as_deref());
        let begin = move || AnthropicAccumulator::new(Arc::clone(&model), tier);
        let warnings = plan.warnings;
        let exchange = Exchange::new(&self.endpoint, &body, request.settings, self.retries, begin)?;
        Ok(exchange.with_warnings(warnings).with_renamed(request::renamed(request)))
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

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.exchange(&request, false)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
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
