//! The parts of a user's message, files included.

use super::dialect::{Audio, Pdf, Target};
use super::wire::{Base64, ChatMessage, Content, DataUrl, FileData, ImageUrl, InputAudio, Part};
use crate::attachment::Attachment;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ToolResult, UserPart};

/// The name of a PDF without one, since servers require it.
const UNNAMED_PDF: &str = "attachment.pdf";

/// Makes parts of messages for a server and one of its models.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) target: Target<'a>,
}

impl Parts<'_> {
    /// Returns a user's message; one text goes as plain text, which every server takes.
    pub(super) fn user<'m>(&self, parts: &'m [UserPart]) -> Result<ChatMessage<'m>, ProviderError> {
        let content = match parts {
            [UserPart::Text { text }] => Content::Text(text),
            parts => Content::Parts(parts.iter().map(|part| self.part(part)).collect::<Result<_, _>>()?),
        };
        Ok(ChatMessage::User { content })
    }

    /// Returns the user's message with the files of `results`, if there are any and a tool's message takes only text.
    pub(super) fn attached<'m>(&self, results: &'m [ToolResult]) -> Result<Option<ChatMessage<'m>>, ProviderError> {
        if !self.has_attached(results) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for result in results {
            for attachment in &result.attachments {
                let text = format!("{}, from the tool `{}`:", attachment.heading(), result.name).into();
                parts.extend([Part::Text { text }, self.file(attachment)?]);
            }
        }
        Ok(Some(ChatMessage::User { content: Content::Parts(parts) }))
    }

    /// Whether `results` have files that go into a message of their own.
    pub(super) fn has_attached(&self, results: &[ToolResult]) -> bool {
        !self.target.dialect.files.in_results && results.iter().any(|result| !result.attachments.is_empty())
    }

    /// Returns a result and its files, if it has any and they may stand in a tool's message.
    pub(super) fn in_result<'m>(&self, result: &'m ToolResult) -> Result<Option<Vec<Part<'m>>>, ProviderError> {
        if result.attachments.is_empty() || !self.target.dialect.files.in_results {
            return Ok(None);
        }
        let text = Ok(Part::Text { text: result.content.as_str().into() });
        let files = result.attachments.iter().map(|attachment| self.file(attachment));
        std::iter::once(text).chain(files).collect::<Result<_, _>>().map(Some)
    }

    fn part<'m>(&self, part: &'m UserPart) -> Result<Part<'m>, ProviderError> {
        match part {
            UserPart::Text { text } => Ok(Part::Text { text: text.into() }),
            UserPart::Attachment(attachment) => self.file(attachment),
        }
    }

    /// Returns a file as the kind of part that its media type has.
    fn file<'m>(&self, attachment: &'m Attachment) -> Result<Part<'m>, ProviderError> {
        let files = self.target.dialect.files;
        let part = match attachment.essence().as_str() {
            essence if essence.starts_with("image/") && self.target.takes_images() => {
                Some(Part::ImageUrl { image_url: ImageUrl { url: DataUrl(attachment) } })
            }
            "application/pdf" => files.pdf.map(|pdf| document(attachment, pdf)),
            // The registered name is `audio/vnd.wave`; hardly anyone writes it.
            "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => audio(attachment, files.audio, "wav"),
            "audio/mpeg" | "audio/mp3" => audio(attachment, files.audio, "mp3"),
            _ if attachment.is_text() => {
                let text = attachment.inlined().map_err(|fault| self.invalid(fault))?;
                Some(Part::Text { text: text.into() })
            }
            _ => None,
        };
        part.ok_or_else(|| {
            let (described, taken) = (attachment.described(), self.taken());
            self.invalid(format!("chat completions do not support {described}; convert it to one of {taken}"))
        })
    }

    /// The media types that there is a part for.
    fn taken(&self) -> String {
        let files = self.target.dialect.files;
        let images = self.target.takes_images().then_some("image/*, ");
        let pdf = files.pdf.map(|_| "application/pdf, ");
        let audio = files.audio.map(|_| "audio/wav, audio/mpeg, ");
        [images, pdf, audio, Some("text/* or application/json")].into_iter().flatten().collect()
    }

    fn invalid(&self, message: String) -> ProviderError {
        ProviderError::new(self.target.provider(), ErrorKind::InvalidRequest, message)
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

    use super::{Parts, Target};
    use crate::attachment::Attachment;
    use crate::capability::OpenAiCapabilities;
    use crate::error::ErrorKind;
    use crate::message::{ToolCall, ToolResult, UserPart};
    use crate::openai::server::Server;

    static CAPABILITIES: LazyLock<OpenAiCapabilities> = LazyLock::new(OpenAiCapabilities::default);
    const PARTS: fn() -> Parts<'static> = || {
        let dialect = Server::OpenAi.dialect();
        Parts { target: Target { model: "m", dialect, capabilities: &CAPABILITIES, is_mistral: false } }
    };

    fn sent(attachment: Attachment) -> Value {
        serde_json::to_value(PARTS().user(&[UserPart::Attachment(attachment)]).unwrap()).unwrap()["content"].take()
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
            for error in [PARTS().user(&parts).unwrap_err(), PARTS().attached(&results).unwrap_err()] {
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
    fn text_that_is_not_utf_8_is_refused() {
        let parts = [UserPart::Attachment(Attachment::new("text/plain", [0xE9]).named("é.txt"))];
        let error = PARTS().user(&parts).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains("`é.txt` of type `text/plain` is not UTF-8; convert it"), "{error}");
    }

    #[test]
    fn results_without_files_need_no_message_of_their_own() {
        assert!(PARTS().attached(&[result("a"), result("b")]).unwrap().is_none());
    }
}
