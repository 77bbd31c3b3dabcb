//! The result of a server's tool as the result of ours: untrusted, so bounded.

use llm_do_core::base::error::Result;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_providers::Attachment;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::server::McpServer;
use super::{media, text};

/// The longest text of a failed call, in bytes.
const MAX_ERROR: usize = 8 << 10;
/// The most files of a result.
const MAX_FILES: usize = 20;

/// Returns the result of a call, within the limits of the server; a note in the text names what is left out.
pub(super) fn from_server(result: CallToolResult, server: &McpServer) -> Result<ToolReturn> {
    let is_error = result.is_error == Some(true);
    let most = if is_error { server.max_result.min(MAX_ERROR) } else { server.max_result };
    let mut parts = Parts { text: String::new(), files: Vec::new(), most, cut: 0 };
    result.content.into_iter().for_each(|block| parts.add(block));
    let structured = result.structured_content.filter(|value| !value.is_null());
    if is_error {
        return Err(parts.failure(structured).into());
    }
    let text = parts.finish();
    let value = match structured {
        Some(value) => within(value, most)?,
        None => Value::String(text),
    };
    Ok(parts.files.into_iter().fold(ToolReturn::from(value), ToolReturn::attach))
}

/// Returns whether a value has fields of a result.
pub(super) fn has_fields(fields: &Map<String, Value>) -> bool {
    ["content", "structuredContent", "isError"].iter().any(|field| fields.contains_key(*field))
}

/// Reads a result as the server sent it: a text names each block that is left out.
pub(super) fn of_fields(mut fields: Map<String, Value>) -> CallToolResult {
    let mut result = CallToolResult::default();
    result.content = match fields.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(one @ (Value::Object(_) | Value::String(_))) => vec![block(one)],
        Some(_) => vec![ContentBlock::text("[content that is not a list is left out]")],
    };
    result.is_error = match fields.remove("isError") {
        None | Some(Value::Null) => None,
        Some(value) => flag(&value).or_else(|| {
            result.content.push(ContentBlock::text("[`isError` that is not a boolean is left out]"));
            None
        }),
    };
    result.structured_content = fields.remove("structuredContent");
    result
}

/// Reads a boolean as servers write it.
fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_f64() != Some(0.0)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Reads one block of a result; a text alone is a block of text.
fn block(block: Value) -> ContentBlock {
    if let Value::String(text) = block {
        return ContentBlock::text(text);
    }
    let kind = block.get("type").and_then(Value::as_str).map(text::line).unwrap_or_default();
    // What only describes a block does not make it unusable.
    let without_notes = || {
        let mut block = block.clone();
        block.as_object_mut()?.retain(|key, _| !matches!(key.as_str(), "annotations" | "_meta"));
        ContentBlock::deserialize(block).ok()
    };
    ContentBlock::deserialize(&block)
        .ok()
        .or_else(without_notes)
        .unwrap_or_else(|| ContentBlock::text(format!("[invalid content of the type `{kind}` is left out]")))
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
        let Some(media_type) = media::media_type(media_type).filter(|media_type| media_type.starts_with(kind)) else {
            return self.add_text(&format!("[a file of the invalid type `{shown}` is left out]"));
        };
        if self.files.len() == MAX_FILES {
            return self.add_text(&format!("[a file of type `{shown}` is left out: there are more than {MAX_FILES}]"));
        }
        let Some(data) = media::decoded(data) else {
            return self.add_text(&format!("[a file of type `{shown}` is left out: it is not base64]"));
        };
        if data.is_empty() {
            return self.add_text(&format!("[a file of type `{shown}` is left out: it is empty]"));
        }
        let file = Attachment::new(media_type, data);
        self.files.push(match name {
            Some(name) => file.named(text::line(name)),
            None => file,
        });
    }

    /// Returns the words of a tool that failed: its text, and its structured value if that differs.
    fn failure(mut self, structured: Option<Value>) -> String {
        if let Some(value) = structured {
            let is_told = serde_json::from_str::<Value>(&self.text).is_ok_and(|told| told == value);
            if !is_told {
                self.add_text(&value.to_string());
            }
        }
        let text = self.finish();
        if text.is_empty() { "the tool failed without a message".to_owned() } else { text }
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
