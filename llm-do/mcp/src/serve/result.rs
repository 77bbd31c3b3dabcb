//! The result of a call, as parts of the protocol.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use llm_do_core::base::error::CallError;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_providers::Attachment;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::caller::MissingCapability;

/// Returns the result of a call, or its error as a result, which the client's model can read. `structured` is whether
/// clients know the schema of the value.
///
/// # Errors
///
/// Returns a protocol error if a different client must make the call.
pub(super) fn of_call(finished: Result<ToolReturn, CallError>, structured: bool) -> Result<CallToolResult, ErrorData> {
    let error = match finished {
        Ok(returned) => return Ok(of_return(returned, structured)),
        Err(error) => error,
    };
    let first: &(dyn std::error::Error + 'static) = &error;
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    match causes.find_map(|error| error.downcast_ref::<MissingCapability>()) {
        Some(missing) => Err(missing.error()),
        None => Ok(CallToolResult::error(vec![ContentBlock::text(error.model_message())])),
    }
}

fn of_return(mut returned: ToolReturn, structured: bool) -> CallToolResult {
    let files = std::mem::take(returned.attachments_mut());
    let value = structured.then(|| returned.value().clone());
    let has_text = files.is_empty() || !returned.value().is_null();
    let text = has_text.then(|| ContentBlock::text(returned.into_text()));
    let mut result = CallToolResult::success(text.into_iter().chain(files.iter().map(content)).collect());
    result.structured_content = value;
    result
}

/// Returns a file as content, in the form that its media type has in the protocol.
pub(super) fn content(file: &Attachment) -> ContentBlock {
    let media_type = file.media_type();
    match media_type.split_once('/').map(|(kind, _)| kind) {
        Some("image") => ContentBlock::image(STANDARD.encode(file.data()), media_type),
        Some("audio") => ContentBlock::audio(STANDARD.encode(file.data()), media_type),
        _ => {
            let name = file.name().unwrap_or("file").replace(char::is_whitespace, "%20");
            ContentBlock::resource(resource(file, &format!("attachment:///{name}")))
        }
    }
}

/// Returns a file as the content of a resource: text, or bytes in Base64.
pub(super) fn resource(file: &Attachment, uri: &str) -> ResourceContents {
    let media_type = file.media_type();
    let is_text = media_type.starts_with("text/") || media_type == "application/json";
    match std::str::from_utf8(file.data()) {
        Ok(text) if is_text => ResourceContents::text(text, uri),
        _ => ResourceContents::blob(STANDARD.encode(file.data()), uri),
    }
    .with_mime_type(media_type)
}
