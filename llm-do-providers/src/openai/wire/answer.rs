//! The JSON of answers, parsed leniently, since servers deviate from the documentation.

mod content;

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use smallvec::SmallVec;

pub(in crate::openai) use self::content::DeltaContent;
use crate::lenient::{JsonText, LenientCount, LenientObject, Word, boxed, index, object, text};
use crate::usage::ServiceTier;

/// A whole answer, or a chunk of a streamed one: they differ only in `message` and `delta`. Rare fields are boxed, so
/// that each struct has at most 128 bytes.
#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Chunk<'a> {
    pub(in crate::openai) object: Option<Object>,
    #[serde(borrow)]
    pub(in crate::openai) model: Option<Word<'a>>,
    pub(in crate::openai) choices: Option<FirstChoice<'a>>,
    #[serde(default)]
    pub(in crate::openai) service_tier: ReportedTier,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) usage: Option<Box<Tokens>>,
    pub(in crate::openai) error: Option<Box<Value>>,
    /// The code of an error of some servers, next to `object: "error"`.
    pub(in crate::openai) code: Option<Box<Value>>,
    #[serde(rename = "type")]
    pub(in crate::openai) kind: Option<Box<Value>>,
    pub(in crate::openai) message: Option<Box<Value>>,
    /// Groq's usage and error of a stream.
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) x_groq: Option<Box<Groq>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Groq {
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) usage: Option<Box<Tokens>>,
    pub(in crate::openai) error: Option<Box<Value>>,
}

/// The tier that processed a request; many servers name it in every piece.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::openai) struct ReportedTier(pub(in crate::openai) Option<ServiceTier>);

/// The type of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::openai) enum Object {
    Error,
    /// A whole answer, which some servers repeat at the end of its stream.
    Whole,
    Other,
}

/// The first choice; requests never ask for more.
#[derive(Debug)]
pub(in crate::openai) struct FirstChoice<'a>(pub(in crate::openai) Option<Choice<'a>>);

#[derive(Debug, Deserialize)]
pub(in crate::openai) struct Choice<'a> {
    #[serde(default, deserialize_with = "index")]
    index: Option<i64>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) delta: Option<Box<Delta>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) message: Option<Box<Delta>>,
    /// Kimi's usage of a stream.
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) usage: Option<Box<Tokens>>,
    #[serde(borrow)]
    finish_reason: Option<Box<Word<'a>>>,
    /// OpenRouter's fields: the finish reason of the server behind it, and the error of an answer.
    #[serde(borrow)]
    native_finish_reason: Option<Box<Word<'a>>>,
    pub(in crate::openai) error: Option<Box<Value>>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct Delta {
    pub(in crate::openai) content: Option<DeltaContent>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::openai) refusal: Option<Box<str>>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::openai) reasoning_content: Option<Box<str>>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::openai) reasoning: Option<Box<str>>,
    pub(in crate::openai) reasoning_details: Option<Box<Value>>,
    /// Nearly always one element.
    #[serde(default, deserialize_with = "calls")]
    pub(in crate::openai) tool_calls: Option<SmallVec<[ToolCallDelta; 1]>>,
    /// The older form of one tool call; some servers send it beside the newer one.
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::openai) function_call: Option<Box<FunctionDelta>>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct ToolCallDelta {
    #[serde(default, deserialize_with = "index")]
    pub(in crate::openai) index: Option<i64>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::openai) id: Option<String>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::openai) function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::openai) struct FunctionDelta {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::openai) name: Option<String>,
    /// A delta of JSON text; some servers send the JSON itself.
    pub(in crate::openai) arguments: Option<JsonText>,
}

impl Choice<'_> {
    /// Whether it has a finish reason or an error, as only the last chunk does.
    pub(in crate::openai) fn ends(&self) -> bool {
        self.finish_reason.is_some() || self.native_finish_reason.is_some() || self.error.is_some()
    }

    /// Returns the finish reason, if it is present.
    pub(in crate::openai) fn finish_reason(&self) -> Option<&str> {
        self.finish_reason.as_deref().map(Word::as_str)
    }

    /// Returns the finish reason of the server behind the requested one, if it is present.
    pub(in crate::openai) fn native_finish_reason(&self) -> Option<&str> {
        self.native_finish_reason.as_deref().map(Word::as_str)
    }

    /// Whether it ends with the Gemini API's reason for a call of a tool that was not offered.
    pub(in crate::openai) fn is_unexpected_call(&self) -> bool {
        let words = [self.finish_reason(), self.native_finish_reason()];
        words.into_iter().flatten().any(|word| word.eq_ignore_ascii_case("unexpected_tool_call"))
    }

    /// Whether it has a call with a name.
    pub(in crate::openai) fn has_call(&self) -> bool {
        self.delta.iter().chain(&self.message).any(|delta| delta.has_call())
    }
}

