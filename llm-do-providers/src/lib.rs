//! The wire of llm-do: messages, the [`Model`] trait, settings, usage and the providers.
//!
//! This crate knows nothing of Rust functions as tools, nor of the runtime; applications depend on `llm-do`, which
//! re-exports what they need of it.
//!
//! | Models | Feature | Environment |
//! | --- | --- | --- |
//! | `anthropic:MODEL`: `AnthropicModel`, for Claude and any server that speaks the Messages API | `anthropic` | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` |
//! | `openai:MODEL`: `OpenAiModel`, for any server that speaks chat completions | `openai` | `OPENAI_API_KEY`, `OPENAI_BASE_URL` |
//! | `deepseek:`, `groq:`, `llama-cpp:`, `mistral:`, `ollama:`, `openrouter:` and `vllm:MODEL`: the same, at a `Server` that is known by name | `openai` | each its own, such as `GROQ_API_KEY`, `GROQ_BASE_URL` |
//! | `openai-responses:MODEL`: `OpenAiResponsesModel`, for what OpenAI's models can do there alone | `openai` | the same |
//! | `gemini:MODEL`: `GeminiModel`, Google's Gemini API | `gemini` | `GEMINI_API_KEY` or `GOOGLE_API_KEY`, `GEMINI_BASE_URL` |
//! | `local:MODEL`, `local:PATH.gguf`: `LocalModel`, inside the process | `local` | `LLM_DO_LOCAL_WEIGHTS` |
//! | `local:OWNER/REPO/FILE.gguf`: the same, with a file of the Hugging Face Hub | `local-download` | `HF_TOKEN`, `HF_HOME`, `HF_ENDPOINT`, `HF_HUB_OFFLINE` |
//! | `test:ANY`: `TestModel`; `FunctionModel`, `ScriptedModel`, `ReplayModel` | `testing` | none |
//!
//! # On the network
//!
//! All models on the network are asked by one client for each tokio runtime, which keeps connections, and speaks HTTP/2 where a
//! server supports it. It follows no redirect, which would carry prompts to an address that is not configured. Connections
//! end with the runtime that opened them: to make a runtime for each request is to connect for each. The 16 that asked last
//! keep theirs.
//!
//! A user and a password in a base URL, `https://user:password@host/v1`, are sent as HTTP basic authentication, unless a key, or
//! a header of [`Settings::extra_headers`], is sent as `authorization`. No `Debug` and no error shows more of a base URL than
//! scheme, host and port.
//!
//! | | Default | Set by |
//! | --- | --- | --- |
//! | A connection comes about | within 10 s | |
//! | A whole answer, for each attempt | within 600 s | `timeout` of the model's builder; [`Settings::timeout`] has precedence |
//! | The end of a streamed answer, for each attempt | within 3,600 s | `stream_timeout` of the builder |
//! | The head of a streamed answer comes, and then each next piece | within 120 s | `idle_timeout` of the builder; [`Settings::timeout`] goes before it |
//! | A failure that may pass is tried again | twice | `retries` of the builder |
//! | An answer is no longer than | 16 MiB whole, 256 MiB streamed | |
//! | An answer has at most | 4,096 parts | |
//!
//! A connection that fails or breaks is retried, and so are the statuses 408, 409, 429, 498 and 5xx, and an error in place of an
//! answer that is of such a kind: [`RateLimited`](ErrorKind::RateLimited), [`Overloaded`](ErrorKind::Overloaded) or
//! [`Unavailable`](ErrorKind::Unavailable). A call that the server could not parse is retried too, as the model writes a new one. A quota or
//! a credit that is used up is not. `x-should-retry` has precedence, where a server sends it. The delay is that of
//! `retry-after-ms` or `Retry-After`, of Google's `RetryInfo`, or of `x-ratelimit-reset-requests` and `-tokens` where nothing
//! remains, up to 60 s; a longer one is reported immediately. Otherwise it is half a second, doubled with each
//! attempt up to 8 s, with random jitter. A connection that times out is retried; an answer that times out is not, and is an
//! [`ErrorKind::Timeout`].
//!
//! A stream starts immediately, so that all failures are items of it, and each wait is a [`StreamEvent::Waiting`]. It is
//! retried only while nothing of the answer has arrived: also when it breaks before that, or ends normally without
//! content. An end without an event of the protocol is reported immediately, as the server may speak another protocol.
//!
//! [`Settings::extra_body`] goes over fields of the same name, as a whole, and [`Settings::extra_headers`] over headers of the
//! same name, that of the key included.

