//! The JSON of answers, parsed leniently, since servers deviate from the documentation.
//!
//! By <https://platform.claude.com/docs/en/api/messages/create> and
//! <https://platform.claude.com/docs/en/build-with-claude/streaming>.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient::{JsonText, LenientCount, Word, boxed, index, list, object, text};

/// A raw block; its type determines its fields.
pub(in crate::anthropic) type RawBlock = Map<String, Value>;

/// A whole answer, or the start of a streamed one.
#[derive(Debug, Deserialize)]
pub(in crate::anthropic) struct MessageBody {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) model: Option<String>,
    /// The blocks; some servers send a string instead of a block.
    #[serde(default, deserialize_with = "list")]
    pub(in crate::anthropic) content: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::anthropic) usage: Option<Tokens>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) stop_reason: Option<String>,
    pub(in crate::anthropic) stop_details: Option<Box<Value>>,
    pub(in crate::anthropic) container: Option<Box<Value>>,
    pub(in crate::anthropic) error: Option<Value>,
}

/// An event of a streamed answer; its type determines which fields are present.
#[derive(Debug, Deserialize)]
pub(in crate::anthropic) struct MessagesEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(in crate::anthropic) kind: Word<'a>,
    /// The index of its block.
    #[serde(default, deserialize_with = "index")]
    pub(in crate::anthropic) index: Option<i64>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::anthropic) message: Option<Box<MessageBody>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::anthropic) content_block: Option<Box<RawBlock>>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::anthropic) delta: Option<Delta>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::anthropic) usage: Option<Tokens>,
    pub(in crate::anthropic) error: Option<Value>,
}

/// A delta of a block, or of the message.
#[derive(Debug, Default, Deserialize)]
pub(in crate::anthropic) struct Delta {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) text: Option<String>,
    /// A delta of JSON text; some servers send the JSON itself.
    pub(in crate::anthropic) partial_json: Option<JsonText>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) thinking: Option<String>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) signature: Option<String>,
    pub(in crate::anthropic) citation: Option<Box<Value>>,
    /// The summary of a conversation.
    pub(in crate::anthropic) content: Option<Box<Value>>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) stop_reason: Option<String>,
    /// Why the model refused.
    pub(in crate::anthropic) stop_details: Option<Box<Value>>,
    /// The container in which its code ran.
    pub(in crate::anthropic) container: Option<Box<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
pub(in crate::anthropic) struct Tokens {
    #[serde(default)]
    pub(in crate::anthropic) input_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::anthropic) cache_creation_input_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::anthropic) cache_read_input_tokens: LenientCount,
    #[serde(default)]
    pub(in crate::anthropic) output_tokens: LenientCount,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::anthropic) output_tokens_details: Option<OutputDetails>,
    /// The usage of each sampling of the request.
    pub(in crate::anthropic) iterations: Option<Box<Value>>,
    /// The number of requests of each server-side tool, by names such as `web_search_requests`.
    pub(in crate::anthropic) server_tool_use: Option<Box<Value>>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) service_tier: Option<Box<str>>,
    /// `fast`, or the standard one.
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) speed: Option<Box<str>>,
    /// The region of the inference; `us` has its own price.
    #[serde(default, deserialize_with = "text")]
    pub(in crate::anthropic) inference_geo: Option<Box<str>>,
}

#[derive(Debug, Default, Deserialize)]
pub(in crate::anthropic) struct OutputDetails {
    #[serde(default)]
    pub(in crate::anthropic) thinking_tokens: LenientCount,
}
