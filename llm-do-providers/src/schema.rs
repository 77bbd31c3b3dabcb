//! Translates JSON schemas to the dialects of providers: a module for each dialect, and the code that they share.
//!
//! A dialect is a subset of JSON Schema. Before a schema is translated, references, `allOf` and the keywords next to
//! alternatives are merged, so that a dialect handles each keyword separately.

#[cfg(feature = "anthropic")]
pub(crate) mod anthropic;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
mod cache;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod definitions;
mod draft;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod flatten;
#[cfg(feature = "gemini")]
pub(crate) mod gemini;
#[cfg(feature = "openai")]
pub(crate) mod llama_cpp;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod merge;
mod modern;
#[cfg(feature = "anthropic")]
mod names;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
mod note;
#[cfg(feature = "openai")]
pub(crate) mod openai_strict;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
pub(crate) mod pointer;
#[cfg(any(feature = "anthropic", feature = "openai"))]
mod portable;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod reference;
#[cfg(all(test, any(feature = "gemini", feature = "openai")))]
mod samples;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod shape;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) mod tool;
#[cfg(any(feature = "gemini", feature = "local", feature = "openai"))]
mod unsupported;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod walk;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod weaker;

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
pub(crate) use self::cache::SchemaCache;
pub use self::draft::Draft;
pub use self::modern::modern_schema;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::unsupported::UNSUPPORTED_KEYWORDS;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::unsupported::Unsupported;
#[cfg(feature = "local")]
pub(crate) use self::unsupported::{check, in_words};
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::walk::{Properties, REMARKS, SchemaDialect, Walk};
