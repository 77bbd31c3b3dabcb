//! Files in messages.

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod as_sent;
mod found_files;

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) use self::as_sent::FileFault;
pub use self::found_files::{FoundFile, find_files, found_path};

/// A file in a message: an image, a PDF, audio, text.
///
/// The accepted media types depend on the provider: a request with a type that its protocol does not support fails
/// before anything is sent; whether the model can read a supported type is decided by the provider's server. Clones
/// share the bytes. In JSON the bytes are base64; `Debug` shows only their number.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::Attachment; pub use llm_do_providers as model; }
/// use llm_do::Attachment;
/// use llm_do::model::{Message, UserPart};
///
/// let note = Attachment::new("text/plain", "Milk, bread.").named("list.txt");
/// let question = UserPart::Text { text: "What is to be bought?".into() };
/// let message = Message::User { parts: vec![question, UserPart::Attachment(note)] };
/// # _ = message;
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Deserialized")]
pub struct Attachment {
    name: Option<String>,
    media_type: String,
    data: Arc<[u8]>,
}

/// The deserialized form of a file.
#[derive(Deserialize)]
struct Deserialized {
    #[serde(default)]
    name: Option<String>,
    media_type: String,
    #[serde(deserialize_with = "deserialize_bytes")]
    data: Arc<[u8]>,
}

impl From<Deserialized> for Attachment {
    fn from(Deserialized { name, media_type, data }: Deserialized) -> Self {
        let file = Self { name, media_type, data };
        found_files::found(|| FoundFile::Data(file.clone()));
        file
    }
}

/// The serialized form of a file.
#[derive(Serialize)]
#[serde(rename = "Attachment")]
struct Serialized<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    media_type: &'a str,
    #[serde(serialize_with = "serialize_bytes")]
    data: &'a [u8],
}

impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        found_files::found(|| FoundFile::Data(self.clone()));
        let Self { name, media_type, data } = self;
        Serialized { name: name.as_deref(), media_type, data }.serialize(serializer)
    }
}

impl Attachment {
    /// Creates a file without a name; `media_type`, such as `image/png`, is not checked against `data`.
    #[must_use]
    pub fn new(media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self { name: None, media_type: media_type.into(), data: data.into().into() }
    }

    /// Sets the file name, which is sent if the provider's protocol has a field for it. Default: none.
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

/// Conversions for providers.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local", feature = "openai"))]
impl Attachment {
    /// Returns the bytes as base64.
    #[cfg(feature = "openai")]
    pub(crate) fn base64(&self) -> Base64Display<'_, 'static, GeneralPurpose> {
        base64(&self.data)
    }

    /// Decodes a file from base64; `None` if the text is invalid.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn from_base64(media_type: impl Into<String>, text: &str) -> Option<Self> {
        Some(Self::new(media_type, STANDARD.decode(text).ok()?))
    }

    /// Returns the normalized media type: without parameters, in lower case.
    pub(crate) fn essence(&self) -> String {
        let essence = self.media_type.split(';').next().unwrap_or_default();
        essence.trim().to_ascii_lowercase()
    }

    /// Returns whether the media type is text, which any model can read.
    pub(crate) fn is_text(&self) -> bool {
        let essence = self.essence();
        essence.starts_with("text/") || essence == "application/json" || essence.ends_with("+json")
    }

    /// Returns the bytes as text, after a line with the file's name.
    ///
    /// # Errors
    ///
    /// Returns an error text with the fix, if the bytes are not valid UTF-8.
    #[cfg_attr(
        not(any(feature = "local", feature = "openai")),
        allow(dead_code, reason = "other providers have text attachments")
    )]
    pub(crate) fn inlined(&self) -> Result<String, String> {
        Ok(format!("{}:\n{}", self.heading(), self.text()?))
    }

    /// Returns the bytes as text.
    ///
    /// # Errors
    ///
    /// Returns the same error as [`inlined`](Self::inlined).
    pub(crate) fn text(&self) -> Result<&str, String> {
        let text = std::str::from_utf8(&self.data);
        text.map_err(|_| format!("{} is not UTF-8; convert it before attaching it", self.described()))
    }

    /// Returns the file's description for a model.
    pub(crate) fn heading(&self) -> String {
        match &self.name {
            Some(name) => format!("File `{name}`"),
            None => format!("File of type `{}`", self.media_type),
        }
    }

    /// Returns the file's description for an error.
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

/// The bytes of a file, serialized as base64.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
#[derive(Debug)]
pub(crate) struct Base64<'a>(pub(crate) &'a Attachment);

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_bytes(&self.0.data, serializer)
    }
}

/// Formats base64 incrementally, so that a large file is not copied in memory.
fn base64(bytes: &[u8]) -> Base64Display<'_, 'static, GeneralPurpose> {
    Base64Display::new(bytes, &STANDARD)
}

fn serialize_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&base64(bytes))
}

fn deserialize_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text).map_err(|fault| D::Error::custom(format!("invalid base64 data: {fault}")))?;
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Attachment;
    use crate::message::{Message, UserPart};

    #[test]
    fn a_file_round_trips_through_base64() {
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
    fn a_file_is_serialized_as_an_attachment_part() {
        let part = UserPart::Attachment(Attachment::new("text/plain", "hi!").named("a.txt"));
        let expected = json!({"type": "attachment", "name": "a.txt", "media_type": "text/plain", "data": "aGkh"});
        assert_eq!(serde_json::to_value(part).unwrap(), expected);
        let part = UserPart::Attachment(Attachment::new("text/plain", "hi"));
        let expected = json!({"type": "attachment", "media_type": "text/plain", "data": "aGk="});
        assert_eq!(serde_json::to_value(part).unwrap(), expected);
    }

    #[test]
    fn invalid_base64_is_rejected() {
        let written = json!({"media_type": "text/plain", "data": "a$b"});
        let error = serde_json::from_value::<Attachment>(written).unwrap_err().to_string();
        assert!(error.starts_with("invalid base64 data: "), "{error}");
    }

    #[test]
    fn debug_shows_only_the_number_of_bytes() {
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
    fn text_media_types_are_recognized_in_any_spelling() {
        let is_text = |media_type: &str| Attachment::new(media_type, "").is_text();
        for media_type in ["text/csv", "TEXT/Plain; charset=UTF-8", "application/json", "application/ld+json ;a=b"] {
            assert!(is_text(media_type), "{media_type}");
        }
        for media_type in ["", "text", "image/png", "application/jsonp", "application/pdf"] {
            assert!(!is_text(media_type), "{media_type}");
        }
    }
}
