//! The JSON of requests to the Gemini API; they borrow all their contents.
//!
//! By <https://ai.google.dev/api/generate-content> and <https://ai.google.dev/api/caching#Content>.

mod answer;
mod answer_part;

use std::borrow::Cow;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(super) use self::answer::{Candidate, Chunk, Tokens};
pub(super) use self::answer_part::{AnswerBlob, AnswerPart, FunctionCallPart, Kind, ServerTool};
use crate::attachment::Base64;
use crate::model::Json;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerateRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<Content<'a>>,
    pub(super) contents: Vec<Json<Content<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    pub(super) generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) service_tier: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part: its data, and its attributes.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) data: Data<'a>,
    pub(super) thought: bool,
    pub(super) signature: Option<&'a str>,
}

#[derive(Debug)]
pub(super) enum Data<'a> {
    Text(Cow<'a, str>),
    Blob(Blob<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
    /// A field that Gemini itself wrote, under its name.
    ServerTool(&'a str, &'a Value),
    /// A whole part that Gemini wrote.
    Whole(&'a Map<String, Value>),
}

impl<'a> From<Data<'a>> for Part<'a> {
    fn from(data: Data<'a>) -> Self {
        Self { data, thought: false, signature: None }
    }
}

impl Part<'_> {
    pub(super) fn is_call(&self) -> bool {
        matches!(self.data, Data::FunctionCall(_))
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut part = serializer.serialize_map(None)?;
        match &self.data {
            Data::Text(text) => part.serialize_entry("text", text)?,
            Data::Blob(blob) => part.serialize_entry("inlineData", blob)?,
            Data::FunctionCall(call) => part.serialize_entry("functionCall", call)?,
            Data::FunctionResponse(response) => part.serialize_entry("functionResponse", response)?,
            Data::ServerTool(name, value) => part.serialize_entry(name, value)?,
            Data::Whole(fields) => fields.iter().try_for_each(|(name, value)| part.serialize_entry(name, value))?,
        }
        if self.thought {
            part.serialize_entry("thought", &true)?;
        }
        if let Some(signature) = self.signature {
            part.serialize_entry("thoughtSignature", signature)?;
        }
        part.end()
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    pub(super) mime_type: Cow<'a, str>,
    pub(super) data: Base64<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: Args<'a>,
}

/// The arguments of a call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Args<'a> {
    Written(&'a RawValue),
    Other { invalid_json: &'a str },
    Nothing {},
}

#[derive(Debug, Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: Outcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<FunctionResponsePart<'a>>,
}

/// The result of a function, under one of the two names that the API reads.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome<'a> {
    Output(OutputValue<'a>),
    Error(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum OutputValue<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionResponsePart<'a> {
    pub(super) inline_data: Blob<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Tool<'a> {
    FunctionDeclarations(Vec<Json<FunctionDeclaration<'a>>>),
    GoogleSearch {},
    UrlContext {},
    CodeExecution {},
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionDeclaration<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<Arc<Value>>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_calling_config: Option<FunctionCallingConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include_server_side_tool_invocations: Option<bool>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCallingConfig<'a> {
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_json_schema: Option<Arc<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_modalities: Option<[&'static str; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<ThinkingConfig>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include_thoughts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_level: Option<&'static str>,
}
