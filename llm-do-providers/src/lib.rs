//! Model providers of llm-do: messages, the [`Model`] trait, settings, usage, prices and the providers.
//!
//! This crate contains neither tools nor the runtime. Applications depend on `llm-do`, which re-exports its public items.
//!
//! | Models | Feature | Environment |
//! | --- | --- | --- |
//! | `anthropic:MODEL`: `AnthropicModel`, for Claude and any server that speaks the Messages API | `anthropic` | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` |
//! | `openai:MODEL`: `OpenAiModel`, for any server that speaks chat completions | `openai` | `OPENAI_API_KEY`, `OPENAI_BASE_URL` |
//! | `deepseek:`, `groq:`, `llama-cpp:`, `mistral:`, `ollama:`, `openrouter:` and `vllm:MODEL`: `OpenAiModel`, for a `Server` that is known by name | `openai` | those of the server, such as `GROQ_API_KEY`, `GROQ_BASE_URL` |
//! | `openai-responses:MODEL`: `OpenAiResponsesModel`, OpenAI's Responses API | `openai` | `OPENAI_API_KEY`, `OPENAI_BASE_URL` |
//! | `gemini:MODEL`: `GeminiModel`, Google's Gemini API | `gemini` | `GEMINI_API_KEY` or `GOOGLE_API_KEY`, `GEMINI_BASE_URL` |
//! | `local:MODEL`, `local:PATH.gguf`: `LocalModel`, inside the process | `local` | `LLM_DO_LOCAL_WEIGHTS` |
//! | `local:OWNER/REPO/FILE.gguf`: `LocalModel`, with a file from the Hugging Face Hub | `local-download` | `HF_TOKEN`, `HF_HOME`, `HF_ENDPOINT`, `HF_HUB_OFFLINE` |
//! | `test:ANY`: `TestModel`; `FunctionModel`, `ScriptedModel`, `ReplayModel` | `testing` | none |
//!
//! # On the network
//!
//! All models on the network share one HTTP client for each tokio runtime. It keeps connections open, and uses HTTP/2 where a
//! server supports it. It follows no redirects, which could send prompts to an address that is not configured. Connections
//! close with the runtime that opened them, so do not create a runtime for each request. The clients of the 16 runtimes that
//! sent a request last are kept.
//!
//! A user and a password in a base URL, `https://user:password@host/v1`, are sent as HTTP basic authentication, unless a key or
//! a header of [`Settings::extra_headers`] is sent as `authorization`. `Debug` and errors show only the scheme, host and port
//! of a base URL.
//!
//! | Limit | Default | Set by |
//! | --- | --- | --- |
//! | Time to connect | 10 s | |
//! | Time for a whole answer, for each attempt | 600 s | `timeout` of the model's builder; [`Settings::timeout`] has precedence |
//! | Time for a streamed answer, for each attempt | 3,600 s | `stream_timeout` of the builder |
//! | Time until the head of a streamed answer, and until each next piece | 120 s | `idle_timeout` of the builder; [`Settings::timeout`] has precedence |
//! | Retries of a failure that may be temporary | 2 | `retries` of the builder |
//! | Size of an answer | 16 MiB, streamed 256 MiB | |
//! | Parts of an answer | 4,096 | |
//!
//! These failures are retried:
//!
//! - a connection that fails, breaks or times out;
//! - the statuses 408, 409, 429, 498 and 5xx, except for a used-up quota or credit;
//! - an error in place of an answer of kind [`RateLimited`](ErrorKind::RateLimited), [`Overloaded`](ErrorKind::Overloaded) or
//!   [`Unavailable`](ErrorKind::Unavailable);
//! - a tool call that the server could not parse, since the model writes a new one.
//!
//! An answer that times out is not retried: it is an [`ErrorKind::Timeout`]. If a server sends `x-should-retry`, that decides.
//!
//! The delay before a retry is that of `retry-after-ms` or `Retry-After`, of Google's `RetryInfo`, or of
//! `x-ratelimit-reset-requests` and `-tokens` if nothing remains. A delay of more than 60 s is not waited for: the error is
//! reported immediately. Without these, the delay is half a second, doubled with each attempt up to 8 s, with random jitter.
//!
//! A stream starts immediately, so that all failures are items of the stream, and each delay is a [`StreamEvent::Waiting`]. A
//! stream is retried only before its first event reaches the caller, including when it breaks before that or ends normally
//! without content. A stream that ends without an event of the protocol is an error that is not retried: the server may use
//! another protocol.
//!
//! [`Settings::extra_body`] replaces whole fields of the same name, and [`Settings::extra_headers`] replace headers of the same
//! name, including that of the key.

#[cfg(feature = "anthropic")]
mod anthropic;
mod attachment;
#[cfg(feature = "http")]
#[cfg_attr(
    not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, reason = "downloads have no batches")
)]
mod batch;
#[cfg_attr(
    not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, reason = "only models of these providers have batches")
)]
mod batched;
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
pub use self::batched::BatchedRequest;
#[doc(hidden)]
pub use self::batched::{BatchProgress, BatchTicket, SubmittedRequest, finish_cancellations};
pub use self::capability::{CapabilityEntry, CapabilityTable, CapabilityTableError, WindowEntry};
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
    ContextWindow, Model, OutputSchema, Profile, Request, RequestHint, ResponseStream, StreamEvent, ToolChoice,
    ToolSpec, Transcript, replay,
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
