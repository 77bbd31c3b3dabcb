//! Files as parts of messages.

mod found;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::found::{FoundFile, find_files, found_path};

/// A file that goes with a message: an image, a PDF, audio, text.
///
/// Which media types a model takes is its provider's affair: a request with one that the provider has no place for fails
/// before anything is sent; whether the model reads one that it has a place for, the provider's server decides. Clones share
/// the bytes. In JSON the bytes are base64; `Debug` shows only how many there are.
///
/// # Examples
///
/// ```
/// use llm_do_providers::{Attachment, Message, UserPart};
///
/// let note = Attachment::new("text/plain", "Milk, bread.").named("list.txt");
/// let question = UserPart::Text { text: "What is to be bought?".into() };
/// let message = Message::User { parts: vec![question, UserPart::Attachment(note)] };
/// # _ = message;
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "AttachmentInput")]
pub struct Attachment {
    name: Option<String>,
    media_type: String,
    data: Arc<[u8]>,
}

/// A file as it is read from JSON.
#[derive(Deserialize)]
struct AttachmentInput {
    #[serde(default)]
    name: Option<String>,
    media_type: String,
    #[serde(deserialize_with = "deserialize_bytes")]
    data: Arc<[u8]>,
}

impl From<AttachmentInput> for Attachment {
    fn from(AttachmentInput { name, media_type, data }: AttachmentInput) -> Self {
        let file = Self { name, media_type, data };
        found::found(|| FoundFile::Data(file.clone()));
        file
    }
}

/// A file as it is written to JSON.
#[derive(Serialize)]
#[serde(rename = "Attachment")]
struct AttachmentOutput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    media_type: &'a str,
    #[serde(serialize_with = "serialize_bytes")]
    data: &'a [u8],
}

impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        found::found(|| FoundFile::Data(self.clone()));
        let Self { name, media_type, data } = self;
        AttachmentOutput { name: name.as_deref(), media_type, data }.serialize(serializer)
    }
}

impl Attachment {
    /// Returns a file of `data` without a name; `media_type` is such as `image/png`, and is not checked against it.
    #[must_use]
    pub fn new(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self { name: None, media_type: media_type.into(), data: data.into().into() }
    }

    /// Calls the file `name`, which models are told where the provider's protocol has a place for it. Default: no name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Returns the file's name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the media type as it was given.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Returns the file's bytes.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

/// What providers ask of a file.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
impl Attachment {
    /// Returns the bytes as base64.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn base64(&self) -> Base64Display<'_, 'static, GeneralPurpose> {
        base64(&self.data)
    }

    /// Returns the file of these bytes, written as base64; none, if they are not.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn from_base64(media_type: impl Into<String>, text: &str) -> Option<Self> {
        Some(Self::new(media_type, STANDARD.decode(text).ok()?))
    }

    /// Returns the media type as it is compared: without parameters, in lower case.
    pub(crate) fn essence(&self) -> String {
        let essence = self.media_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// Whether the media type is one of text, which any model can read.
    pub(crate) fn is_text(&self) -> bool {
        let essence = self.essence();
        essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json")
    }

    /// Returns the bytes as text below a line that names the file.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the file, and what to do, if the bytes are no UTF-8.
    #[cfg_attr(
        not(any(feature = "local", feature = "openai")),
        allow(dead_code, reason = "others carry files of text")
    )]
    pub(crate) fn inlined(&self) -> Result<String, String> {
        Ok(format!("{}:\n{}", self.heading(), self.text()?))
    }

    /// Returns the bytes as text.
    ///
    /// # Errors
    ///
    /// The same.
    pub(crate) fn text(&self) -> Result<&str, String> {
        let text = std::str::from_utf8(&self.data);
        text.map_err(|_| format!("{} is not UTF-8; convert it before it is attached", self.described()))
    }

    /// Returns what a model is told that a file is called.
    pub(crate) fn heading(&self) -> String {
        match &self.name {
            Some(name) => format!("File `{name}`"),
            None => format!("File of type `{}`", self.media_type),
        }
    }

    /// Returns what an error calls the file.
    pub(crate) fn described(&self) -> String {
        match &self.name {
            Some(name) => format!("the attachment `{name}` of type `{}`", self.media_type),
            None => format!("an attachment of type `{}`", self.media_type),
        }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("name", &self.name)
            .field("media_type", &self.media_type)
            .field("data", &format_args!("{} bytes", self.data.len()))
            .finish()
    }
}

/// Writes base64 piece by piece, so that a large file is not held in memory a second time.
fn base64(bytes: &[u8]) -> Base64Display<'_, 'static, GeneralPurpose> {
    Base64Display::new(bytes, &STANDARD)
}

fn serialize_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&base64(bytes))
}

fn deserialize_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text).map_err(|fault| D::Error::custom(format!("the data is not base64: {fault}")))?;
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Attachment;
    use crate::message::{Message, UserPart};

    #[test]
    fn a_file_is_written_as_base64_and_read_back_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        for data in [&[][..], &[0], &[255, 254], &bytes] {
            for file in [Attachment::new("image/png", data), Attachment::new("image/png", data).named("a.png")] {
                let message = Message::User { parts: vec![UserPart::Attachment(file)] };
                let written = serde_json::to_string(&message).unwrap();
                assert_eq!(serde_json::from_str::<Message>(&written).unwrap(), message);
            }
        }
    }

    #[test]
    fn a_file_is_a_part_of_its_own_type() {
        let part = UserPart::Attachment(Attachment::new("text/plain", "hi!").named("a.txt"));
        let expected = json!({"type": "attachment", "name": "a.txt", "media_type": "text/plain", "data": "aGkh"});
        assert_eq!(serde_json::to_value(part).unwrap(), expected);
        let part = UserPart::Attachment(Attachment::new("text/plain", "hi"));
        let expected = json!({"type": "attachment", "media_type": "text/plain", "data": "aGk="});
        assert_eq!(serde_json::to_value(part).unwrap(), expected);
    }

    #[test]
    fn data_that_is_no_base64_is_refused() {
        let written = json!({"media_type": "text/plain", "data": "a$b"});
        let error = serde_json::from_value::<Attachment>(written).unwrap_err().to_string();
        assert!(error.starts_with("the data is not base64: "), "{error}");
    }

    #[test]
    fn debug_shows_how_many_bytes_and_none_of_them() {
        let part = UserPart::Attachment(Attachment::new("text/plain", "secret").named("a.txt"));
        let shown = format!("{part:?}");
        assert_eq!(shown, r#"Attachment(Attachment { name: Some("a.txt"), media_type: "text/plain", data: 6 bytes })"#);
    }

    #[test]
    fn clones_share_the_bytes() {
        let file = Attachment::new("image/png", vec![0; 9]);
        assert_eq!(file.clone().data().as_ptr(), file.data().as_ptr());
    }

    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
    #[test]
    fn media_types_of_text_are_known_in_any_spelling() {
        let is_text = |media_type: &str| Attachment::new(media_type, "").is_text();
        for media_type in ["text/csv", "TEXT/Plain; charset=UTF-8", "application/json", "application/ld+json ;a=b"] {
            assert!(is_text(media_type), "{media_type}");
        }
        for media_type in ["", "text", "image/png", "application/jsonp", "application/pdf"] {
            assert!(!is_text(media_type), "{media_type}");
        }
    }
}
