//! Files and tools' results, as blocks of a user's message.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/vision>,
//! <https://platform.claude.com/docs/en/build-with-claude/pdf-support> and
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>.

use std::borrow::Cow;

use super::PROVIDER;
use super::wire::{Base64, Block, ResultBlock, Source};
use crate::attachment::Attachment;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ToolResult, UserPart};
use crate::programs::text_for_program;

/// Returns the blocks of a user message; a text of only white space is left out, since the API refuses it.
pub(super) fn user(parts: &[UserPart]) -> Result<Vec<Block<'_>>, ProviderError> {
    let blocks = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => (!text.trim().is_empty()).then(|| Ok(Block::text(text))),
        UserPart::Attachment(attachment) => Some(file(attachment)),
    });
    blocks.collect()
}

/// Returns the blocks of a turn's results: first all results, as the API requires, then the files that they cannot contain.
///
/// Beside results for code, the API takes nothing else, and these may only hold text.
pub(super) fn results(
    results: &[ToolResult],
    is_for_code: impl Fn(&ToolResult) -> bool,
) -> Result<Vec<Block<'_>>, ProviderError> {
    let has_code = results.iter().any(&is_for_code);
    let (mut blocks, mut files) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        if is_for_code(result) || (has_code && result.is_error) {
            let text = ResultBlock::Text(text_for_program(result));
            blocks.push(Block::result(id(&result.call_id), text, result.is_error));
            continue;
        }
        // "all content must be type "text" if "is_error" is true"
        let inside = if result.is_error { &[][..] } else { &result.attachments };
        blocks.push(Block::result(id(&result.call_id), content(result, inside)?, result.is_error));
        for attachment in result.attachments.iter().skip(inside.len()) {
            let text = format!("{}, from the tool `{}`:", attachment.heading(), result.name);
            files.extend([Block::text(text), file(attachment)?]);
        }
    }
    blocks.extend(files);
    Ok(blocks)
}

fn content<'a>(result: &'a ToolResult, files: &'a [Attachment]) -> Result<ResultBlock<'a>, ProviderError> {
    let text = if result.content.trim().is_empty() { "" } else { &result.content };
    if files.is_empty() {
        return Ok(ResultBlock::Text(text.into()));
    }
    let text = (!text.is_empty()).then(|| Ok(Block::text(text)));
    Ok(ResultBlock::Blocks(text.into_iter().chain(files.iter().map(file)).collect::<Result<_, _>>()?))
}

/// Returns a call's id in the API's format: ids of other providers may have characters other than letters, digits, `_` and `-`.
pub(super) fn id(id: &str) -> Cow<'_, str> {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if id.is_empty() {
        return "_".into();
    }
    if id.chars().all(is_fine) {
        return id.into();
    }
    id.chars().map(|letter| if is_fine(letter) { letter } else { '_' }).collect()
}

/// Returns a file as the kind of block that its media type has.
fn file(attachment: &Attachment) -> Result<Block<'_>, ProviderError> {
    let base64 = |media_type| Source::Base64 { media_type, data: Base64(attachment) };
    match attachment.essence().as_str() {
        "image/jpeg" | "image/jpg" => Ok(Block::image(base64("image/jpeg"))),
        "image/png" => Ok(Block::image(base64("image/png"))),
        "image/gif" => Ok(Block::image(base64("image/gif"))),
        "image/webp" => Ok(Block::image(base64("image/webp"))),
        "application/pdf" => Ok(Block::document(attachment.name(), base64("application/pdf"))),
        _ if attachment.is_text() => {
            let data = attachment.text().map_err(invalid)?;
            Ok(Block::document(attachment.name(), Source::Text { media_type: "text/plain", data }))
        }
        _ => Err(invalid(format!(
            "the Messages API cannot carry {}; convert it to one of image/jpeg, image/png, image/gif, image/webp, \
             application/pdf, text/* or application/json",
            attachment.described()
        ))),
    }
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, message)
}
