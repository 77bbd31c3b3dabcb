//! The parts of a user message: texts and files.

use super::dialect::{Audio, Pdf, Target};
use super::wire::{ChatMessage, Content, DataUrl, FileData, ImageUrl, InputAudio, Part};
use crate::attachment::{Attachment, Base64, FileFault};
use crate::error::ProviderError;
use crate::message::UserPart;
use crate::sent_history::{Answered, EMPTY, tool_name};

/// The images of chat completions, by <https://platform.openai.com/docs/guides/images-vision> (read 2026-11-28); other
/// servers document no further types.
pub(crate) const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The maximum size of a file as base64, in bytes. By the same page, a request has at most 50 MB.
pub(crate) const MAX_FILE: usize = 50_000_000;
/// The name of a PDF without one, since servers require it.
pub(crate) const UNNAMED_PDF: &str = "attachment.pdf";

/// Creates message parts for a server and one of its models.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartWriter<'a> {
    pub(super) target: Target<'a>,
}

impl PartWriter<'_> {
    /// Returns a user message. A single text is sent as a plain string, which every server accepts; empty texts are
    /// left out.
    pub(super) fn user<'m>(&self, parts: &'m [UserPart]) -> Result<ChatMessage<'m>, ProviderError> {
        let content = match parts {
            [UserPart::Text { text }] if !text.is_empty() => Content::Text(text),
            parts => {
                let parts = parts.iter().filter_map(|part| self.part(part)).collect::<Result<Vec<_>, _>>()?;
                if parts.is_empty() { Content::Text(EMPTY) } else { Content::Parts(parts) }
            }
        };
        Ok(ChatMessage::User { content })
    }

    /// Returns a user message with the files of `results`, if there are files and a tool message may contain only text.
    pub(super) fn attached<'m>(&self, results: &[Answered<'m>]) -> Option<ChatMessage<'m>> {
        if !self.has_attached(results) {
            return None;
        }
        let mut parts = Vec::new();
        for result in results {
            for attachment in result.attachments() {
                let name = tool_name(&result.call.name);
                let text = format!("{}, from the tool `{name}`:", attachment.heading()).into();
                parts.extend([Part::Text { text }, self.file_or_note(attachment)]);
            }
        }
        Some(ChatMessage::User { content: Content::Parts(parts) })
    }

    /// Whether `results` have files that are sent in a separate message.
    pub(super) fn has_attached(&self, results: &[Answered<'_>]) -> bool {
        !self.target.dialect.files.in_results && results.iter().any(|result| !result.attachments().is_empty())
    }

    /// Returns a result with its files, if it has any and a tool message may contain them.
    pub(super) fn in_result<'m>(&self, result: &Answered<'m>) -> Option<Vec<Part<'m>>> {
        if result.attachments().is_empty() || !self.target.dialect.files.in_results {
            return None;
        }
        let text = (!result.content().is_empty()).then(|| Part::Text { text: result.content().into() });
        let files = result.attachments().iter().map(|attachment| self.file_or_note(attachment));
        Some(text.into_iter().chain(files).collect())
    }

    fn part<'m>(&self, part: &'m UserPart) -> Option<Result<Part<'m>, ProviderError>> {
        match part {
            UserPart::Text { text } => (!text.is_empty()).then(|| Ok(Part::Text { text: text.into() })),
            UserPart::Attachment(attachment) => Some(self.file(attachment).map_err(|fault| {
                self.invalid(fault.error(attachment, "chat completions do not support", &self.taken(attachment)))
            })),
            UserPart::Pin => None,
        }
    }

    /// Returns a file of a result, or a text that states why it is not sent: a tool's file must not fail the conversation.
    fn file_or_note<'m>(&self, attachment: &'m Attachment) -> Part<'m> {
        let note = |fault: FileFault| Part::Text { text: fault.note(attachment, &self.taken(attachment)).into() };
        self.file(attachment).unwrap_or_else(note)
    }

    /// Returns a file as the kind of part that its content has.
    fn file<'m>(&self, attachment: &'m Attachment) -> Result<Part<'m>, FileFault> {
        if attachment.is_sent_as_text() {
            let text = attachment.inlined().map_err(|_| FileFault::NotUtf8)?;
            return Ok(Part::Text { text: text.into() });
        }
        let files = self.target.dialect.files;
        let part = match attachment.checked_type(MAX_FILE)?.as_str() {
            image if IMAGES.contains(&image) && self.target.takes_images() => {
                Some(Part::ImageUrl { image_url: ImageUrl { url: DataUrl(attachment) } })
            }
            "application/pdf" => files.pdf.map(|pdf| document(attachment, pdf)),
            "audio/wav" => audio(attachment, files.audio, "wav"),
            "audio/mpeg" => audio(attachment, files.audio, "mp3"),
            _ => None,
        };
        part.ok_or(FileFault::Type)
    }

    /// Returns the supported media types for an error about `file`; image types are listed only for an image.
    fn taken(&self, file: &Attachment) -> String {
        let files = self.target.dialect.files;
        let images = if file.is_image() { IMAGES.join(", ") } else { "image/*".to_owned() };
        let images = self.target.takes_images().then(|| format!("{images}, "));
        let pdf = files.pdf.map(|_| "application/pdf, ".to_owned());
        let audio = files.audio.map(|_| "audio/wav, audio/mpeg, ".to_owned());
        let text = Some("text/* or application/json".to_owned());
        [images, pdf, audio, text].into_iter().flatten().collect()
    }

    fn invalid(&self, message: String) -> ProviderError {
        ProviderError::invalid_request(self.target.provider(), message)
    }
}