#[cfg(feature = "anthropic")]
mod anthropic;
mod attachment;
mod capability;
mod catalog;
mod dated_rows;
mod error;
#[cfg(feature = "http")]
#[cfg_attr(
    not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, unused_macros, reason = "downloads need but a part of it")
)]
mod exchange;
mod fallback;
#[cfg(all(fuzzing, feature = "anthropic", feature = "gemini", feature = "openai"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "http")]
#[cfg_attr(
    not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, unused_macros, reason = "downloads need but a part of it")
)]
mod http;
#[cfg(feature = "http")]
#[cfg_attr(
    not(all(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, reason = "each protocol reads its own part")
)]
mod lenient;
mod limited;
#[cfg(feature = "local")]
mod local;
mod message;
mod model;
mod model_pattern;
#[cfg(feature = "openai")]
mod openai;
mod price;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod programs;
mod response;
#[cfg(feature = "openai")]
mod responses;
#[cfg(feature = "http")]
mod retry;
mod schema;
mod secret;
#[cfg_attr(
    not(all(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, reason = "each provider on the network needs its own part")
)]
mod sent_history;
mod server_side;
mod settings;
#[cfg(feature = "testing")]
mod testing;
#[cfg(test)]
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod tests;
mod usage;

#[cfg(feature = "anthropic")]
pub use self::anthropic::{AnthropicBuilder, AnthropicModel};
pub use self::attachment::Attachment;
#[doc(hidden)]
pub use self::attachment::{FoundFile, find_files, found_path};
pub use self::capability::{CapabilityEntry, CapabilityTable, CapabilityTableError};
#[doc(hidden)]
pub use self::catalog::is_registered_by_program;
pub use self::catalog::{ModelProvider, check_model_name, model, model_with, provider_collisions, unknown_model};
pub use self::error::{ErrorKind, ProviderError};
pub use self::fallback::FallbackModel;
#[cfg(feature = "gemini")]
pub use self::gemini::{GeminiBuilder, GeminiModel};
#[cfg(feature = "http")]
#[doc(hidden)]
pub use self::http::set_user_agent;
pub use self::limited::LimitedModel;
#[cfg(feature = "local")]
pub use self::local::{FetchProgress, LocalBuilder, LocalModel};
pub use self::message::{
    FinishReason, Message, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall, ToolResult, UserPart,
};
pub use self::model::{
    Model, OutputSchema, Profile, Request, RequestHint, ResponseStream, StreamEvent, ToolChoice, ToolSpec, Transcript,
    replay,
};
#[cfg(feature = "openai")]
pub use self::openai::{OpenAiBuilder, OpenAiModel, Server};
pub use self::price::{Charge, Money, MoneyError, Price, PriceEntry, PriceTable, PriceTableError, Unpriced};
pub use self::response::{Response, SettingWarning};
#[cfg(feature = "openai")]
pub use self::responses::{OpenAiResponsesBuilder, OpenAiResponsesModel};
#[doc(hidden)]
pub use self::schema::{Draft, modern_schema};
pub use self::secret::ApiKey;
pub use self::server_side::{ServerSideTool, WebSearch};
pub use self::settings::{ExtraHeaders, Settings, ThinkingLevel};
#[cfg(feature = "testing")]
pub use self::testing::{
    Answer, FunctionModel, RecordedRequest, ReplayModel, ScriptedModel, TestModel, forbid_requests,
};
pub use self::usage::Usage;

#[doc(hidden)]
pub use inventory;
