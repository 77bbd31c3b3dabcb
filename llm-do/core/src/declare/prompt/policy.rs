//! Which files a worker takes.

use llm_do_providers::Attachment;
use llm_do_worker_file::check_media_type;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

/// The maximum size of a file that is read, in bytes, unless a worker sets one: the lowest limit of the large providers is 20 MB.
pub(crate) const USUAL_MAX_BYTES: u64 = 20 << 20;

/// Which files the prompt of a worker may have. Unset parts allow any, except that a file that is read has at most 20 MiB.
///
/// A call with other files fails before its model is asked. Files that tools return are not counted.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::prompt::AttachmentPolicy;
///
/// /// Describes pictures.
/// #[worker(attachments = AttachmentPolicy::new().count(3).bytes(5 << 20).types(["image/*"]))]
/// async fn describe_pictures(prompt: Prompt) -> String;
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AttachmentPolicy {
    /// How many files a prompt may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// How many bytes each file may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The media types that a file may have, as patterns such as `image/*`; empty for any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

impl AttachmentPolicy {
    /// Returns a policy that allows any files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many files a prompt may have. Default: any number.
    #[must_use]
    pub fn count(self, count: u32) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Sets how many bytes each file may have. Default: 20 MiB for a file that is read, and any number for one in memory.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Sets the media types that a file may have, as patterns with `*`, compared without case. Default: any.
    #[must_use]
    pub fn types(self, types: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { types: types.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns how many bytes of a file are read.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.bytes.unwrap_or(USUAL_MAX_BYTES)
    }

    /// Checks the number of the files of a prompt.
    pub(crate) fn check_count(&self, found: usize) -> Result<(), String> {
        match self.count.and_then(|count| usize::try_from(count).ok()) {
            Some(count) if found > count => {
                Err(format!("the prompt has {found} attachments, but the worker takes at most {count}; attach fewer"))
            }
            _ => Ok(()),
        }
    }

    /// Checks a file.
    pub(crate) fn check(&self, file: &Attachment) -> Result<(), String> {
        let shown = file.name().unwrap_or("without a name");
        let length = u64::try_from(file.data().len()).unwrap_or(u64::MAX);
        if let Some(max) = self.bytes.filter(|max| length > *max) {
            return Err(too_large(shown, max));
        }
        let takes = |pattern: &String| WildMatch::new_case_insensitive(pattern.trim()).matches(file.media_type());
        if self.types.is_empty() || self.types.iter().any(takes) {
            return Ok(());
        }
        Err(format!(
            "the attachment `{shown}` is `{}`, but the worker takes only `{}`; attach another file, or convert it",
            file.media_type(),
            self.types.join("`, `")
        ))
    }

    /// Returns the faults of its patterns.
    pub(crate) fn faults(&self) -> impl Iterator<Item = String> {
        self.types.iter().filter_map(|pattern| check_media_type(pattern).err())
    }
}

/// Returns the fault of a file of more than `max` bytes.
pub(super) fn too_large(shown: &str, max: u64) -> String {
    let size = if max >= 1 << 20 && max.is_multiple_of(1 << 20) {
        format!("{} MiB", max >> 20)
    } else {
        format!("{max} bytes")
    };
    format!("the attachment `{shown}` is larger than {size}; attach a smaller file")
}
