//! Files as they are sent to providers: by their content, not by their label.

use super::Attachment;

/// The types whose files start with known bytes, so that a label without them is wrong.
const SIGNED: [&str; 7] =
    ["image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif", "application/pdf"];
/// The length of the longest of these signatures; a shorter file is not checked.
const SIGNATURE: usize = 12;
/// The maximum offset of the first line of a PDF, in bytes.
const PDF_HEAD: usize = 1_024;
/// The type of a file whose content does not match its label.
const UNKNOWN: &str = "application/octet-stream";

/// Why a file cannot be sent to a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFault {
    /// The provider does not accept its type.
    Type,
    Empty,
    /// It is larger than this number of bytes.
    Large(usize),
    NotUtf8,
}

impl FileFault {
    /// Returns the error for a user's file: `refusal` is a phrase such as "the API does not support", and `accepts`
    /// lists the accepted types.
    pub(crate) fn error(self, file: &Attachment, refusal: &str, accepts: &str) -> String {
        let described = file.described();
        match self {
            Self::Type => match file.wrong_label() {
                Some(content) => format!("{described} {content}; convert it to one of {accepts}"),
                None => format!("{refusal} {described}; convert it to one of {accepts}"),
            },
            Self::Empty => format!("{described} is empty; attach a file with content, as one of {accepts}"),
            Self::Large(most) => {
                format!("{described} has {} bytes, and the API accepts {most}; attach a smaller file", file.data.len())
            }
            Self::NotUtf8 => format!("{described} is not UTF-8; convert it before attaching it"),
        }
    }

    /// Returns the text for the model that replaces `file` in a tool result.
    pub(crate) fn note(self, file: &Attachment, accepts: &str) -> String {
        let why = match self {
            Self::Type => match file.wrong_label() {
                Some(content) => format!("it {content}, and only {accepts} can be shown"),
                None => format!("only {accepts} can be shown"),
            },
            Self::Empty => "it is empty".to_owned(),
            Self::Large(most) => format!("it has more than {most} bytes"),
            Self::NotUtf8 => "it is not UTF-8".to_owned(),
        };
        let name = file.name().map(|name| format!(" `{name}`")).unwrap_or_default();
        format!("[file{name} of type `{}`, {} bytes, is not shown: {why}]", file.media_type, file.data.len())
    }
}

impl Attachment {
    /// Returns the media type of the content, for a file that is not text: by its first bytes, or else as labelled.
    ///
    /// # Errors
    ///
    /// Returns a fault if the file is empty, or if its base64 has more than `most` bytes.
    pub(crate) fn checked_type(&self, most: usize) -> Result<String, FileFault> {
        match self.data.len() {
            0 => Err(FileFault::Empty),
            length if length.div_ceil(3) * 4 > most => Err(FileFault::Large(most / 4 * 3)),
            _ => Ok(self.content_type()),
        }
    }

    /// Returns the media type of the content.
    pub(crate) fn content_type(&self) -> String {
        let label = normalized(self.essence());
        let kind = |media_type: &str| media_type.split('/').next().unwrap_or_default().to_owned();
        let found = infer::get(&self.data).map(|found| normalized(found.mime_type().to_owned()));
        match found {
            Some(found) if found.starts_with("image/") || found == "application/pdf" => found,
            // Video containers may contain only audio.
            Some(found) if matches!(&*kind(&found), "audio" | "video") => {
                let is_media = matches!(&*kind(&label), "audio" | "video");
                if !is_media || kind(&found) == kind(&label) { found } else { label }
            }
            _ if label == "application/pdf" && has_pdf_head(&self.data) => label,
            _ if SIGNED.contains(&&*label) && self.data.len() >= SIGNATURE => UNKNOWN.to_owned(),
            _ => label,
        }
    }

    /// Returns whether it is sent as text: it is labelled as text, and its content matches.
    pub(crate) fn is_sent_as_text(&self) -> bool {
        self.is_text() && (self.text().is_ok() || self.content_type() == self.essence())
    }

