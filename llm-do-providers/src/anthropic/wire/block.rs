//! The blocks of a message.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::CacheControl;
use crate::attachment::Base64;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::anthropic) enum Block<'a> {
    Text(TextBlock<'a>),
    Image(Image<'a>),
    Document(Document<'a>),
    ToolResult(ToolResultBlock<'a>),
    ToolUse(ToolUse<'a>),
    /// Unchanged, parsed and serialized again.
    Rebuilt(Rebuilt<'a>),
    /// Unchanged.
    Raw(&'a Value),
}

impl<'a> Block<'a> {
    pub(in crate::anthropic) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(TextBlock { text: text.into(), citations: None, cache_control: None })
    }

    pub(in crate::anthropic) fn cited(text: &'a str, citations: &'a Value) -> Self {
        Self::Text(TextBlock { text: text.into(), citations: Some(citations), cache_control: None })
    }

    pub(in crate::anthropic) fn image(source: FileSource<'a>) -> Self {
        Self::Image(Image { source, cache_control: None })
    }

    pub(in crate::anthropic) fn document(title: Option<&'a str>, source: FileSource<'a>) -> Self {
        Self::Document(Document { source, title, cache_control: None })
    }

    pub(in crate::anthropic) fn result(id: Cow<'a, str>, content: ResultBlock<'a>, is_error: bool) -> Self {
        Self::ToolResult(ToolResultBlock { tool_use_id: id, content, is_error, cache_control: None })
    }

    pub(in crate::anthropic) fn tool_use(
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Input<'a>,
        rest: Option<Cow<'a, Map<String, Value>>>,
    ) -> Self {
        Self::ToolUse(ToolUse { id, name, input, rest })
    }

    /// Sets a cache breakpoint on the block, if it supports one, and returns whether it does.
    pub(in crate::anthropic) fn mark(&mut self, mark: CacheControl) -> bool {
        let place = match self {
            Self::Text(block) => &mut block.cache_control,
            Self::Image(block) => &mut block.cache_control,
            Self::Document(block) => &mut block.cache_control,
            Self::ToolResult(block) => &mut block.cache_control,
            Self::ToolUse(_) | Self::Rebuilt(_) | Self::Raw(_) => return false,
        };
        *place = Some(mark);
        true
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(in crate::anthropic) struct TextBlock<'a> {
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    citations: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "image")]
pub(in crate::anthropic) struct Image<'a> {
    source: FileSource<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "document")]
pub(in crate::anthropic) struct Document<'a> {
    source: FileSource<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(in crate::anthropic) enum FileSource<'a> {
    Base64 { media_type: &'static str, data: Base64<'a> },
    Text { media_type: &'static str, data: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tool_result")]
pub(in crate::anthropic) struct ToolResultBlock<'a> {
    tool_use_id: Cow<'a, str>,
    #[serde(skip_serializing_if = "ResultBlock::is_empty")]
    content: ResultBlock<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::anthropic) enum ResultBlock<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

impl ResultBlock<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tool_use")]
pub(in crate::anthropic) struct ToolUse<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Input<'a>,
    #[serde(flatten)]
    rest: Option<Cow<'a, Map<String, Value>>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::anthropic) enum Input<'a> {
    /// The object that the model wrote.
    Written(&'a RawValue),
    /// A wrapper for input that was not a JSON object.
    Instead(Value),
}

/// A kept block, completed with the fields that are stored in the part.
#[derive(Debug)]
pub(in crate::anthropic) struct Rebuilt<'a> {
    pub(in crate::anthropic) kept: &'a Map<String, Value>,
    pub(in crate::anthropic) fields: Vec<(&'static str, Field<'a>)>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::anthropic) enum Field<'a> {
    Text(&'a str),
    Json(&'a Value),
}

impl Serialize for Rebuilt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.kept.len() + self.fields.len()))?;
        for (name, value) in self.kept {
            map.serialize_entry(name, value)?;
        }
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
