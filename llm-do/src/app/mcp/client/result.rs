//! The result of a server's tool as the result of ours: untrusted, so bounded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use llm_do_providers::Attachment;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value};

use super::server::McpServer;
use super::text;
use crate::base::error::Result;
use crate::declare::tool::ToolReturn;

/// The longest text of a failed call, in bytes.
const MAX_ERROR: usize = 8 << 10;
/// The most files of a result.
const MAX_FILES: usize = 20;

/// Returns the result of a call, within the limits of the server; a note in the text names what is left out.
pub(super) fn of(result: CallToolResult, server: &McpServer) -> Result<ToolReturn> {
    let is_error = result.is_error == Some(true);
    let most = if is_error { server.max_result.min(MAX_ERROR) } else { server.max_result };
    let mut parts = Parts { text: String::new(), files: Vec::new(), most, cut: 0 };
    result.content.into_iter().for_each(|block| parts.add(block));
    let text = parts.finish();
    if is_error {
        return Err(if text.is_empty() { "the tool failed without a message".into() } else { text.into() });
    }
    let value = match result.structured_content {
        Some(value) => within(value, most)?,
        None => Value::String(text),
    };
    Ok(parts.files.into_iter().fold(ToolReturn::from(value), ToolReturn::attach))
}

/// Reads a result with invalid blocks: a text names each one that is left out. `None` if it is not a result of a tool.
pub(super) fn of_fields(mut fields: Map<String, Value>) -> Option<CallToolResult> {
    let is_complete = fields.get("resultType").is_none_or(|kind| kind == "complete" || kind.is_null());
    if !is_complete || !["content", "structuredContent", "isError"].iter().any(|field| fields.contains_key(*field)) {
        return None;
    }
    let mut result = CallToolResult::default();
    result.content = match fields.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => vec![ContentBlock::text("[content that is not a list is left out]")],
    };
    result.is_error = match fields.remove("isError") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_bool()?),
    };
    result.structured_content = fields.remove("structuredContent");
    Some(result)
}

/// Reads one block of a result.
fn block(block: Value) -> ContentBlock {
    let kind = block.get("type").and_then(Value::as_str).map(text::line).unwrap_or_default();
    serde_json::from_value(block)
        .unwrap_or_else(|_| ContentBlock::text(format!("[invalid content of the type `{kind}` is left out]")))
}

/// Returns a structured value, which cannot be cut.
fn within(value: Value, most: usize) -> Result<Value> {
    let size = value.to_string().len();
    if size > most {
        return Err(format!(
            "the result has {size} bytes, more than the limit of {most}; ask for less, or raise `max_result`"
        )
        .into());
    }
    Ok(value)
}

/// The parts of a result.
struct Parts {
    text: String,
    files: Vec<Attachment>,
    /// How many bytes the text may have.
    most: usize,
    /// How many bytes of text were cut.
    cut: usize,
}

impl Parts {
    fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.add_text(&block.text),
            ContentBlock::Image(block) => self.add_file("image/", &block.mime_type, &block.data, None),
            ContentBlock::Audio(block) => self.add_file("audio/", &block.mime_type, &block.data, None),
            ContentBlock::Resource(block) => self.add_resource(block.resource),
            ContentBlock::ResourceLink(link) => {
                self.add_text(&format!("[link: {} <{}>]", text::line(&link.name), text::line(&link.uri)));
            }
            _ => self.add_text("[content of an unknown type is left out]"),
        }
    }

    fn add_resource(&mut self, resource: ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.add_text(&format!("[file: {}]", text::line(&uri)));
                self.add_text(&text);
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
                self.add_file("", &media_type, &blob, uri.rsplit('/').next().filter(|name| !name.is_empty()));
            }
            _ => self.add_text("[a resource of an unknown type is left out]"),
        }
    }

    fn add_text(&mut self, text: &str) {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let room = self.most.saturating_sub(self.text.len() + separator.len());
        let ends = text.char_indices().map(|(start, char)| start + char.len_utf8());
        let kept =
            if text.len() <= room { text.len() } else { ends.take_while(|end| *end <= room).last().unwrap_or(0) };
        if kept > 0 {
            self.text.push_str(separator);
            self.text.push_str(&text[..kept]);
        }
        self.cut += text.len() - kept;
    }

    /// Adds a file whose media type begins with `kind`, or adds the reason why it is left out.
    fn add_file(&mut self, kind: &str, media_type: &str, data: &str, name: Option<&str>) {
        let shown = text::line(media_type);
        if !media_type.starts_with(kind) || !is_media_type(media_type) {
            return self.add_text(&format!("[a file of the invalid type `{shown}` is left out]"));
        }
        if self.files.len() == MAX_FILES {
            return self.add_text(&format!("[a file of type `{shown}` is left out: there are more than {MAX_FILES}]"));
        }
        let Ok(data) = STANDARD.decode(data) else {
            return self.add_text(&format!("[a file of type `{shown}` is left out: it is not base64]"));
        };
        let file = Attachment::new(media_type, data);
        self.files.push(match name {
            Some(name) => file.named(text::line(name)),
            None => file,
        });
    }

    fn finish(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        if self.cut > 0 {
            let all = self.cut + text.len();
            text = format!("{text}\n[{} bytes of {all} are left out]", self.cut);
        }
        text
    }
}

fn is_media_type(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || "!#$&^_.+-".contains(char))
    };
    text.len() <= 100 && text.split_once('/').is_some_and(|(kind, subtype)| is_part(kind) && is_part(subtype))
}
