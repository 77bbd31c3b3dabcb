//! The JSON of requests for chat completions; they borrow all their contents.

mod answer;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

pub(super) use self::answer::{Choice, Chunk, Delta, DeltaContent, FunctionDelta, Object, Tokens, ToolCallDelta};
use super::thinking::Fields;
use crate::attachment::{Attachment, Base64};
use crate::model::Json;

#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    pub(super) model: &'a str,
    pub(super) messages: Vec<Json<ChatMessage<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Json<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoiceParam<Typed<Named<'a>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) web_search_options: Option<WebSearchOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) random_seed: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheControl>,
    #[serde(flatten)]
    pub(super) thinking: Fields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

/// Requests that the start of the request is cached: OpenRouter sets the breakpoints for providers that need some.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CacheControl {
    Ephemeral,
}

#[derive(Debug, Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

/// Its presence enables a search; the server chooses the context size and the user's location.
#[derive(Debug, Serialize)]
pub(super) struct WebSearchOptions {}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        // Omitted next to tool calls: some servers refuse `null`, and some an empty string.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<AssistantContent<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_details: Option<Vec<&'a Value>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCallParam<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Content<'a>,
    },
}

/// The content of an assistant message: text, after thoughts for servers that have them in the content.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum AssistantContent<'a> {
    Text(Cow<'a, str>),
    Chunks(Vec<ContentChunk<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ContentChunk<'a> {
    Thought(&'a Value),
    Part(Part<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

/// A part of a user message, by <https://platform.openai.com/docs/api-reference/chat/create>, and for files also
/// <https://platform.openai.com/docs/guides/pdf-files>; `document_url` is Mistral's, by <https://docs.mistral.ai/api/>.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: FileData<'a> },
    DocumentUrl { document_url: DataUrl<'a>, document_name: &'a str },
    InputAudio { input_audio: InputAudio<'a> },
}

#[derive(Debug, Serialize)]
pub(super) struct ImageUrl<'a> {
    pub(super) url: DataUrl<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct FileData<'a> {
    pub(super) filename: &'a str,
    pub(super) file_data: DataUrl<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum InputAudio<'a> {
    Object { data: Base64<'a>, format: &'static str },
    Bare(Base64<'a>),
}

/// A file's bytes, written as a data URL.
#[derive(Debug)]
pub(crate) struct DataUrl<'a>(pub(crate) &'a Attachment);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.0.content_type(), self.0.base64()))
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ToolCallParam<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(flatten)]
    pub(super) function: Typed<CalledFunction<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct CalledFunction<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
}

/// An object whose `type` also names the field that holds the rest.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Typed<T> {
    Function { function: T },
}

/// The form of an answer.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Format<'a> {
    JsonSchema { json_schema: JsonSchema<'a> },
    JsonObject,
}

pub(super) type Tool<'a> = Typed<Function<'a>>;

#[derive(Debug, Serialize)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: Arc<Value>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ToolChoiceParam<N> {
    Word(&'static str),
    Tool(N),
}

#[derive(Debug, Serialize)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct JsonSchema<'a> {
    pub(super) name: &'a str,
    pub(super) schema: Arc<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}
