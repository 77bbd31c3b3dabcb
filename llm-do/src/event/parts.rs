//! The parts of an answer as events write them: of a file its size, since a log of pictures would hold nothing else.

use llm_do_providers::{Attachment, ResponsePart};
use serde::{Serialize, Serializer};

/// A part, as it is written.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    File(File<'a>),
    Other(&'a ResponsePart),
}

#[derive(Serialize)]
struct File<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    media_type: &'a str,
    bytes: usize,
}

/// Writes the parts.
pub(super) fn serialize<S: Serializer>(parts: &[ResponsePart], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(parts.iter().map(shown))
}

fn shown(part: &ResponsePart) -> Shown<'_> {
    match part {
        ResponsePart::Attachment(file) => Shown::File(sized(file)),
        other => Shown::Other(other),
    }
}

fn sized(file: &Attachment) -> File<'_> {
    File { r#type: "attachment", name: file.name(), media_type: file.media_type(), bytes: file.data().len() }
}
