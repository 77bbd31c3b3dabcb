//! The parts of an answer in an event: sinks receive them whole; JSON has the size of a file instead of its bytes.

use std::sync::Arc;

use llm_do_providers::{Attachment, ResponsePart};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A part of a model's answer in an [`EventKind::ModelResponse`](crate::observe::event::EventKind::ModelResponse).
///
/// A sink receives whole parts. In JSON, a file is written without its bytes, to keep logs small; an event that is
/// read back has a [`FileInfo`] in its place. All other parts are read back unchanged.
///
/// # Examples
///
/// ```
/// use llm_do::event::{EventPart, FileInfo};
/// use llm_do::model::ResponsePart;
/// use llm_do::Attachment;
///
/// let part = EventPart::Whole(ResponsePart::Attachment(Attachment::new("image/gif", b"GIF89a".to_vec())));
/// let json = serde_json::to_string(&part)?;
/// assert_eq!(json, r#"{"type":"attachment","media_type":"image/gif","bytes":6}"#);
/// assert_eq!(serde_json::from_str::<EventPart>(&json)?, EventPart::File(FileInfo::new("image/gif", 6)));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "an event of a running call has whole parts only")]
pub enum EventPart {
    /// The part as the model returned it.
    Whole(ResponsePart),
    /// A file without its bytes, in an event that was read from JSON.
    File(FileInfo),
}

/// The facts about a file that an event in JSON has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileInfo {
    /// The file's name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The [digest](crate::observe::event::RequestContent) of the bytes, in the content of requests and answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Arc<str>>,
}

impl FileInfo {
    /// Returns the facts about a file without a name.
    #[must_use]
    pub fn new(media_type: impl Into<String>, bytes: u64) -> Self {
        Self { name: None, media_type: media_type.into(), bytes, digest: None }
    }
}

impl From<&Attachment> for FileInfo {
    fn from(file: &Attachment) -> Self {
        let name = file.name().map(str::to_owned);
        Self { name, ..Self::new(file.media_type(), file.data().len() as u64) }
    }
}

impl From<ResponsePart> for EventPart {
    fn from(part: ResponsePart) -> Self {
        Self::Whole(part)
    }
}

impl EventPart {
    /// Returns the part, or `None` if it is a file whose bytes are missing.
    #[must_use]
    pub fn whole(&self) -> Option<&ResponsePart> {
        match self {
            Self::Whole(part) => Some(part),
            Self::File(_) => None,
        }
    }

    /// Returns the facts about the file, if the part is one.
    #[must_use]
    pub fn file(&self) -> Option<FileInfo> {
        match self {
            Self::Whole(ResponsePart::Attachment(file)) => Some(file.into()),
            Self::Whole(_) => None,
            Self::File(file) => Some(file.clone()),
        }
    }
}

/// The JSON form of a file.
#[derive(Serialize)]
struct Tagged {
    r#type: &'static str,
    #[serde(flatten)]
    file: FileInfo,
}

/// The `type` of a part that is a file.
const FILE: &str = "attachment";

impl Serialize for EventPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.file(), self) {
            (Some(file), _) => Tagged { r#type: FILE, file }.serialize(serializer),
            (None, Self::Whole(part)) => part.serialize(serializer),
            (None, Self::File(file)) => file.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EventPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = Value::deserialize(deserializer)?;
        if part["type"] == FILE && part.get("data").is_none() {
            return FileInfo::deserialize(part).map(Self::File).map_err(D::Error::custom);
        }
        ResponsePart::deserialize(part).map(Self::Whole).map_err(D::Error::custom)
    }
}
