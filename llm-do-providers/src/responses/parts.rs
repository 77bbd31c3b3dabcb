//! The parts of a user message and of a result: texts and files.

use super::PROVIDER;
use super::wire::Part;
use crate::attachment::{Attachment, FileFault};
use crate::error::ProviderError;
use crate::message::UserPart;
use crate::openai::{DataUrl, IMAGES, MAX_FILE, UNNAMED_PDF};

/// The detail of an image: the default, since OpenAI's API description requires the field.
const DETAIL: &str = "auto";

/// Returns a part of a user message; an empty text is left out, since servers refuse it.
pub(super) fn user_part(part: &UserPart) -> Option<Result<Part<'_>, ProviderError>> {
    match part {
        UserPart::Text { text } => (!text.is_empty()).then(|| Ok(Part::InputText { text: text.into() })),
        UserPart::Attachment(attachment) => Some(file(attachment).map_err(|fault| refused(attachment, fault))),
        UserPart::Pin => None,
    }
}

/// Returns a file as the kind of part that its content has.
fn file(attachment: &Attachment) -> Result<Part<'_>, FileFault> {
    if attachment.is_sent_as_text() {
        let text = attachment.inlined().map_err(|_| FileFault::NotUtf8)?;
        return Ok(Part::InputText { text: text.into() });
    }
    match attachment.checked_type(MAX_FILE)?.as_str() {
        image if IMAGES.contains(&image) => Ok(Part::InputImage { image_url: DataUrl(attachment), detail: DETAIL }),
        "application/pdf" => {
            let filename = attachment.name().unwrap_or(UNNAMED_PDF);
            Ok(Part::InputFile { filename, file_data: DataUrl(attachment) })
        }
        _ => Err(FileFault::Type),
    }
}

/// Returns a file of a result, or a text that states why it is not sent: a tool's file must not fail the conversation.
pub(super) fn file_or_note(attachment: &Attachment) -> Part<'_> {
    file(attachment).unwrap_or_else(|fault| Part::InputText { text: fault.note(attachment, &accepted()).into() })
}

/// Returns the error for the user's file.
fn refused(attachment: &Attachment, fault: FileFault) -> ProviderError {
    let text = fault.error(attachment, "the Responses API does not support", &accepted());
    ProviderError::invalid_request(PROVIDER, text)
}

fn accepted() -> String {
    format!("{}, application/pdf, text/* or application/json", IMAGES.join(", "))
}
