//! Prompts: a text and files, for models and root calls.

#[cfg(feature = "attachments")]
mod file;
#[cfg(not(feature = "attachments"))]
#[path = "prompt/without_file.rs"]
mod file;
mod policy;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use llm_do_providers::{Attachment, FoundFile, Message, UserPart, found_path};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use self::file::read;
#[cfg(feature = "attachments")]
pub use self::file::read_anywhere;
pub use self::policy::AttachmentPolicy;
pub(crate) use self::policy::USUAL_MAX_BYTES;

/// A text with files.
///
/// An entry, tool or worker whose only parameter is a `Prompt` has its fields as arguments: `input`, the text, and
/// `attachments`, each the path of a file in the project's root folder (see
/// [`RuntimeBuilder::project_root`](crate::session::runtime::RuntimeBuilder::project_root)). Files are read when a model is
/// asked, at most 20 MiB each; until then, [`CallContext::attachments`](crate::plane::context::CallContext::attachments) lists them.
/// Reading files needs the feature `attachments`; files in memory do not.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
///
/// /// Describe a picture.
/// #[worker]
/// async fn describe(prompt: Prompt) -> String;
///
/// /// Describes a picture.
/// #[entry(toolsets = [describe])]
/// async fn main_entry(ctx: &CallContext<main_entry>, prompt: Prompt) -> Result<String> {
///     Ok(ctx.call(describe { prompt: prompt.attach_file("frame.png") }).await?)
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// The text.
    #[serde(rename = "input")]
    text: String,
    /// The files: paths below the project's root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Attached>,
}

/// A file of a [`Prompt`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a path, or a `media_type` with `data` in Base64")]
#[non_exhaustive]
pub enum Attached {
    /// A file in the project's root folder, which is read when a model is asked.
    #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
    Path(PathBuf),
    /// A file in memory.
    Data(#[schemars(with = "Data")] Attachment),
}

fn read_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    PathBuf::deserialize(deserializer).inspect(|path| found_path(path))
}

fn write_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    found_path(path);
    path.serialize(serializer)
}

impl From<FoundFile> for Attached {
    fn from(found: FoundFile) -> Self {
        match found {
            FoundFile::Path(path) => Self::Path(path),
            FoundFile::Data(file) => Self::Data(file),
        }
    }
}

/// The JSON form of a file in memory.
#[derive(JsonSchema)]
#[expect(dead_code, clippy::struct_field_names, reason = "only the schema is used, and it needs these names")]
struct Data {
    name: Option<String>,
    media_type: String,
    /// Base64.
    data: String,
}

impl Attached {
    /// Returns the file's name: the last component of a path, or the name of a file in memory.
    #[must_use]
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Path(path) => path.file_name().map(OsStr::to_string_lossy),
            Self::Data(attachment) => attachment.name().map(Cow::Borrowed),
        }
    }

    /// Returns the media type, such as `image/png`; `None` for a path, since its file is not read yet.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        match self {
            Self::Path(_) => None,
            Self::Data(attachment) => Some(attachment.media_type()),
        }
    }
}

impl Prompt {
    /// Returns a prompt with this text and without files.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), attachments: Vec::new() }
    }

    /// Adds a file that is in memory. Default: none.
    #[must_use]
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(Attached::Data(attachment));
        self
    }

    /// Adds a file in the project's root folder, which is read when a model is asked. Default: none.
    ///
    /// This needs the feature `attachments`; without it, the call fails before the model is asked.
    #[must_use]
    pub fn attach_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.attachments.push(Attached::Path(path.into()));
        self
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the files.
    #[must_use]
    pub fn attachments(&self) -> &[Attached] {
        &self.attachments
    }

    /// Reads the files, and returns the prompt as a message; a blank text becomes `(no input)`.
    pub(crate) async fn into_message(self, root: &Path, policy: &AttachmentPolicy) -> Result<Message, String> {
        policy.check_count(self.attachments.len())?;
        let text = if self.text.trim().is_empty() { "(no input)".to_owned() } else { self.text };
        let mut parts = vec![UserPart::Text { text }];
        for attached in self.attachments {
            let file = match attached {
                Attached::Data(attachment) => attachment,
                Attached::Path(path) => read(root.to_owned(), path, policy.max_bytes()).await?,
            };
            policy.check(&file)?;
            parts.push(UserPart::Attachment(file));
        }
        Ok(Message::User { parts })
    }
}

impl<T: Into<String>> From<T> for Prompt {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// What the body of a worker may return: a text or a [`Prompt`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the body of a worker must return its prompt, not `{Self}`",
    label = "expected a `String`, a `&str` or a `Prompt`",
    note = "end the body with the prompt itself, without `Ok(..)`; return errors with `?`"
)]
pub trait IntoPrompt {
    #[doc(hidden)]
    fn into_prompt(self) -> Prompt;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Prompt>> IntoPrompt for T {
    fn into_prompt(self) -> Prompt {
        self.into()
    }
}