fn document(attachment: &Attachment, pdf: Pdf) -> Part<'_> {
    let name = attachment.name().unwrap_or(UNNAMED_PDF);
    match pdf {
        Pdf::File => Part::File { file: FileData { filename: name, file_data: DataUrl(attachment) } },
        Pdf::DocumentUrl => Part::DocumentUrl { document_url: DataUrl(attachment), document_name: name },
    }
}

fn audio<'m>(attachment: &'m Attachment, audio: Option<Audio>, format: &'static str) -> Option<Part<'m>> {
    let data = Base64(attachment);
    let input_audio = match audio? {
        Audio::Object => InputAudio::Object { data, format },
        Audio::Bare => InputAudio::Bare(data),
    };
    Some(Part::InputAudio { input_audio })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::{Value, json};

    use super::{PartWriter, Target};
    use crate::attachment::Attachment;
    use crate::capability::OpenAiCapabilities;
    use crate::error::ErrorKind;
    use crate::message::UserPart;
    use crate::openai::server::Server;

    static CAPABILITIES: LazyLock<OpenAiCapabilities> = LazyLock::new(OpenAiCapabilities::default);
    const PARTS: fn() -> PartWriter<'static> = || {
        let dialect = Server::OpenAi.dialect();
        PartWriter { target: Target { model: "m", dialect, capabilities: &CAPABILITIES, is_mistral: false } }
    };

    fn sent(attachment: Attachment) -> Value {
        serde_json::to_value(PARTS().user(&[UserPart::Attachment(attachment)]).unwrap()).unwrap()["content"].take()
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
            let error = PARTS().user(&parts).unwrap_err();
            let text = error.to_string();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            assert!(text.contains(&format!("of type `{}`", attachment.media_type())), "{text}");
            assert!(text.contains(attachment.name().unwrap_or_default()), "{text}");
            assert!(text.ends_with("image/*, application/pdf, audio/wav, audio/mpeg, text/* or application/json"));
            assert!(!text.contains("secret"), "{text}");
        }
        let svg = Attachment::new("image/svg+xml", "<svg/>").named("a.svg");
        let text = PARTS().user(&[UserPart::Attachment(svg)]).unwrap_err().to_string();
        assert!(text.contains("`a.svg` of type `image/svg+xml`") && text.contains("image/png, image/jpeg"), "{text}");
    }

    #[test]
    fn text_that_is_not_utf_8_is_refused() {
        let parts = [UserPart::Attachment(Attachment::new("text/plain", [0xE9]).named("é.txt"))];
        let error = PARTS().user(&parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains("`é.txt` of type `text/plain` is not UTF-8; convert it"), "{error}");
    }
}
