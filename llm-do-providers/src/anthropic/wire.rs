//! The JSON of requests to the Messages API; they borrow all their contents.
//!
//! By <https://platform.claude.com/docs/en/api/messages/create>.

mod answer;
mod block;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) use self::answer::{Delta, MessageBody, MessagesEvent, RawBlock, Tokens};
pub(super) use self::block::{Block, Field, FileSource, Input, Rebuilt, ResultBlock};
use crate::model::Json;

#[derive(Debug, Serialize)]
pub(super) struct MessagesRequest<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) system: Vec<SystemText<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Json<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoiceParam<'a>>,
    pub(super) messages: Vec<MessageParam<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    pub(super) output_config: OutputConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) container: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_management: Option<ContextManagement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
}

/// How the server shortens a long conversation.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ContextManagement {
    pub(super) edits: [Edit; 1],
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type")]
pub(super) enum Edit {
    #[serde(rename = "compact_20260112")]
    Compact { trigger: Trigger },
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Trigger {
    InputTokens { value: u32 },
}

/// A message; consecutive messages of one role are merged.
#[derive(Debug, Serialize)]
pub(super) struct MessageParam<'a> {
    pub(super) role: Role,
    pub(super) content: Vec<Json<Block<'a>>>,
    /// Whether it contains results for code, which cannot have a cache breakpoint.
    #[serde(skip)]
    pub(super) is_for_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    User,
    Assistant,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct SystemText<'a> {
    pub(super) text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheControl>,
}

/// A cache breakpoint: the request up to here is cached.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(super) struct CacheControl {}

impl CacheControl {
    /// Adds a breakpoint to the JSON of an object that has none; returns whether it did.
    pub(super) fn add_to(json: &mut Arc<RawValue>) -> bool {
        let Some(fields) = json.get().strip_suffix('}') else { return false };
        let marked = format!(r#"{fields},"cache_control":{{"type":"ephemeral"}}}}"#);
        let Ok(marked) = RawValue::from_string(marked) else { return false };
        *json = marked.into();
        true
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Tool<'a> {
    #[serde(flatten)]
    pub(super) kind: ToolKind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ToolKind<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: Arc<Value>,
        /// Whether the model finds the tool by search.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        allowed_callers: &'static [&'static str],
    },
    ServerSide {
        r#type: &'static str,
        name: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        max_uses: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_domains: Option<&'a [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        blocked_domains: Option<&'a [String]>,
    },
}

impl<'a> From<ToolKind<'a>> for Tool<'a> {
    fn from(kind: ToolKind<'a>) -> Self {
        Self { kind, cache_control: None }
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum ToolChoiceParam<'a> {
    Auto {
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    Any {
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    Tool {
        name: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ThinkingConfig {
    Enabled {
        budget_tokens: u32,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<BlockBinding>,
    },
    BetweenTools,
    Disabled,
}

/// How the server handles thoughts whose preceding messages have changed; by default it refuses the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct BlockBinding {
    prefix_mismatch_behavior: &'static str,
}

impl BlockBinding {
    pub(super) const DROPS: Self = Self { prefix_mismatch_behavior: "drop_block" };
}

#[derive(Debug, Default, Serialize)]
pub(super) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<JsonSchema>,
}

impl OutputConfig {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "json_schema")]
pub(super) struct JsonSchema {
    pub(super) schema: Arc<Value>,
}
