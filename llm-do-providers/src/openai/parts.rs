//! What a user's message is made of, files included.

use super::PROVIDER;
use super::wire::{Base64, ChatMessage, Content, DataUrl, FileData, ImageUrl, InputAudio, Part};
use crate::attachment::Attachment;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ToolResult, UserPart};

/// What the server calls a PDF without a name: it wants one.
const UNNAMED_PDF: &str = "attachment.pdf";

/// Returns a user's message; one text goes as plain text, which every server takes.
pub(super) fn user(parts: &[UserPart]) -> Result<ChatMessage<'_>, ProviderError> {
    let content = match parts {
        [UserPart::Text { text }] => Content::Text(text),
        parts => Content::Parts(parts.iter().map(part).collect::<Result<_, _>>()?),
    };
    Ok(ChatMessage::User { content })
}

/// Returns the user's message with the files of `results`, if there are any: a tool's message takes only text.
pub(super) fn attached(results: &[ToolResult]) -> Result<Option<ChatMessage<'_>>, ProviderError> {
    let mut parts = Vec::new();
    for result in results {
        for attachment in &result.attachments {
            let text = format!("{}, from the tool `{}`:", attachment.heading(), result.name).into();
            parts.extend([Part::Text { text }, file(attachment)?]);
        }
    }
    Ok((!parts.is_empty()).then_some(ChatMessage::User { content: Content::Parts(parts) }))
}

fn part(part: &UserPart) -> Result<Part<'_>, ProviderError> {
    match part {
        UserPart::Text { text } => Ok(Part::Text { text: text.into() }),
        UserPart::Attachment(attachment) => file(attachment),
    }
}

/// Returns a file as the kind of part that its media type has.
fn file(attachment: &Attachment) -> Result<Part<'_>, ProviderError> {
    match attachment.essence().as_str() {
        essence if essence.starts_with("image/") => {
            Ok(Part::ImageUrl { image_url: ImageUrl { url: DataUrl(attachment) } })
        }
        "application/pdf" => {
            let filename = attachment.name().unwrap_or(UNNAMED_PDF);
            Ok(Part::File { file: FileData { filename, file_data: DataUrl(attachment) } })
        }
        // The registered name is `audio/vnd.wave`; hardly anyone writes it.
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Ok(audio(attachment, "wav")),
        "audio/mpeg" | "audio/mp3" => Ok(audio(attachment, "mp3")),
        _ if attachment.is_text() => Ok(Part::Text { text: attachment.inlined().map_err(invalid)?.into() }),
        _ => Err(invalid(format!(
            "chat completions cannot carry {}; convert it to one of image/*, application/pdf, audio/wav, audio/mpeg, \
             text/* or application/json",
            attachment.described()
        ))),
    }
}

fn audio<'a>(attachment: &'a Attachment, format: &'static str) -> Part<'a> {
    Part::InputAudio { input_audio: InputAudio { data: Base64(attachment), format } }
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{attached, user};
    use crate::attachment::Attachment;
    use crate::error::ErrorKind;
    use crate::message::{ToolCall, ToolResult, UserPart};

    fn sent(attachment: Attachment) -> Value {
        serde_json::to_value(user(&[UserPart::Attachment(attachment)]).unwrap()).unwrap()["content"].take()
    }

    fn result(name: &str) -> ToolResult {
        ToolResult::new(&ToolCall::new(name, name, "{}"), "done")
    }

    #[test]
    fn an_image_is_a_data_url() {
        let url = json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGkh"}}]);
        for media_type in ["image/png", "Image/PNG", "image/png; a=b"] {
            assert_eq!(sent(Attachment::new(media_type, "hi!").named("a.png")), url);
        }
    }

    #[test]
    fn a_pdf_is_a_file_with_a_name() {
        let file = |name: &str| json!([{"type": "file", "file": {"filename": name, "file_data": "data:application/pdf;base64,aGkh"}}]);
        let pdf = Attachment::new("application/pdf", "hi!");
        assert_eq!(sent(pdf.clone()), file("attachment.pdf"));
        assert_eq!(sent(pdf.named("a \"b\".pdf")), file("a \"b\".pdf"));
    }

    #[test]
    fn audio_is_bare_base64_beside_its_format() {
        let spellings = [("audio/wav", "wav"), ("audio/x-wav", "wav"), ("audio/mpeg", "mp3"), ("audio/mp3", "mp3")];
        for (media_type, format) in spellings {
            let audio = json!([{"type": "input_audio", "input_audio": {"data": "aGkh", "format": format}}]);
            assert_eq!(sent(Attachment::new(media_type, "hi!")), audio);
        }
    }

    #[test]
    fn a_text_file_is_text_below_its_name() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let csv = Attachment::new("text/csv", "a,b\n");
        assert_eq!(sent(csv.clone()), text("File of type `text/csv`:\na,b\n"));
        assert_eq!(sent(csv.named("t.csv")), text("File `t.csv`:\na,b\n"));
        assert_eq!(sent(Attachment::new("application/json", "[]").named("a")), text("File `a`:\n[]"));
    }

    #[test]
    fn a_file_of_another_type_is_refused_by_name() {
        for attachment in
            [Attachment::new("video/mp4", "secret").named("a.mp4"), Attachment::new("audio/ogg", "secret")]
        {
            let parts = [UserPart::Attachment(attachment.clone())];
            let results = [result("record").with_attachments([attachment.clone()])];
            for error in [user(&parts).unwrap_err(), attached(&results).unwrap_err()] {
                let text = error.to_string();
                assert_eq!(error.kind(), ErrorKind::InvalidRequest);
                assert!(text.contains(&format!("of type `{}`", attachment.media_type())), "{text}");
                assert!(text.contains(attachment.name().unwrap_or_default()), "{text}");
                assert!(text.ends_with("image/*, application/pdf, audio/wav, audio/mpeg, text/* or application/json"));
                assert!(!text.contains("secret"), "{text}");
            }
        }
    }

    #[test]
    fn text_that_is_no_utf_8_is_refused() {
        let parts = [UserPart::Attachment(Attachment::new("text/plain", [0xE9]).named("é.txt"))];
        let error = user(&parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains("`é.txt` of type `text/plain` is not UTF-8; convert it"), "{error}");
    }

    #[test]
    fn results_without_files_need_no_message_of_their_own() {
        assert!(attached(&[result("a"), result("b")]).unwrap().is_none());
    }
}
