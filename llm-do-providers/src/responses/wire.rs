//! The JSON of requests to the Responses API; they borrow all their contents.
//!
//! By <https://platform.openai.com/docs/api-reference/responses/create>.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::attachment::Base64;
use crate::model::Json;
use crate::openai::{DataUrl, ToolChoiceParam};

#[derive(Debug, Serialize)]
pub(super) struct ResponsesRequest<'a> {
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
    pub(super) input: Vec<Json<Item<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Json<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoiceParam<Named<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_management: Option<[ContextEdit; 1]>,
    pub(super) store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
}

/// How the server shortens a long conversation.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContextEdit {
    Compaction { compact_threshold: u32 },
}

/// An item of the input; items of the server are sent back unchanged.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Item<'a> {
    Created(CreatedItem<'a>),
    Received(&'a Value),
    /// An image that the model made, with the rest of its item.
    Image {
        #[serde(flatten)]
        rest: &'a Value,
        result: Base64<'a>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CreatedItem<'a> {
    Message {
        role: &'static str,
        content: Vec<Part<'a>>,
        /// The other fields of the message, such as its id.
        #[serde(flatten)]
        rest: Option<&'a Value>,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<String>,
        arguments: Cow<'a, str>,
        /// The program that made the call, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<&'a Value>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<&'a Value>,
    },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: DataUrl<'a>, detail: &'static str },
    InputFile { filename: &'a str, file_data: DataUrl<'a> },
    OutputText { text: &'a str, annotations: [(); 0] },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Tool<'a> {
    /// `strict` is always sent, since the API's default is true.
    Function {
        name: &'a str,
        description: &'a str,
        parameters: Arc<Value>,
        strict: bool,
        /// Whether the model finds the tool by search.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        defer_loading: bool,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        allowed_callers: &'static [&'static str],
    },
    Namespace {
        name: String,
        description: String,
        tools: Vec<Tool<'a>>,
    },
    #[serde(rename = "tool_search")]
    Search {},
    WebSearch {
        #[serde(skip_serializing_if = "Option::is_none")]
        filters: Option<Filters<'a>>,
    },
    CodeInterpreter {
        container: Container,
    },
    ImageGeneration {},
    ProgrammaticToolCalling {},
}

#[derive(Debug, Serialize)]
pub(super) struct Filters<'a> {
    pub(super) allowed_domains: &'a [String],
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Container {
    Auto,
}

/// A function that must be called.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Named<'a> {
    Function { name: &'a str },
}

#[derive(Debug, Serialize)]
pub(super) struct Text<'a> {
    pub(super) format: Format<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Format<'a> {
    JsonSchema { name: &'a str, schema: Arc<Value>, strict: bool },
}

#[derive(Debug, Serialize)]
pub(super) struct Reasoning<'a> {
    pub(super) effort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'static str>,
}
