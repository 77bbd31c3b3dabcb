//! The servers that are known by name.

mod table;

#[cfg(test)]
pub(super) use self::table::ELSEWHERE;
pub(crate) use self::table::OPENAI_SERVER;
use super::dialect::Dialect;
use crate::http::Endpoint;

/// A server that speaks chat completions, known by its name: [`OpenAiModel::at`](crate::OpenAiModel::at) asks its models.
///
/// In the catalog, its models are `PREFIX:MODEL`, with the model's own name whole: `openrouter:openai/gpt-5-mini`,
/// `ollama:qwen3:8b`. That reads the variables; a builder reads none.
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
/// llama.cpp, Ollama and vLLM need no key, and are sent one that is set. A base URL is what `/chat/completions` follows.
///
/// A model `openai:..` at the host of one of these servers gets the requests of that server, with OpenAI's variables: with
/// `OPENAI_BASE_URL` set to `https://api.deepseek.com`, `openai:deepseek-v4-pro` is the same as `deepseek:deepseek-v4-pro` but for
/// its name and its key. Kimi, at `api.moonshot.ai` and `api.moonshot.cn`, is known in this way alone.
///
/// # Settings
///
/// A server gets only what it has a place for; what is left out, or goes as the nearest value, is a
/// [warning](crate::Response::warnings) of the answer:
///
/// | | `max_tokens` goes as | `seed` | penalties | `parallel_tool_calls` | `service_tier` |
/// | --- | --- | --- | --- | --- | --- |
/// | DeepSeek | `max_tokens` | no | yes | no | no |
/// | Groq | `max_completion_tokens` | yes | no | yes | yes |
/// | llama.cpp, vLLM | `max_tokens` | yes | yes | yes | no |
/// | Mistral | `max_tokens` | as `random_seed` | yes | yes | no |
/// | Ollama | `max_tokens` | yes | yes | no | no |
/// | OpenAI | `max_completion_tokens`; with another base URL `max_tokens`, but for models of OpenAI's that think | yes |
//yes | yes | yes |
/// | OpenRouter | `max_tokens` | yes | yes | yes | yes |
///
/// `cache_prompt` goes to OpenRouter, as
/// [`cache_control`](https://openrouter.ai/docs/client-sdks/typescript/models/anthropiccachecontroldirective); the other servers
/// cache by themselves, or not.
///
/// Of OpenAI's models, those that think [take no](https://developers.openai.com/api/docs/guides/reasoning) `temperature`,
/// `top_p` and penalties while they do; the GPT-4o that searches takes none of these, and the o-series no
/// `parallel_tool_calls`. [`stop`](https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop) goes to all but
/// `o3`, `o4-mini`, and GPT-5 and newer. These are left out then where a model is asked as `openai:..`, at any base URL. As
/// `openrouter:openai/..` it is sent all that is set.
///
/// What a model takes, by its name, is in the [capabilities](crate::CapabilityTable), which you can extend for a model that is
/// newer than this crate.
///
/// # Thinking
///
/// [Levels](crate::ThinkingLevel) go in the words that a model has, as the nearest one. Without a level nothing is sent, and
/// the model does as it does.
///
/// | | A level goes as | Thoughts come as | and go back |
/// | --- | --- | --- | --- |
/// | [DeepSeek](https://api-docs.deepseek.com/guides/thinking_mode) | `thinking`, and `reasoning_effort`: `low`, `high` | `reasoning_content` | as that, with every answer; one without a thought has it empty, since a missing one is refused |
/// | [Groq](https://console.groq.com/docs/reasoning) | `reasoning_effort`, to `gpt-oss` and `qwen3`; the latter is asked for `reasoning_format: parsed` | `reasoning` | as that, to the same model, since those that do not think refuse it |
/// | llama.cpp | `reasoning_effort`; `none` is `off` | `reasoning_content` | as that, to the same model, whose template uses it or not |
/// | [Mistral](https://docs.mistral.ai/capabilities/reasoning/) | `reasoning_effort`, to Large 4, Medium 3.5 and Small 4 | chunks of the content | as they came |
/// | Ollama | `reasoning_effort` | `reasoning` | as that, to the same model |
/// | Kimi | `reasoning_effort` | `reasoning_content` | as that, with every answer; one without a thought has a space, since a missing one is refused |
/// | OpenAI | `reasoning_effort` | not; at another base URL as `reasoning_content` or `reasoning` | not sent back |
/// | [OpenRouter](https://openrouter.ai/docs/use-cases/reasoning-tokens) | `reasoning`, with `effort` or `max_tokens` | `reasoning`, `reasoning_details` | the details, as they came, to the same model |
/// | [vLLM](https://docs.vllm.ai/en/latest/features/reasoning_outputs/) | `reasoning_effort` or `thinking_token_budget`, and `chat_template_kwargs`: `enable_thinking`, `thinking` | `reasoning`, or `reasoning_content` as it was first | as they came, to the same model |
///
/// A server gets only its own thoughts back. Over chat completions, OpenAI's GPT-5.4 to 5.6, GPT-6 Sol,
/// GPT-6 Luna and GPT-6.1 Terra refuse to think beside tools: with tools their effort is `none`. GPT-6 Astra, GPT-6.1 Sol and
/// GPT-6.2 Sol cannot but think, and tools for them are refused before anything is sent to OpenAI.
/// [`OpenAiResponsesModel`](crate::OpenAiResponsesModel) has both.
///
/// # Tools and structured output
///
/// | | Choice of a tool | [Profile](crate::Profile): schema of the answer |
/// | --- | --- | --- |
/// | DeepSeek | not forced while the model thinks: it chooses then | no; where a profile has native output, in the
//instructions, with `json_object` |
/// | Kimi | as with DeepSeek | as OpenAI |
/// | Groq | as OpenAI | no: it [takes one](https://console.groq.com/docs/structured-outputs) only without tools and without a stream |
/// | llama.cpp | one by name is offered alone | yes, without tools; [as a grammar](#llamacpp), and in words |
/// | Mistral | `any` for `required` | yes, without tools |
/// | Ollama | not supported: a tool by name is the only one offered, and for `none` no tool is offered | yes, without
//tools; as with llama.cpp, whose grammars it makes |
/// | OpenAI | `required`, `none`, or by name | from GPT-4o of 2024-08 on, but not `chatgpt-4o`; of names that are not known, yes |
/// | OpenRouter | as OpenAI, but a Claude that is asked to think chooses: forced, it would not think | with `openai/..` as
//there, but not `gpt-oss`; with `google/gemini..` without tools; otherwise no |
/// | vLLM | as OpenAI | yes, without tools; unchanged |
///
/// Mistral takes only ids of calls that have nine letters or digits; any other is hashed to nine. It takes no
/// message of the user's right after the results of calls: an answer `(no answer)` is put between. Both hold wherever a model
/// has a name of Mistral's, such as `openrouter:mistralai/..`. To every server, an answer without words and calls goes as
/// `(no answer)`, since some refuse an empty one.
///
/// # llama.cpp
///
/// Its server makes [grammars](https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md) of the schemas of answers and
/// of tools' arguments, passes over what a grammar leaves out, and shows the model no schema of an answer. So the schema
/// of an answer is sent in words as well, as [Ollama asks for](https://docs.ollama.com/capabilities/structured-outputs), and
/// schemas go in a form of which the grammar keeps as much as it can:
///
/// | | |
/// | --- | --- |
/// | Enforced by the grammar | types, `const`, `enum`, properties (only the named ones where some are named, unless
//`additionalProperties` allows more), the number of items, the length of texts, the bounds of whole numbers, the formats
//`date`, `time`, `date-time` and `uuid`, references, and recursive types |
/// | In another form | `oneOf` and `allOf`, what stands beside alternatives and references, `true` and empty schemas, tuples (of all their items), widths of integers, optional properties that no value fits (they go), and patterns of classes, groups and repetitions; a `"` or a `\\` is never written by one |
/// | Only in words | `uniqueItems`, `not` of values, `multipleOf`, bounds of other numbers, the number of properties and
//their names, other formats and patterns, limits above 1000 |
/// | An [`InvalidRequest`](crate::ErrorKind::InvalidRequest) with the path, and no request | `if`, `contains`,
//`dependentRequired` and similar keywords, pattern properties next to other properties, bounds that allow no value (they
//crash the server), names of other than letters and digits next to undeclared properties |
///
/// Ollama, which makes the same grammars, makes none for tools: their schemas go to it unchanged.
///
/// What else to know of the server, as of its build 11549:
///
/// - Tools need a chat template that supports them. Any other template drops them, and the model sees no tools.
/// - [`Required`](crate::ToolChoice::Required) lets a text precede the call, which may last until the token limit: the
///   answer ends with
///   [`Length`](crate::FinishReason::Length), and without a call.
/// - An answer that begins like a call and is not a valid one is a status 500, and an error of kind
///   [`Unavailable`](crate::ErrorKind::Unavailable): it is retried like other failures, since the model writes a new one.
/// - A prompt that is longer than the context is a [`ContextTooLong`](crate::ErrorKind::ContextTooLong). An image or a sound that
///   the model does not read is a status 500 too, and an `InvalidRequest` that is not tried again.
///
/// # Attachments
///
/// | | Images | PDF | Audio |
/// | --- | --- | --- | --- |
/// | DeepSeek | to [Flash](https://api-docs.deepseek.com/guides/vision): models with `flash` in their names | no | no |
/// | Groq | yes | no | no |
/// | llama.cpp, Ollama, vLLM | yes | no | yes |
/// | Mistral | yes | as [`document_url`](https://docs.mistral.ai/capabilities/document_ai/document_qna/) | yes |
/// | OpenAI, OpenRouter | yes | as `file` | yes |
///
/// Text goes as text everywhere. Files of tools' results follow in one user's message, because a tool's message takes only
/// text; with Mistral they stand in it. What a server does not take is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest), and nothing is sent.
///
/// # Not supported
///
/// Tools that these servers run, such as OpenRouter's plugins, Groq's compound systems and Mistral's connectors; routing among
/// providers of OpenRouter, prefixes of answers, citations, logarithms of probabilities. What is a field of the request can be
/// set by [`extra_body`](crate::Settings::extra_body).
///
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
    /// `openai:..`, at `https://api.openai.com/v1`; with another base URL, whichever server is there.
    OpenAi,
    /// `openrouter:..`, at `https://openrouter.ai/api/v1`.
    OpenRouter,
    /// `vllm:..`, at `http://127.0.0.1:8000/v1`.
    Vllm,
}

impl Server {
    /// Returns what the names of its models begin with, such as `groq`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        self.dialect().server.provider
    }

    /// Returns the dialect of the server at `endpoint`: if it was not named, by its host.
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
