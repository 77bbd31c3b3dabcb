//! The servers that are known by name.

mod table;

#[cfg(test)]
pub(super) use self::table::ELSEWHERE;
pub(crate) use self::table::OPENAI_SERVER;
use super::dialect::Dialect;
use crate::http::Endpoint;

/// A server with the chat completions API that is known by name; [`OpenAiModel::at`](crate::OpenAiModel::at) uses its models.
///
/// In the catalog, its models are `PREFIX:MODEL`, where MODEL is the server's full name for the model:
/// `openrouter:openai/gpt-5-mini`, `ollama:qwen3:8b`. The catalog reads the environment variables; a builder reads none.
///
/// | Server | Prefix | Base URL | Variables |
/// | --- | --- | --- | --- |
/// | [DeepSeek](https://api-docs.deepseek.com) | `deepseek` | `https://api.deepseek.com` | `DEEPSEEK_API_KEY`, `DEEPSEEK_BASE_URL` |
/// | [Groq](https://console.groq.com/docs/overview) | `groq` | `https://api.groq.com/openai/v1` | `GROQ_API_KEY`, `GROQ_BASE_URL` |
/// | [llama.cpp](https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md) | `llama-cpp` | `http://127.0.0.1:8080/v1` | `LLAMA_API_KEY`, `LLAMA_CPP_BASE_URL` |
/// | [Mistral](https://docs.mistral.ai/api/) | `mistral` | `https://api.mistral.ai/v1` | `MISTRAL_API_KEY`, `MISTRAL_BASE_URL` |
/// | [Ollama](https://docs.ollama.com/api/openai-compatibility) | `ollama` | `http://127.0.0.1:11434/v1` | `OLLAMA_API_KEY`, `OLLAMA_BASE_URL` |
/// | [OpenAI](https://platform.openai.com/docs/api-reference/chat) | `openai` | `https://api.openai.com/v1` | `OPENAI_API_KEY`, `OPENAI_BASE_URL` |
/// | [OpenRouter](https://openrouter.ai/docs/quickstart) | `openrouter` | `https://openrouter.ai/api/v1` | `OPENROUTER_API_KEY`, `OPENROUTER_BASE_URL` |
/// | [vLLM](https://docs.vllm.ai/en/latest/serving/openai_compatible_server/) | `vllm` | `http://127.0.0.1:8000/v1` | `VLLM_API_KEY`, `VLLM_BASE_URL` |
///
/// llama.cpp, Ollama and vLLM need no key; a key that is set is sent. `/chat/completions` is added to the base URL.
///
/// A model `openai:..` whose base URL has the host of one of these servers is treated like a model of that server, but keeps
/// its own name and OpenAI's variables: with `OPENAI_BASE_URL` set to `https://api.deepseek.com`, `openai:deepseek-v4-pro`
/// sends the same requests as `deepseek:deepseek-v4-pro`. Kimi, at `api.moonshot.ai` and `api.moonshot.cn`, has no prefix and
/// is recognized only by its host.
///
/// # Settings
///
/// A server gets only the settings that it has a field for. A setting that is left out, or replaced by the nearest value, is
/// reported as a [warning](crate::Response::warnings) of the answer:
///
/// | Server | Field for `max_tokens` | `seed` | penalties | `parallel_tool_calls` | `service_tier` |
/// | --- | --- | --- | --- | --- | --- |
/// | DeepSeek | `max_tokens` | no | yes | no | no |
/// | Groq | `max_completion_tokens` | yes | no | yes | yes |
/// | llama.cpp, vLLM | `max_tokens` | yes | yes | yes | no |
/// | Mistral | `max_tokens` | as `random_seed` | yes | yes | no |
/// | Ollama | `max_tokens` | yes | yes | no | no |
/// | OpenAI | `max_completion_tokens`; with another base URL `max_tokens`, except for OpenAI's thinking models | yes | yes | yes | yes |
/// | OpenRouter | `max_tokens` | yes | yes | yes | yes |
///
/// `cache_prompt` is sent only to OpenRouter, as
/// [`cache_control`](https://openrouter.ai/docs/client-sdks/typescript/models/anthropiccachecontroldirective). Other servers
/// decide themselves what they cache.
///
/// Some of OpenAI's models refuse settings. Thinking models [refuse](https://developers.openai.com/api/docs/guides/reasoning)
/// `temperature`, `top_p` and penalties while they think. GPT-4o search models always refuse these, and the o-series refuses
/// `parallel_tool_calls`. `o3`, `o4-mini`, and GPT-5 and newer refuse
/// [`stop`](https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop). For a model `openai:..`, at any base
/// URL, these settings are left out. A model `openrouter:openai/..` gets all settings.
///
/// The settings that a model supports follow from its name and the [capabilities](crate::CapabilityTable), which you can
/// extend for models that are newer than this crate.
///
/// # Thinking
///
/// A [level](crate::ThinkingLevel) is sent as the nearest word that the model supports. Without a level, nothing is sent, and
/// the model's default applies.
///
/// | Server | Fields for the level | Fields of the thoughts | How thoughts are sent back |
/// | --- | --- | --- | --- |
/// | [DeepSeek](https://api-docs.deepseek.com/guides/thinking_mode) | `thinking`, and `reasoning_effort`: `low`, `high` | `reasoning_content` | in the same field, with every answer; the field is empty if an answer has no thought, since a missing field is refused |
/// | [Groq](https://console.groq.com/docs/reasoning) | `reasoning_effort`, for `gpt-oss` and `qwen3`; for `qwen3` also `reasoning_format: parsed` | `reasoning` | in the same field, to the same model, since models that do not think refuse it |
/// | llama.cpp | `reasoning_effort`; `none` for `off` | `reasoning_content` | in the same field, to the same model; its template decides whether it is used |
/// | [Mistral](https://docs.mistral.ai/capabilities/reasoning/) | `reasoning_effort`, for Large 4, Medium 3.5 and Small 4 | chunks of the content | unchanged |
/// | Ollama | `reasoning_effort` | `reasoning` | in the same field, to the same model |
/// | Kimi | `reasoning_effort` | `reasoning_content` | in the same field, with every answer; the field is a space if an answer has no thought, since a missing field is refused |
/// | OpenAI | `reasoning_effort` | none; at another base URL `reasoning_content` or `reasoning` | not sent back |
/// | [OpenRouter](https://openrouter.ai/docs/use-cases/reasoning-tokens) | `reasoning`, with `effort` or `max_tokens` | `reasoning`, `reasoning_details` | the details unchanged, to the same model |
/// | [vLLM](https://docs.vllm.ai/en/latest/features/reasoning_outputs/) | `reasoning_effort` or `thinking_token_budget`, and `chat_template_kwargs`: `enable_thinking`, `thinking` | `reasoning`, or `reasoning_content` in older versions | unchanged, to the same model |
///
/// Thoughts are only sent back to the server that they came from. Over chat completions, OpenAI's GPT-5.4 to 5.6, GPT-6 Sol,
/// GPT-6 Luna and GPT-6.1 Terra refuse to think in requests with tools, so their effort is then `none`. GPT-6 Astra, GPT-6.1
/// Sol and GPT-6.2 Sol always think, so a request to OpenAI for them with tools is refused before it is sent. Use
/// [`OpenAiResponsesModel`](crate::OpenAiResponsesModel) for tools and thinking together.
///
/// # Tools and structured output
///
/// | Server | Tool choice | [Profile](crate::Profile): output schema |
/// | --- | --- | --- |
/// | DeepSeek | not forced while the model thinks: the model chooses | no; a profile with native output sends the schema in the instructions, with `json_object` |
/// | Kimi | as with DeepSeek | as with OpenAI |
/// | Groq | as with OpenAI | no: Groq [supports it](https://console.groq.com/docs/structured-outputs) only without tools and without streaming |
/// | llama.cpp | for a choice by name, only that tool is offered | yes, without tools; [as a grammar](#llamacpp), and in the instructions |
/// | Mistral | `any` for `required` | yes, without tools |
/// | Ollama | no field: for a choice by name, only that tool is offered, and for `none` no tool | yes, without tools; as with llama.cpp, whose grammars it uses |
/// | OpenAI | `required`, `none`, or by name | from GPT-4o of 2024-08 on, except `chatgpt-4o`; yes for unknown names |
/// | OpenRouter | as with OpenAI; a Claude model with a thinking level is not forced, since it would then not think | `openai/..` as with OpenAI, except `gpt-oss`; `google/gemini..` without tools; otherwise no |
/// | vLLM | as with OpenAI | yes, without tools; unchanged |
///
/// Arguments of calls that are almost JSON are [mended](crate::Profile::mend_arguments), except for OpenAI's own server.
///
/// Mistral accepts only call ids of nine letters or digits; any other id is hashed to nine. It refuses a user message
/// directly after tool results, so an answer `(no answer)` is inserted between them. Both rules apply to models with one of
/// Mistral's names on any server, such as `openrouter:mistralai/..`. On every server, an answer without text and calls is
/// sent as `(no answer)`, since some servers refuse an empty one.
///
/// # llama.cpp
///
/// The server compiles output schemas and tool schemas to
/// [grammars](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md), ignores keywords that a grammar cannot
/// express, and does not show the output schema to the model. So the output schema is also sent in the instructions, as
/// [Ollama recommends](https://docs.ollama.com/capabilities/structured-outputs), and schemas are converted to a form of which
/// the grammar enforces as much as possible:
///
/// | Handling | Keywords |
/// | --- | --- |
/// | Enforced by the grammar | types, `const`, `enum`, properties (only the named ones if some are named, unless `additionalProperties` allows more), the number of items, the length of strings, the bounds of integers, the formats `date`, `time`, `date-time` and `uuid`, references, and recursive types |
/// | Converted | `oneOf` and `allOf`, keywords next to alternatives and references, `true` and empty schemas, tuples (with all their items), widths of integers, optional properties that no value matches (removed), and patterns of classes, groups and repetitions, which never produce a `"` or a `\\` |
/// | Only described | `uniqueItems`, `not` of values, `multipleOf`, bounds of other numbers, the number of properties and their names, other formats and patterns, limits above 1000 |
/// | Refused as an [`InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path, before a request is sent | `if`, `contains`, `dependentRequired` and similar keywords, pattern properties next to other properties, bounds that allow no value (they crash the server), property names of other characters than letters and digits next to undeclared properties |
///
/// Ollama uses the same grammars, but not for tools: tool schemas are sent to it unchanged.
///
/// Limits of the server, as of its build 11549:
///
/// - Tools need a chat template that supports them. With any other template, the model does not see the tools.
/// - With [`Required`](crate::ToolChoice::Required), the model may write text before the call. If the text reaches the token
///   limit, the answer ends with [`Length`](crate::FinishReason::Length) and without a call.
/// - An answer that starts like a call but is not a valid one is a status 500, and an error of kind
///   [`Unavailable`](crate::ErrorKind::Unavailable). It is retried, since the model writes a new answer.
/// - A prompt that exceeds the context is a [`ContextTooLong`](crate::ErrorKind::ContextTooLong). An image or audio that the
///   model does not support is also a status 500, and an `InvalidRequest`, which is not retried.
///
/// # Attachments
///
/// | Server | Images | PDF | Audio |
/// | --- | --- | --- | --- |
/// | DeepSeek | for [Flash](https://api-docs.deepseek.com/guides/vision): models with `flash` in their names | no | no |
/// | Groq | yes | no | no |
/// | llama.cpp, Ollama, vLLM | yes | no | yes |
/// | Mistral | yes | as [`document_url`](https://docs.mistral.ai/capabilities/document_ai/document_qna/) | yes |
/// | OpenAI, OpenRouter | yes | as `file` | yes |
///
/// Text files are sent as text to every server. A tool message can contain only text, so files of tool results follow in one
/// user message; Mistral gets them in the tool message. A type that a server does not support is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and no request is sent.
///
/// # Not supported
///
/// Server-side tools of these servers, such as OpenRouter's plugins, Groq's compound systems and Mistral's connectors; routing
/// among OpenRouter's providers, answer prefixes, citations, log probabilities. Send other fields of the request with
/// [`extra_body`](crate::Settings::extra_body).
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Model; pub use llm_do_providers as model; }
/// use llm_do::Model;
/// use llm_do::model::{ApiKey, OpenAiModel, Server};
///
/// let model = OpenAiModel::at(Server::Groq, "llama-3.3-70b-versatile").api_key(ApiKey::new("gsk_1")?).build()?;
/// assert_eq!(model.name(), "groq:llama-3.3-70b-versatile");
///
/// let local = OpenAiModel::at(Server::Ollama, "qwen3:8b").build()?;
/// assert_eq!(local.name(), "ollama:qwen3:8b");
/// # Ok::<_, llm_do_providers::ProviderError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Server {
    /// `deepseek:..`, at `https://api.deepseek.com`.
    DeepSeek,
    /// `groq:..`, at `https://api.groq.com/openai/v1`.
    Groq,
    /// `llama-cpp:..`, llama.cpp's own server, at `http://127.0.0.1:8080/v1`.
    LlamaCpp,
    /// `mistral:..`, at `https://api.mistral.ai/v1`.
    Mistral,
    /// `ollama:..`, at `http://127.0.0.1:11434/v1`.
    Ollama,
    /// `openai:..`, at `https://api.openai.com/v1`, or at any server with another base URL.
    OpenAi,
    /// `openrouter:..`, at `https://openrouter.ai/api/v1`.
    OpenRouter,
    /// `vllm:..`, at `http://127.0.0.1:8000/v1`.
    Vllm,
}

impl Server {
    /// Returns the prefix of the names of its models, such as `groq`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        self.dialect().server.provider
    }

    /// Returns the dialect of the server at `endpoint`; `OpenAi` with another host may be a known server.
    pub(super) fn dialect_at(self, endpoint: &Endpoint) -> &'static Dialect {
        if self != Self::OpenAi {
            return self.dialect();
        }
        let known = table::HOSTS.iter().find(|(host, _)| endpoint.is_at(host));
        known.map_or(&table::ELSEWHERE, |(_, dialect)| dialect)
    }

    pub(super) fn dialect(self) -> &'static Dialect {
        match self {
            Self::DeepSeek => &table::DEEPSEEK,
            Self::Groq => &table::GROQ,
            Self::LlamaCpp => &table::LLAMA_CPP,
            Self::Mistral => &table::MISTRAL,
            Self::Ollama => &table::OLLAMA,
            Self::OpenAi => &table::OPENAI,
            Self::OpenRouter => &table::OPENROUTER,
            Self::Vllm => &table::VLLM,
        }
    }
}
