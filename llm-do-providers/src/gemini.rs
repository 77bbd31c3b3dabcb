//! Google's models behind the Gemini API.

mod accumulator;
mod builder;
mod contents;
mod convert;
mod parts;
mod server_side;
mod stream;
mod thinking;
mod tool_uses;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::builder::GeminiBuilder;
use self::stream::GeminiAccumulator;
use crate::capability::GeminiCapabilities;
use crate::catalog::ModelProvider;
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::Exchange;
use crate::http::{ClientConfig, Endpoint, ServerDefaults};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec};
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

/// A model that is reached through Google's [Gemini API](https://ai.google.dev/api/generate-content).
///
/// In the catalog, it is `gemini:MODEL`, such as `gemini:gemini-2.5-flash`; `GEMINI_BASE_URL` or
/// [`base_url`](GeminiBuilder::base_url) sets the server. Vertex AI is another API, and not supported.
///
/// What a model can do is looked up by its name and version in the [capabilities](crate::CapabilityTable): a name without a
/// version, such as `gemini-flash-latest`, is taken for that of the newest one.
///
/// | | 2.0 | 2.5 | 3 and newer |
/// | --- | --- | --- | --- |
/// | [output schema](https://ai.google.dev/gemini-api/docs/structured-output) | yes | yes | yes, beside tools too |
/// | [thinking](https://ai.google.dev/gemini-api/docs/thinking) | no | `thinkingBudget` | `thinkingLevel` |
/// | [`web_search`](https://ai.google.dev/gemini-api/docs/google-search), [`code_execution`](https://ai.google.dev/gemini-api/docs/code-execution) | yes, alone | yes, alone | yes, [beside tools](https://ai.google.dev/gemini-api/docs/tool-combination) |
/// | [`web_fetch`](https://ai.google.dev/gemini-api/docs/url-context) | no | yes, alone | yes, beside tools |
/// | [`image_generation`](https://ai.google.dev/gemini-api/docs/image-generation) | names with `image` | names with `image`, such as `gemini-2.5-flash-image` | names with `image` |
/// | PNG, JPEG, WebP and PDF in [tools' results](https://ai.google.dev/gemini-api/docs/function-calling#multimodal) | after them | after them | in them |
///
/// Models that generate images, with `image` in their names, differ: before version 3 they call no tools, follow no schema and
/// do not think; from 3 on they have, of these tools, `web_search` and `image_generation` alone, and a level only has their
/// thoughts shown. A name that is not Gemini's has no thinking and none of these tools.
///
/// Timeouts, what is tried again, and fields and headers of your own are those of [all on the network](crate#on-the-network).
///
/// # Settings
///
/// | Of ours | Goes as, most in [`generationConfig`](https://ai.google.dev/api/generate-content#GenerationConfig) |
/// | --- | --- |
/// | instructions | `systemInstruction` |
/// | `temperature`, `top_p` | `temperature`, `topP` |
/// | `max_tokens` | `maxOutputTokens`; without it an answer may be as long as the model writes, thoughts included |
/// | `stop` | `stopSequences` |
/// | `seed` | `seed`, cut to 31 bits |
/// | `presence_penalty`, `frequency_penalty` | `presencePenalty`, `frequencyPenalty` with 2.0 and names that are not Gemini's; else nothing, since [models refuse them](https://github.com/google-gemini/cookbook/issues/1290) |
/// | `thinking` | `thinkingConfig`; see below |
/// | output schema | `responseJsonSchema`, with `responseMimeType` |
/// | tools | `functionDeclarations`, with `parametersJsonSchema` |
/// | [choice](crate::ToolChoice) of a tool | `functionCallingConfig`: `ANY`, `NONE`, or `ANY` with one name |
/// | `image_generation` | `responseModalities`: `TEXT` and `IMAGE` |
/// | `service_tier` | `serviceTier`: `standard`, `flex` or `priority` |
/// | `parallel_tool_calls` | nothing: parallel calls cannot be disabled |
/// | `cache_prompt` | nothing: prompts are [cached](https://ai.google.dev/gemini-api/docs/caching) without marks |
///
/// A setting that is not sent, or not as it was set, is a [warning](crate::Response::warnings) of the answer.
///
/// A cache of your own goes as `cachedContent` in [`extra_body`](crate::Settings::extra_body).
///
/// A level of thinking has the thoughts shown. For version 2.5 it is a number of tokens: 128, 2048, 8192 or the most that
/// the model takes; a number of your own is brought into what it takes. For version 3 it is the word, or the next that the
/// model knows. Where a model cannot do without, [`Off`](crate::ThinkingLevel::Off) is as little as it can.
///
/// # Signatures
///
/// A [signature](https://ai.google.dev/gemini-api/docs/thought-signatures) is kept with the part that it came with, a text
/// and an image included, and sent back on it. Thoughts without one are not sent back. Calls of other providers' models get
/// the signature that the API has for those.
///
/// # Schemas
///
/// Those of tools and answers are written [in what Gemini knows](https://ai.google.dev/api/generate-content#GenerationConfig):
/// references are inlined, alternatives are `anyOf`, and keywords that it does not know go into the description. In a recursive
/// type, the reference stays (`$ref` and `$defs`); the API takes it in optional properties alone, so a required
/// property that holds one is sent as optional, with "Always has .." in the description.
///
/// What cannot be converted in the schema of a tool, such as `if` and `contains`, goes into the description as JSON;
/// [`tool_notes`](crate::Model::tool_notes) lists it. A tool that accepts no arguments at all is left out, with a
/// [warning](crate::Response::warnings). In an output schema, both are an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest) that names the place.
///
/// # Attachments
///
/// | Media type | Goes as | Name |
/// | --- | --- | --- |
/// | `image/*`, `application/pdf`, `audio/*`, `video/*` | `inlineData` | not sent |
/// | `text/*`, `application/json`, `*+json` | `text`, if it is UTF-8 | in the line above the text |
///
/// Any other is an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and nothing is sent; a type that the
/// model [does not read](https://ai.google.dev/gemini-api/docs/file-input-methods), the server refuses. Files of
/// tools' results that are sent apart from them follow in a user's turn, each below a line that names the tool.
///
/// # Tools that Google runs
///
/// What was searched, read and run is a [`ServerSideTool`](crate::ResponsePart::ServerSideTool) part. Its output is the
/// API's own object: for a search its `groundingMetadata`, with the pages and what of the answer they support. A search
/// cannot be limited: one with limits is refused before anything is sent. Images that were made, and those that code drew,
/// are [`Attachment`](crate::ResponsePart::Attachment) parts.
///
/// # Usage
///
/// Thoughts count as output, and what Google's tools read as input; what comes from a cache is part of the input. Audio is
/// counted apart as well, and [priced](crate::Price::audio_input) as audio. The figures of a stream grow with its pieces.
///
/// # Errors
///
/// The wait before the next attempt may also be in the API's `RetryInfo`; a daily quota is reported immediately. Answers that
/// end in `MALFORMED_FUNCTION_CALL` or `MALFORMED_RESPONSE`, or in `UNEXPECTED_TOOL_CALL` without a call, are retried as
/// well: the model writes a new one. A call that comes with `UNEXPECTED_TOOL_CALL` is part of the answer, like any other
/// call. Of a stream that holds only as long as nothing was shown, [as ever](crate#on-the-network), and a level of thinking
/// has thoughts shown first: then it is an error of kind [`Protocol`](crate::ErrorKind::Protocol), with what arrived.
///
/// A prompt that the filter blocks is an error of kind [`ContentFilter`](crate::ErrorKind::ContentFilter); an answer that it
/// stops finishes with [`ContentFilter`](crate::FinishReason::ContentFilter). A last call that `MAX_TOKENS` may have cut off is
/// left out. An answer with an unknown reason, or with calls and no reason, finishes with
/// [`Other`](crate::FinishReason::Other).
///
/// # Not supported
///
/// The Files API and files by URL, Vertex AI, the Live API, tools for Maps, file search and computer use, audio as an answer,
/// batches, counting of tokens. `safetySettings` go by [`extra_body`](crate::Settings::extra_body).
///
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
    /// Where whole answers come from, and streamed ones.
    whole: Arc<Endpoint>,
    pub(crate) streamed: Arc<Endpoint>,
    capabilities: Arc<GeminiCapabilities>,
    profile: Profile,
    retries: u32,
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
    /// Returns an error of kind [`ErrorKind::Configuration`] if the key is missing or no key, if the base URL is not an
    /// `http` or `https` URL, or if the model's name cannot stand in one.
    pub fn from_env(model: &str) -> Result<Self, ProviderError> {
        GeminiBuilder::new(ClientConfig::from_env(&SERVER, model)?).build()
    }

    pub(crate) fn exchange(
        &self,
        endpoint: &Arc<Endpoint>,
        request: &Request<'_>,
    ) -> Result<Exchange<impl Fn() -> GeminiAccumulator + Send + use<>>, ProviderError> {
        server_side::check(&self.model, &self.capabilities, request)?;
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

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.exchange(&self.whole, &request)?.whole().await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        Ok(self.exchange(&self.streamed, &request)?.stream())
    }
}

fn configuration(text: &str) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
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