impl Delta {
    fn has_call(&self) -> bool {
        let calls = self.tool_calls.iter().flatten().filter_map(|call| call.function.as_ref());
        calls.chain(self.function_call.as_deref()).any(|function| !is_blank(function.name.as_deref()))
    }
}

impl ToolCallDelta {
    /// Returns the name of its tool; empty if it is missing.
    pub(in crate::openai) fn name(&self) -> &str {
        self.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default()
    }

    /// Whether it is empty: some servers write out optional fields that they do not use.
    pub(in crate::openai) fn is_empty(&self) -> bool {
        is_blank(self.id.as_deref()) && self.function.as_ref().is_none_or(FunctionDelta::is_empty)
    }
}

impl FunctionDelta {
    /// Whether it is empty.
    pub(in crate::openai) fn is_empty(&self) -> bool {
        is_blank(self.name.as_deref()) && self.arguments.as_ref().is_none_or(JsonText::is_empty)
    }
}

fn is_blank(text: Option<&str>) -> bool {
    text.is_none_or(str::is_empty)
}

#[derive(Clone, Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
pub(in crate::openai) struct Tokens {
    #[serde(default)]
    pub(in crate::openai) prompt_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::openai) completion_tokens: LenientCount,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::openai) prompt_tokens_details: Option<PromptDetails>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::openai) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's count; other servers have `prompt_tokens_details`.
    #[serde(default)]
    pub(in crate::openai) prompt_cache_hit_tokens: LenientCount,
    /// Kimi's count.
    #[serde(default)]
    pub(in crate::openai) cached_tokens: LenientCount,
}

impl Tokens {
    /// Updates the counts with newer ones, which include the older ones.
    pub(in crate::openai) fn update(&mut self, newer: Self) {
        self.prompt_tokens.update(newer.prompt_tokens);
        self.completion_tokens.update(newer.completion_tokens);
        self.prompt_cache_hit_tokens.update(newer.prompt_cache_hit_tokens);
        self.cached_tokens.update(newer.cached_tokens);
        if let Some(newer) = newer.prompt_tokens_details {
            let details = self.prompt_tokens_details.get_or_insert_default();
            details.cached_tokens.update(newer.cached_tokens);
            details.cache_write_tokens.update(newer.cache_write_tokens);
            details.audio_tokens.update(newer.audio_tokens);
        }
        if let Some(newer) = newer.completion_tokens_details {
            let details = self.completion_tokens_details.get_or_insert_default();
            details.reasoning_tokens.update(newer.reasoning_tokens);
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
pub(in crate::openai) struct PromptDetails {
    #[serde(default)]
    pub(in crate::openai) cached_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::openai) cache_write_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::openai) audio_tokens: LenientCount,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::openai) struct CompletionDetails {
    #[serde(default)]
    pub(in crate::openai) reasoning_tokens: LenientCount,
}

impl<'de> Deserialize<'de> for ReportedTier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Option::<Word<'de>>::deserialize(deserializer)?;
        let name = word.as_ref().map(Word::as_str).filter(|name| !name.is_empty());
        Ok(Self(name.map(ServiceTier::parse)))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Word::deserialize(deserializer)?;
        Ok(match word.as_str() {
            "error" => Self::Error,
            "chat.completion" => Self::Whole,
            _ => Self::Other,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstChoiceVisitor)
    }
}

struct FirstChoiceVisitor;

impl<'de> Visitor<'de> for FirstChoiceVisitor {
    type Value = FirstChoice<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut choices: A) -> Result<FirstChoice<'de>, A::Error> {
        let mut chosen = None;
        while let Some(LenientObject(choice)) = choices.next_element::<LenientObject<Choice<'de>>>()? {
            if chosen.is_none() {
                chosen = choice.filter(|choice| choice.index.is_none_or(|index| index == 0));
            }
        }
        Ok(FirstChoice(chosen))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<FirstChoice<'de>, A::Error> {
        Choice::deserialize(MapAccessDeserializer::new(fields)).map(|choice| FirstChoice(Some(choice)))
    }
}

/// Reads a list of call deltas, or a single one.
fn calls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SmallVec<[ToolCallDelta; 1]>>, D::Error> {
    deserializer.deserialize_any(CallsVisitor)
}

struct CallsVisitor;

impl<'de> Visitor<'de> for CallsVisitor {
    type Value = Option<SmallVec<[ToolCallDelta; 1]>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of calls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut calls = SmallVec::new();
        while let Some(LenientObject(call)) = items.next_element::<LenientObject<ToolCallDelta>>()? {
            calls.extend(call);
        }
        Ok(Some(calls))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        let call = ToolCallDelta::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(Some(SmallVec::from_iter([call])))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() { Ok(None) } else { Err(E::invalid_type(Unexpected::Str(text), &self)) }
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