    /// Returns whether its label or its content is an image.
    #[cfg(feature = "openai")]
    pub(crate) fn is_image(&self) -> bool {
        self.essence().starts_with("image/") || self.content_type().starts_with("image/")
    }

    /// Describes how the content differs from the label, if it does.
    fn wrong_label(&self) -> Option<String> {
        let (label, content) = (normalized(self.essence()), self.content_type());
        if label == content {
            None
        } else if content == UNKNOWN {
            Some("has other content than its type states".to_owned())
        } else {
            Some(format!("contains `{content}`"))
        }
    }
}

fn has_pdf_head(data: &[u8]) -> bool {
    data[..data.len().min(PDF_HEAD)].windows(4).any(|bytes| bytes == b"%PDF")
}

/// Returns the usual name of a media type.
fn normalized(essence: String) -> String {
    match essence.as_str() {
        "image/jpg" | "image/pjpeg" | "image/x-jpeg" => "image/jpeg".to_owned(),
        "image/x-png" | "image/apng" => "image/png".to_owned(),
        "image/x-bmp" | "image/x-ms-bmp" => "image/bmp".to_owned(),
        "application/x-pdf" => "application/pdf".to_owned(),
        // The registered name is `audio/vnd.wave`, which is rarely used.
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav".to_owned(),
        "audio/mp3" | "audio/x-mp3" | "audio/x-mpeg" => "audio/mpeg".to_owned(),
        "audio/x-flac" => "audio/flac".to_owned(),
        "audio/x-aiff" => "audio/aiff".to_owned(),
        "audio/m4a" | "audio/x-m4a" => "audio/mp4".to_owned(),
        _ => essence,
    }
}

#[cfg(test)]
mod tests {
    use super::{Attachment, FileFault};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01";

    fn content(label: &str, data: &[u8]) -> String {
        Attachment::new(label, data).content_type()
    }

    #[test]
    fn the_content_decides_and_not_the_label() {
        assert_eq!(content("image/jpeg", PNG), "image/png");
        assert_eq!(content("Image/PNG; a=b", JPEG), "image/jpeg");
        assert_eq!(content("application/octet-stream", PNG), "image/png");
        assert_eq!(content("image/png", b"%PDF-1.7\n%abcdef"), "application/pdf");
        assert_eq!(content("application/pdf", b"\n\n%PDF-1.7\n%abcdef"), "application/pdf");
        assert_eq!(content("image/png", b"BM\0\0\0\0\0\0\0\0\0\0\0\0"), "image/bmp");
        assert_eq!(content("audio/mpeg", b"RIFF\x24\0\0\0WAVEfmt "), "audio/wav");
        assert_eq!(content("image/png", b"<html>no such page</html>"), "application/octet-stream");
        assert_eq!(content("image/webp", b"<svg xmlns=\"x\"></svg>"), "application/octet-stream");
    }

    #[test]
    fn labels_are_normalized_where_the_content_is_unknown() {
        let names = [
            ("image/jpg", "image/jpeg"),
            ("Image/PNG", "image/png"),
            ("audio/x-wav; rate=8000", "audio/wav"),
            ("audio/mp3", "audio/mpeg"),
            ("image/svg+xml", "image/svg+xml"),
        ];
        for (label, expected) in names {
            assert_eq!(content(label, b"hi!"), expected, "{label}");
        }
    }

    #[test]
    fn a_fault_names_the_file_its_type_and_what_is_accepted() {
        let file = Attachment::new("image/png", &b"BM\0\0\0\0\0\0\0\0\0\0\0\0"[..]).named("a.png");
        let error = FileFault::Type.error(&file, "the API does not support", "image/png");
        assert!(error.contains("`a.png` of type `image/png` contains `image/bmp`"), "{error}");
        let note = FileFault::Type.note(&file, "image/png");
        assert!(note.contains("`a.png` of type `image/png`, 14 bytes") && note.contains("image/bmp"), "{note}");
        assert_eq!(Attachment::new("image/png", "").checked_type(10), Err(FileFault::Empty));
        assert_eq!(Attachment::new("image/png", "abcdefghi").checked_type(10), Err(FileFault::Large(6)));
    }
}
