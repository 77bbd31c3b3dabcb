//! Google's models behind the Gemini API.

mod batch;
mod builder;
mod convert;
mod fault;
mod history;
mod parts;
mod stream;
mod thinking;
mod tool_uses;
mod tools;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::GeminiBuilder;
use self::stream::GeminiAccumulator;
use crate::batched::{self, BatchPace, BatchedRequest};
use crate::capability::GeminiCapabilities;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec, replay};
use crate::response::Response;
use crate::schema::tool;
use crate::usage::ServiceTier;

const PROVIDER: &str = "gemini";
const PROTOCOL: &str = "the Gemini API";
const SERVER: ServerDefaults = ServerDefaults {
    provider: PROVIDER,
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    key_required_at: Some("generativelanguage.googleapis.com"),
    url_variable: "GEMINI_BASE_URL",
    // Google's own clients look at both.
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

inventory::submit! {
    ModelProvider::with_capabilities(PROVIDER, |model, capabilities| {
        let builder = GeminiBuilder::new(ClientConfig::from_env(&SERVER, model)?);
        Ok(Arc::new(builder.capabilities(capabilities.clone()).build()?))
    })
}

/// A model behind Google's [Gemini API](https://ai.google.dev/api/generate-content).
///
/// In the catalog, a model is `gemini:MODEL`, such as `gemini:gemini-2.5-flash`. Set the server with `GEMINI_BASE_URL` or
/// [`base_url`](GeminiBuilder::base_url). Vertex AI is a different API, and not supported.
///
/// The [capabilities](crate::CapabilityTable) of a model follow from its name and version. A name without a version, such as
/// `gemini-flash-latest`, is treated like the newest version.
///
/// | | 2.0 | 2.5 | 3 and newer |
/// | --- | --- | --- | --- |
/// | [output schema](https://ai.google.dev/gemini-api/docs/structured-output) | yes | yes | yes, also together with tools |
/// | [thinking](https://ai.google.dev/gemini-api/docs/thinking) | no | `thinkingBudget` | `thinkingLevel` |
/// | [`web_search`](https://ai.google.dev/gemini-api/docs/google-search), [`code_execution`](https://ai.google.dev/gemini-api/docs/code-execution) | yes, without other tools | yes, without other tools | yes, also [together with tools](https://ai.google.dev/gemini-api/docs/tool-combination) |
/// | [`web_fetch`](https://ai.google.dev/gemini-api/docs/url-context) | no | yes, without other tools | yes, also together with tools |
/// | [`image_generation`](https://ai.google.dev/gemini-api/docs/image-generation) | names with `image` | names with `image`, such as `gemini-2.5-flash-image` | names with `image` |
/// | PNG, JPEG, WebP and PDF in [tool results](https://ai.google.dev/gemini-api/docs/function-calling#multimodal) | after the results | after the results | in the results |
///
/// Models that generate images, with `image` in their names, differ. Before version 3 they support neither tools nor output
/// schemas nor thinking. From version 3 on, their only server-side tools are `web_search` and `image_generation`, and a
/// thinking level only makes them return their thoughts. A model whose name is not one of Gemini's has no thinking and no
/// server-side tools.
///
/// Timeouts, retries, and your own fields and headers work as for [all models on the network](crate#on-the-network).
///
/// # Settings
///
/// | Setting | Sent as, mostly in [`generationConfig`](https://ai.google.dev/api/generate-content#GenerationConfig) |
/// | --- | --- |
/// | instructions | `systemInstruction` |
/// | `temperature`, `top_p` | `temperature`, `topP` |
/// | `max_tokens` | `maxOutputTokens`, thinking included. Default: the model's maximum |
/// | `stop` | `stopSequences` |
/// | `seed` | `seed`, reduced to 31 bits |
/// | `presence_penalty`, `frequency_penalty` | `presencePenalty`, `frequencyPenalty` for 2.0 and names that are not Gemini's; not sent to other models, which [refuse them](https://github.com/google-gemini/cookbook/issues/1290) |
/// | `thinking` | `thinkingConfig`; see below |
/// | output schema | `responseJsonSchema`, with `responseMimeType` |
/// | tools | `functionDeclarations`, with `parametersJsonSchema` |
/// | [tool choice](crate::ToolChoice) | `functionCallingConfig`: `ANY`, `NONE`, or `ANY` with one name |
/// | `image_generation` | `responseModalities`: `TEXT` and `IMAGE` |
/// | `service_tier` | `serviceTier`: `standard`, `flex` or `priority` |
/// | `batch` | the request goes to the [Batch API](https://ai.google.dev/gemini-api/docs/batch-api), without `service_tier` |
/// | `parallel_tool_calls` | not sent: parallel calls cannot be disabled |
/// | `cache_prompt` | not sent: Google [caches](https://ai.google.dev/gemini-api/docs/caching) prompts without breakpoints |
///
/// A setting that is left out or changed is reported as a [warning](crate::Response::warnings) of the answer.
///
/// To use a cache that you created, send `cachedContent` with [`extra_body`](crate::Settings::extra_body).
///
/// With a thinking level, the model also returns its thoughts. Version 2.5 gets a budget: 128, 2,048, 8,192 or the model's
/// maximum, in tokens. Your own number is clamped to the range of the model. Version 3 gets the level's word, or the next
/// higher word that the model supports. [`Off`](crate::ThinkingLevel::Off) is the lowest setting of a model that always
/// thinks.
///
/// # Signatures
///
/// A [signature](https://ai.google.dev/gemini-api/docs/thought-signatures) belongs to the part that it arrived with, which may
/// also be a text or an image. It is kept and sent back with that part. Thoughts without a signature are not sent back. Tool
/// calls of other providers' models are sent with the placeholder signature that the API defines for them.
///
/// # Schemas
///
/// Tool and output schemas use [the keywords that Gemini supports](https://ai.google.dev/api/generate-content#GenerationConfig):
/// references are inlined, alternatives become `anyOf`, and other keywords move into the description. A recursive type keeps
/// its reference (`$ref` and `$defs`). The API allows such a reference only in optional properties, so a required property
/// that contains one is sent as optional, with "Always has .." in the description.
///
/// Keywords of a tool schema that cannot be converted, such as `if` and `contains`, are added to the description as JSON;
/// [`tool_notes`](crate::Model::tool_notes) lists them. A tool that accepts no arguments at all is left out, with a
/// [warning](crate::Response::warnings). In an output schema, both are an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest) that names the path.
///
/// # Attachments
///
/// | Media type | Sent as | Name |
/// | --- | --- | --- |
/// | `image/*`, `application/pdf`, `audio/*`, `video/*` | `inlineData` | not sent |
/// | `text/*`, `application/json`, `*+json` | `text`, if it is UTF-8 | in the line above the text |
///
/// Any other type is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is sent. A type
/// that the model [does not support](https://ai.google.dev/gemini-api/docs/file-input-methods) is refused by the server. Files
/// of tool results that the result cannot contain follow in a user message, each after a line that names the tool.
///
/// # Tools that Google runs
///
/// Searches, page reads and code runs are [`ServerSideTool`](crate::ResponsePart::ServerSideTool) parts. Their output is the
/// API's own object: for a search, `groundingMetadata` with the pages and the sentences that they support. A search cannot be
/// limited: a search with limits is refused before a request is sent. Generated images, and images that code draws, are
/// [`Attachment`](crate::ResponsePart::Attachment) parts.
///
/// # Usage
///
/// Output includes thoughts. Input includes cached tokens and what Google's tools read. Audio input is also counted separately,
/// and [priced](crate::Price::audio_input) as audio. The counts of a stream grow with each event.
///
/// # Errors
///
/// The retry delay may also come from the API's `RetryInfo`. An exceeded daily quota is reported immediately.
///
/// An answer that ends with `MALFORMED_FUNCTION_CALL` or `MALFORMED_RESPONSE`, or with `UNEXPECTED_TOOL_CALL` and no call, is
/// retried: the model writes a new one. A call that arrives with `UNEXPECTED_TOOL_CALL` is part of the answer like any other
/// call. A stream is retried only before its first event reaches the caller, and with a thinking level the thoughts are the
/// first events. After that, the error has the kind [`Protocol`](crate::ErrorKind::Protocol) and contains the partial answer.
///
/// A prompt that the content filter blocks is an error of kind [`ContentFilter`](crate::ErrorKind::ContentFilter). An answer
/// that it stops finishes with [`ContentFilter`](crate::FinishReason::ContentFilter). The last call is dropped if `MAX_TOKENS`
/// may have cut it off. An answer with an unknown finish reason, or with calls and no reason, finishes with
/// [`Other`](crate::FinishReason::Other).
///
/// # Not supported
///
/// The Files API and files by URL, Vertex AI, the Live API, tools for Maps, file search and computer use, audio output,
/// token counting. Send `safetySettings` with [`extra_body`](crate::Settings::extra_body).
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::{ApiKey, GeminiModel};
///
/// let model = GeminiModel::builder("gemini-2.5-flash").api_key(ApiKey::new("AIza..")?).build()?;
/// assert_eq!(model.name(), "gemini:gemini-2.5-flash");
/// # Ok::<_, llm_do_providers::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeminiModel {
    name: String,
    model: Arc<str>,
    /// The endpoint of unstreamed answers.
    whole: Arc<Endpoint>,
    /// The endpoint of streamed answers.
    pub(crate) streamed: Arc<Endpoint>,
    capabilities: Arc<GeminiCapabilities>,
    profile: Profile,
    retries: u32,
    pace: BatchPace,
}

