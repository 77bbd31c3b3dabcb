//! The blocks of a user message: texts, files and tool results.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/vision>,
//! <https://platform.claude.com/docs/en/build-with-claude/pdf-support> and
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>.

use super::PROVIDER;
use super::wire::{Block, FileSource, ResultBlock};
use crate::attachment::{Attachment, Base64, FileFault};
use crate::error::ProviderError;
use crate::message::UserPart;
use crate::programs::text_for_program;
use crate::sent_history::{Answered, IdRule, call_id, tool_name};

/// The ids of calls: `^[a-zA-Z0-9_-]+$`, up to 64 characters on Amazon's servers
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html>, read 2026-11-28).
pub(super) const IDS: IdRule = IdRule::Word(64);
/// The accepted types of files.
const ACCEPTED: &str = "image/jpeg, image/png, image/gif, image/webp, application/pdf, text/* or application/json";
/// The maximum size of an image as base64, in bytes, by <https://platform.claude.com/docs/en/build-with-claude/vision>: 5 MB.
const MAX_IMAGE: usize = 5 << 20;
/// The maximum size of a request, in bytes, by <https://platform.claude.com/docs/en/build-with-claude/pdf-support>.
const MAX_DOCUMENT: usize = 32_000_000;

/// Returns the blocks of a user message; a text of only white space is left out, since the API refuses it.
pub(super) fn user(parts: &[UserPart]) -> Result<Vec<Block<'_>>, ProviderError> {
    let blocks = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => (!text.trim().is_empty()).then(|| Ok(Block::text(text))),
        UserPart::Attachment(attachment) => Some(file(attachment).map_err(|fault| refused(attachment, fault))),
        UserPart::Pin => None,
    });
    blocks.collect()
}

/// Returns the blocks of a turn's results: first all results, as the API requires, then the files that they cannot contain.
///
/// Next to results for code, the API accepts no other blocks, and these results may contain only text.
pub(super) fn results<'a>(results: &[Answered<'a>], is_for_code: impl Fn(&Answered<'a>) -> bool) -> Vec<Block<'a>> {
    let has_code = results.iter().any(&is_for_code);
    let (mut blocks, mut files) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        let id = call_id(&result.call.id, result.repeats.call, IDS);
        let (is_error, attachments) = (result.is_error(), result.attachments());
        if is_for_code(result) || (has_code && is_error) {
            let text = ResultBlock::Text(text_for_program(result.content(), attachments));
            blocks.push(Block::result(id, text, is_error));
            continue;
        }
        // "all content must be type "text" if "is_error" is true"
        let inside = if is_error { &[][..] } else { attachments };
        blocks.push(Block::result(id, content(result.content(), inside), is_error));
        for attachment in attachments.iter().skip(inside.len()) {
            let text = format!("{}, from the tool `{}`:", attachment.heading(), tool_name(&result.call.name));
            files.extend([Block::text(text), file_or_note(attachment)]);
        }
    }
    blocks.extend(files);
    blocks
}

fn content<'a>(text: &'a str, files: &'a [Attachment]) -> ResultBlock<'a> {
    let text = if text.trim().is_empty() { "" } else { text };
    if files.is_empty() {
        return ResultBlock::Text(text.into());
    }
    let text = (!text.is_empty()).then(|| Block::text(text));
    ResultBlock::Blocks(text.into_iter().chain(files.iter().map(file_or_note)).collect())
}

/// Returns a file of a result, or a text that states why it is not sent: a tool's file must not fail the conversation.
fn file_or_note(attachment: &Attachment) -> Block<'_> {
    file(attachment).unwrap_or_else(|fault| Block::text(fault.note(attachment, ACCEPTED)))
}

/// Returns a file as the kind of block that its content has.
fn file(attachment: &Attachment) -> Result<Block<'_>, FileFault> {
    if attachment.is_sent_as_text() {
        let data = attachment.text().map_err(|_| FileFault::NotUtf8)?;
        if data.trim().is_empty() {
            // The API refuses a document without text.
            return Ok(Block::text(format!("{}: (empty)", attachment.heading())));
        }
        return Ok(Block::document(attachment.name(), FileSource::Text { media_type: "text/plain", data }));
    }
    let base64 = |media_type| FileSource::Base64 { media_type, data: Base64(attachment) };
    let content = attachment.checked_type(MAX_DOCUMENT)?;
    let image = match content.as_str() {
        "image/jpeg" => "image/jpeg",
        "image/png" => "image/png",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        "application/pdf" => return Ok(Block::document(attachment.name(), base64("application/pdf"))),
        _ => return Err(FileFault::Type),
    };
    attachment.checked_type(MAX_IMAGE)?;
    Ok(Block::image(base64(image)))
}

fn refused(attachment: &Attachment, fault: FileFault) -> ProviderError {
    let text = fault.error(attachment, "the Messages API cannot carry", ACCEPTED);
    ProviderError::invalid_request(PROVIDER, text)
}
