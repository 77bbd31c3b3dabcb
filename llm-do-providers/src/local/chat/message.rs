//! Messages of a conversation before a chat template renders them.

use crate::attachment::Attachment;
use crate::error::ProviderError;
use crate::local::fault;
use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};

/// A message with its attachments inlined as text.
#[derive(Debug, PartialEq)]
pub(in crate::local) enum TemplateMessage {
    /// A message of the user.
    User(String),
    /// An answer of the model.
    Assistant {
        /// The model's thinking.
        thinking: String,
        /// The text.
        text: String,
        /// The tool calls.
        calls: Vec<ToolCall>,
    },
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// Converts `messages`.
///
/// # Errors
///
/// Returns an error if an attachment is not text.
pub(in crate::local) fn convert(messages: &[Message]) -> Result<Vec<TemplateMessage>, ProviderError> {
    let mut converted = Vec::new();
    for message in messages {
        match message {
            Message::User { parts } => converted.push(TemplateMessage::User(user_text(parts)?)),
            Message::Assistant { parts } => converted.push(assistant_message(parts)),
            Message::Tool { results } => {
                for result in results {
                    converted.push(TemplateMessage::ToolResult(with_inlined_attachments(result)?));
                }
            }
        }
    }
    Ok(converted)
}

/// Joins the parts of a user message, one per line.
fn user_text(parts: &[UserPart]) -> Result<String, ProviderError> {
    let texts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(Ok(text.clone())),
        UserPart::Attachment(attachment) => Some(file_text(attachment)),
        UserPart::Pin => None,
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// Returns an attachment as text.
fn file_text(attachment: &Attachment) -> Result<String, ProviderError> {
    if !attachment.is_text() {
        let file = attachment.described();
        let text =
            format!("the embedded model reads only text attachments, not {file}; attach text or use another model");
        return Err(fault::invalid(text));
    }
    attachment.inlined().map_err(fault::invalid)
}

/// Returns a tool result with its attachments in its text.
fn with_inlined_attachments(result: &ToolResult) -> Result<ToolResult, ProviderError> {
    let mut with_inlined_attachments = ToolResult { attachments: Vec::new(), ..result.clone() };
    for attachment in &result.attachments {
        with_inlined_attachments.content.push('\n');
        with_inlined_attachments.content.push_str(&file_text(attachment)?);
    }
    Ok(with_inlined_attachments)
}

/// Converts an answer. Thinking signed by another provider is left out.
fn assistant_message(parts: &[ResponsePart]) -> TemplateMessage {
    let (mut thoughts, mut texts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            ResponsePart::Text { text } => texts.push(text.as_str()),
            ResponsePart::ToolCall(call) => calls.push(call.clone()),
            ResponsePart::Thinking(thought) if thought.provider_data.is_none() => thoughts.push(thought.text.as_str()),
            ResponsePart::Thinking(_)
            | ResponsePart::ServerSideTool(_)
            | ResponsePart::Attachment(_)
            | ResponsePart::Opaque(_) => {}
        }
    }
    TemplateMessage::Assistant { thinking: thoughts.join("\n"), text: texts.join("\n"), calls }
}

#[cfg(test)]
mod tests {
    use super::{TemplateMessage, convert};
    use crate::attachment::Attachment;
    use crate::error::ErrorKind;
    use crate::message::{Message, ToolCall, ToolResult, UserPart};

    #[test]
    fn a_text_attachment_is_inlined() {
        let note = Attachment::new("text/plain", "Milk.").named("list.txt");
        let call = ToolCall::new("1", "read", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([Attachment::new("application/json", "[1]")]);
        let messages = [
            Message::User { parts: vec![UserPart::Text { text: "Sum up.".into() }, UserPart::Attachment(note)] },
            Message::Tool { results: vec![result] },
        ];
        let expected = [
            TemplateMessage::User("Sum up.\nFile `list.txt`:\nMilk.".to_owned()),
            TemplateMessage::ToolResult(ToolResult::new(&call, "done\nFile of type `application/json`:\n[1]")),
        ];
        assert_eq!(convert(&messages).expect("all attachments are text"), expected);
    }

    #[test]
    fn an_attachment_that_is_not_text_is_rejected_by_name() {
        let image = Attachment::new("image/png", "secret").named("a.png");
        let call = ToolCall::new("1", "draw", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([image.clone()]);
        for message in
            [Message::User { parts: vec![UserPart::Attachment(image)] }, Message::Tool { results: vec![result] }]
        {
            let error = convert(&[message]).expect_err("the attachment is not text");
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            assert!(error.to_string().contains("`a.png` of type `image/png`; attach text"), "{error}");
        }
    }
}
