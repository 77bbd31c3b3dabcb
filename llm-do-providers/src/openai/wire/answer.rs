//! Answers, which take whatever servers really send.

use std::borrow::Cow;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A whole answer, or a piece of a streamed one: they differ in `message` and `delta` only.
#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Chunk<'a> {
    #[serde(borrow)]
    pub(in crate::openai) object: Option<Word<'a>>,
    pub(in crate::openai) model: Option<Word<'a>>,
    pub(in crate::openai) choices: Option<Vec<Choice<'a>>>,
    pub(in crate::openai) usage: Option<Tokens>,
    pub(in crate::openai) error: Option<Value>,
    /// Where some servers put an error's code, beside `object: "error"`.
    pub(in crate::openai) code: Option<Value>,
    #[serde(rename = "type")]
    pub(in crate::openai) kind: Option<Value>,
    pub(in crate::openai) message: Option<Value>,
    /// Where Groq puts the figures of a stream, and why it stopped early.
    pub(in crate::openai) x_groq: Option<Groq>,
}

#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Groq {
    pub(in crate::openai) usage: Option<Tokens>,
    pub(in crate::openai) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Choice<'a> {
    pub(in crate::openai) index: Option<i64>,
    pub(in crate::openai) delta: Option<Delta>,
    pub(in crate::openai) message: Option<Delta>,
    #[serde(borrow)]
    pub(in crate::openai) finish_reason: Option<Word<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct Delta {
    pub(in crate::openai) content: Option<Content>,
    pub(in crate::openai) refusal: Option<String>,
    pub(in crate::openai) reasoning_content: Option<String>,
    pub(in crate::openai) reasoning: Option<String>,
    pub(in crate::openai) reasoning_details: Option<Value>,
    pub(in crate::openai) tool_calls: Option<Vec<CallPiece>>,
    /// The older form of one tool call; some servers send it beside the newer one.
    pub(in crate::openai) function_call: Option<FunctionPiece>,
}

/// A text, whatever its shape: some servers send a list of parts, and thoughts among them.
#[derive(Debug, Default)]
pub(in crate::openai) struct Content {
    pub(in crate::openai) text: String,
    pub(in crate::openai) thoughts: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct CallPiece {
    pub(in crate::openai) index: Option<i64>,
    pub(in crate::openai) id: Option<String>,
    pub(in crate::openai) function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct FunctionPiece {
    pub(in crate::openai) name: Option<String>,
    /// A piece of JSON text; the JSON itself with some servers.
    pub(in crate::openai) arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
pub(in crate::openai) struct Tokens {
    pub(in crate::openai) prompt_tokens: Option<Value>,
    pub(in crate::openai) completion_tokens: Option<Value>,
    pub(in crate::openai) prompt_tokens_details: Option<PromptDetails>,
    pub(in crate::openai) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's, for what others have in the details.
    pub(in crate::openai) prompt_cache_hit_tokens: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct PromptDetails {
    pub(in crate::openai) cached_tokens: Option<Value>,
    pub(in crate::openai) cache_write_tokens: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct CompletionDetails {
    pub(in crate::openai) reasoning_tokens: Option<Value>,
}

/// A word that is looked at and dropped, and so borrowed; serde would copy a `Cow` in an `Option`.
#[derive(Debug)]
pub(in crate::openai) struct Word<'a>(Cow<'a, str>);

impl Word<'_> {
    pub(in crate::openai) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Word(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Word(text.to_owned().into()))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content { text: text.to_owned(), thoughts: Vec::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut content = Content::default();
        while let Some(part) = parts.next_element::<Value>()? {
            if part["type"] == "thinking" {
                content.thoughts.push(part);
            } else {
                content.text += part["text"].as_str().unwrap_or_default();
            }
        }
        Ok(content)
    }
}
