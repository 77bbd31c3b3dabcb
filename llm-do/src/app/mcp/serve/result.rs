//! The result of a call, in the parts of the protocol.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use llm_do_providers::Attachment;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;

/// Returns a result with its files; `structured` if clients know its schema.
pub(super) fn of_return(mut returned: ToolReturn, structured: bool) -> CallToolResult {
    let files = std::mem::take(returned.attachments_mut());
    let value = structured.then(|| returned.to_value());
    let has_text = files.is_empty() || !returned.value().is_null();
    let text = has_text.then(|| ContentBlock::text(returned.into_text()));
    let mut result = CallToolResult::success(text.into_iter().chain(files.iter().map(content)).collect());
    result.structured_content = value;
    result
}

/// Returns an error as a result, so that the client's model can read it.
pub(super) fn of_error(error: &CallError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.model_message())])
}

fn content(file: &Attachment) -> ContentBlock {
    let media_type = file.media_type();
    let encoded = || STANDARD.encode(file.data());
    let uri = || format!("attachment:///{}", file.name().unwrap_or("file").replace(char::is_whitespace, "%20"));
    match media_type.split_once('/').map(|(kind, _)| kind) {
        Some("image") => ContentBlock::image(encoded(), media_type),
        Some("audio") => ContentBlock::audio(encoded(), media_type),
        Some("text") if let Ok(text) = std::str::from_utf8(file.data()) => {
            ContentBlock::resource(ResourceContents::text(text, uri()).with_mime_type(media_type))
        }
        _ => ContentBlock::resource(ResourceContents::blob(encoded(), uri()).with_mime_type(media_type)),
    }
}