impl GeminiModel {
    /// Sets up the model that Google calls `model`; no variable of the environment is read.
    pub fn builder(model: impl Into<String>) -> GeminiBuilder {
        GeminiBuilder::new(ClientConfig::new(&SERVER, model.into()))
    }

    /// Returns the model that Google calls `model`, with the key in `GEMINI_API_KEY`, or else in `GOOGLE_API_KEY`.
    ///
    /// `GEMINI_BASE_URL` sets the server; by default, `https://generativelanguage.googleapis.com/v1beta`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the key is missing or invalid, if the base URL is not
    /// an `http` or `https` URL, or if the model's name cannot be part of a URL.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        GeminiBuilder::new(ClientConfig::from_env(&SERVER, model)?).build()
    }

    pub(crate) fn exchange(
        &self,
        endpoint: &Arc<Endpoint>,
        request: &Request<'_>,
    ) -> Result<Exchange<impl Fn() -> GeminiAccumulator + Send + use<>>, ProviderError> {
        tools::check(&self.model, &self.capabilities, request)?;
        let mut writer = request.writer(&self.model);
        let (wire, warnings) = convert::request(request, &self.capabilities, &mut writer)?;
        let (requested_model, turn) = (Arc::clone(&self.model), request.messages.len());
        let tier = ServiceTier::requested(request.settings.service_tier.as_deref());
        let begin = move || GeminiAccumulator::new(Arc::clone(&requested_model), turn, tier);
        let exchange = Exchange::new(endpoint, &wire, request.settings, self.retries, begin)?;
        Ok(exchange.with_warnings(warnings))
    }
}

