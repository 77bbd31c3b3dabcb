//! JSON schemas in the dialects of those who follow them: a module for each dialect, and what the dialects have in common.
//!
//! A dialect is a subset of JSON Schema. On the way to it, references, `allOf` and what stands beside alternatives are put
//! together, so that the dialect itself sees keywords that stand alone.

#[cfg(feature = "anthropic")]
pub(crate) mod anthropic;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod cache;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod definitions;
#[cfg(feature = "gemini")]
pub(crate) mod gemini;
#[cfg(feature = "openai")]
pub(crate) mod llama_cpp;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod merge;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod note;
#[cfg(feature = "openai")]
pub(crate) mod openai_strict;
pub(crate) mod pointer;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod reference;
#[cfg(all(test, any(feature = "gemini", feature = "openai")))]
mod samples;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod shape;
#[cfg(any(feature = "gemini", feature = "local", feature = "openai"))]
mod unsupported;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod walk;

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) use self::cache::SchemaCache;
#[cfg(feature = "local")]
pub(crate) use self::unsupported::check;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::unsupported::{UNSUPPORTED_KEYWORDS, Unsupported};
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::walk::{Dialect, Properties, REMARKS, Walk};
