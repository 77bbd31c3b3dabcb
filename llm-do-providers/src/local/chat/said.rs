//! What was said in a conversation, before it is known how the model wants to read it.

use crate::attachment::Attachment;
use crate::error::ProviderError;
use crate::local::fault;
use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};

/// One thing that was said; all files are part of a text.
#[derive(Debug, PartialEq)]
pub(in crate::local) enum Said {
    /// By the user.
    User(String),
    /// By the model.
    Model {
        /// What it thought before.
        thought: String,
        /// What it said.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
    },
    /// By a tool.
    Result(ToolResult),
}

/// Returns `messages` as what was said.
///
/// # Errors
///
/// Returns an error if a file is attached that is no text.
pub(in crate::local) fn said(messages: &[Message]) -> Result<Vec<Said>, ProviderError> {
    let mut said = Vec::new();
    for message in messages {
        match message {
            Message::User { parts } => said.push(Said::User(user_text(parts)?)),
            Message::Assistant { parts } => said.push(answer(parts)),
            Message::Tool { results } => {
                for result in results {
                    said.push(Said::Result(inlined(result)?));
                }
            }
        }
    }
    Ok(said)
}

/// Returns the parts of a user's message, each on a line of its own.
fn user_text(parts: &[UserPart]) -> Result<String, ProviderError> {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text { text } => Ok(text.clone()),
        UserPart::Attachment(attachment) => file_text(attachment),
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// Returns a file as text, which is all that the model reads.
fn file_text(attachment: &Attachment) -> Result<String, ProviderError> {
    if !attachment.is_text() {
        let file = attachment.described();
        let text = format!("the embedded model reads only text, not {file}; attach text or ask another model");
        return Err(fault::invalid(text));
    }
    attachment.inlined().map_err(fault::invalid)
}

/// Returns a tool's result with its files in its text.
fn inlined(result: &ToolResult) -> Result<ToolResult, ProviderError> {
    let mut inlined = ToolResult { attachments: Vec::new(), ..result.clone() };
    for attachment in &result.attachments {
        inlined.content.push('\n');
        inlined.content.push_str(&file_text(attachment)?);
    }
    Ok(inlined)
}

/// Returns what a model answered; the thoughts of another provider's are its own.
fn answer(parts: &[ResponsePart]) -> Said {
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
    Said::Model { thought: thoughts.join("\n"), text: texts.join("\n"), calls }
}

#[cfg(test)]
mod tests {
    use super::{Said, said};
    use crate::attachment::Attachment;
    use crate::error::ErrorKind;
    use crate::message::{Message, ToolCall, ToolResult, UserPart};

    #[test]
    fn a_file_of_text_stands_among_the_text() {
        let note = Attachment::new("text/plain", "Milk.").named("list.txt");
        let call = ToolCall::new("1", "read", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([Attachment::new("application/json", "[1]")]);
        let messages = [
            Message::User { parts: vec![UserPart::Text { text: "Sum up.".into() }, UserPart::Attachment(note)] },
            Message::Tool { results: vec![result] },
        ];
        let expected = [
            Said::User("Sum up.\nFile `list.txt`:\nMilk.".to_owned()),
            Said::Result(ToolResult::new(&call, "done\nFile of type `application/json`:\n[1]")),
        ];
        assert_eq!(said(&messages).expect("all is text"), expected);
    }

    #[test]
    fn a_file_of_another_type_is_refused_by_name() {
        let image = Attachment::new("image/png", "secret").named("a.png");
        let call = ToolCall::new("1", "draw", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([image.clone()]);
        for message in
            [Message::User { parts: vec![UserPart::Attachment(image)] }, Message::Tool { results: vec![result] }]
        {
            let error = said(&[message]).expect_err("it is no text");
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            assert!(error.to_string().contains("`a.png` of type `image/png`; attach text"), "{error}");
        }
    }
}