#[async_trait]
impl Model for GeminiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        tool::notes(tool::gemini(&tool.parameters))
    }

    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        let (settings, warning) = batched::settings(request.settings);
        let exchange = self.exchange(&self.whole, &Request { settings: &settings, ..request })?.with_warning(warning);
        Ok(Some(exchange.batched(|call| batch::batcher(&self.whole, &self.model, call, self.pace))))
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        if request.settings.is_batch()
            && let Some(batched) = self.batch(request)?
        {
            return batched.answer().await;
        }
        self.exchange(&self.whole, &request)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        if request.settings.is_batch() {
            return Ok(replay(self.request(request).await?));
        }
        Ok(self.exchange(&self.streamed, &request)?.stream())
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientConfig, GeminiBuilder, GeminiModel, SERVER};
    use crate::error::{ErrorKind, ProviderError};
    use crate::model::Model;

    fn with(variables: &[(&str, &str)]) -> Result<GeminiModel, ProviderError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        GeminiBuilder::new(ClientConfig::from_variables(&SERVER, "gemini-2.5-flash", find)?).build()
    }

    #[test]
    fn the_default_server_needs_a_key_in_either_variable() {
        for variables in [&[][..], &[("GEMINI_API_KEY", ""), ("GOOGLE_API_KEY", "")]] {
            let error = with(variables).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().contains("set `GEMINI_API_KEY`"), "{error}");
        }
        for name in ["GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            assert_eq!(with(&[(name, "AIza1")]).unwrap().name(), "gemini:gemini-2.5-flash");
        }
    }

    #[test]
    fn another_server_needs_no_key() {
        with(&[("GEMINI_BASE_URL", "http://127.0.0.1:8080")]).unwrap();
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_blamed_on_its_variable() {
        for name in ["GEMINI_API_KEY", "GOOGLE_API_KEY"] {
            let error = with(&[(name, "secret\n")]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_model_does_not_show_its_key() {
        let model = with(&[("GEMINI_API_KEY", "AIza-secret")]).unwrap();
        assert!(!format!("{model:?}").contains("secret"));
    }

    #[test]
    fn a_name_that_cannot_stand_in_a_url_is_refused() {
        for name in ["", "gemini 2", "gemini?key=1", "../gemini", "a#b"] {
            let error = GeminiModel::builder(name).base_url("http://127.0.0.1").build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{name}");
        }
    }

    #[tokio::test]
    async fn the_catalog_knows_the_provider() {
        // The outcome depends on the environment; that the prefix is known does not.
        if let Err(error) = crate::model("gemini:gemini-2.5-flash") {
            assert_eq!(error.provider(), "gemini");
            assert!(!error.to_string().contains("no provider"), "{error}");
        }
    }
}
