//! JSON schemas in the dialects of those who follow them: what the dialects have in common.
//!
//! A dialect is a subset of JSON Schema. On the way to it, references, `allOf` and what stands beside alternatives are put
//! together, so that the dialect itself sees keywords that stand alone.

#[cfg(any(feature = "gemini", feature = "openai"))]
mod both;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) mod definitions;
#[cfg(all(test, any(feature = "gemini", feature = "openai")))]
pub(crate) mod multiplying;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) mod note;
pub(crate) mod pointer;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) mod reference;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) mod shape;
#[cfg(all(test, any(feature = "gemini", feature = "openai")))]
pub(crate) mod small;
#[cfg(any(feature = "gemini", feature = "local", feature = "openai"))]
mod unsaid;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod walk;

#[cfg(feature = "local")]
pub(crate) use self::unsaid::check;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::unsaid::{UNSAYABLE, Unsaid};
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::walk::{Dialect, Properties, REMARKS, Walk};
