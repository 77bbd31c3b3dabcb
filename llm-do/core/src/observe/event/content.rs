//! The content of requests to models in events: new content in full, repeated content by its digest.

mod shown;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use llm_do_providers::{OutputSchema, ToolSpec};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use self::shown::{SchemaDigests, SentRequest, ShownContent};
use super::parts::{EventPart, FileInfo};

/// The content of a request to a model, in an [`EventKind::ModelRequest`](crate::observe::event::EventKind::ModelRequest).
///
/// It is taken after guards and history processors, and shows their changes.
///
/// Each event has only the messages that are new in its call. To rebuild the whole conversation, take that of the
/// call's previous request, add the answer to it, keep the first [`kept`](Self::kept) messages, and append
/// [`messages`](Self::messages).
///
/// Repeated texts, definitions and files have a digest; only the first event with a digest has the value. A digest
/// identifies content within one run only; it is not cryptographic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestContent {
    /// The number of earlier messages that are unchanged.
    pub kept: usize,
    /// The messages after the unchanged ones.
    pub messages: Vec<ContentMessage>,
    /// The instructions, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<ByDigest<Arc<str>>>,
    /// The tools, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ByDigest<Arc<[ToolSpec]>>>,
    /// The schema of the answer, if it is sent separately from the tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ByDigest<OutputSchema>>,
    /// The images of at most 256 KiB that are new in the run, with their bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ContentFile>,
}

/// A value with its digest; only the first event with the digest has the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ByDigest<T> {
    /// The digest of the value.
    pub digest: Arc<str>,
    /// The value; `None` if an earlier event of the run has it.
    #[serde(default = "absent", skip_serializing_if = "Option::is_none")]
    pub value: Option<T>,
}

/// Returns `None`, as a default that does not require `T: Default`.
fn absent<T>() -> Option<T> {
    None
}

/// A message of a request, without the bytes of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentMessage {
    /// A message of the user, or of the code that calls a worker.
    User {
        /// The texts and files, in order.
        parts: Vec<EventPart>,
    },
    /// An answer of the model.
    Assistant {
        /// The parts, in order.
        parts: Vec<EventPart>,
    },
    /// The results of the tool calls of the preceding answer.
    Tool {
        /// The results, in the order of the calls.
        results: Vec<ContentResult>,
    },
}

/// The result of a tool call, as sent to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContentResult {
    /// The provider's id of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The result: text, or JSON as text.
    pub content: String,
    /// Whether the call failed; `content` is then the reason.
    pub is_error: bool,
    /// The files that accompany `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<FileInfo>,
}

/// A file of a request or an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContentFile {
    /// The facts about the file, with its digest.
    #[serde(flatten)]
    pub info: FileInfo,
    /// The bytes, in JSON as base64: only of images of at most 256 KiB, in the first event of the run with the digest.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "to_base64",
        deserialize_with = "from_base64"
    )]
    pub data: Option<Arc<[u8]>>,
}

#[expect(clippy::ref_option, reason = "the signature that serde expects")]
fn to_base64<S: Serializer>(data: &Option<Arc<[u8]>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(data.as_deref().unwrap_or_default()))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<[u8]>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map(|data| Some(data.into())).map_err(D::Error::custom)
}
