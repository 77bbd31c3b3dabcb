//! Models: the clients of providers against servers, wrappers, and test models.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[allow(dead_code, reason = "each provider uses some of it")]
mod converted;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod each_setting;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "openai")]
mod llama_cpp;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod oddities;
#[cfg(feature = "openai")]
mod openai;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[allow(dead_code, reason = "each provider uses some of it")]
mod question;
#[cfg(feature = "testing")]
mod replay;
#[cfg(feature = "openai")]
mod responses;
#[cfg(feature = "testing")]
mod scripted;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[allow(dead_code, reason = "each provider uses some of it")]
mod server;
#[cfg(feature = "openai")]
mod tls;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod tool_schemas;
#[cfg(feature = "testing")]
mod wrappers;
