//! The history, as a server expects it.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::json;

use super::dialect::{Dialect, Schemas, Target, in_words};
use super::parts::Parts;
use super::reasoning::Replayed;
use super::wire::{AssistantContent, CalledFunction, ChatMessage, Content, ContentChunk, Part, ToolCallParam, Typed};
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall, ToolResult};
use crate::model::{Json, JsonWriter, Request};

/// The digits of an id that a server wants short.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// How many of them there are.
const SHORT: usize = 9;
/// The text of an empty answer: Mistral's API and Kimi's refuse an empty one.
const SILENCE: &str = "(no answer)";
/// What stands for an answer of nothing but files, which have no place in one.
const FILES: &str = "(a file)";

/// Returns the messages of a conversation, instructions first.
///
/// # Errors
///
/// Returns an error if it holds a file that the server does not take.
pub(super) fn messages<'a>(
    request: &Request<'a>,
    target: Target<'a>,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<ChatMessage<'a>>>, ProviderError> {
    let history = HistoryWriter { target, parts: Parts { target } };
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.extend(system(request, target.dialect).map(|content| Json::New(ChatMessage::System { content })));
    let mut follows_result = false;
    for (place, message) in request.messages.iter().enumerate() {
        writer.message(place, false, &mut messages, || history.message(message, follows_result))?;
        follows_result = history.ends_in_result(message, follows_result);
    }
    Ok(messages)
}

/// The instructions, and the schema of the answer where it goes into them.
fn system<'a>(request: &Request<'a>, dialect: &Dialect) -> Option<Cow<'a, str>> {
    let is_told = matches!(dialect.schemas, Schemas::Words | Schemas::LlamaCpp { .. });
    let words = request.output.filter(|_| is_told).map(in_words);
    match (request.instructions, words) {
        (Some(instructions), Some(words)) => Some(format!("{instructions}\n\n{words}").into()),
        (instructions, words) => words.map(Cow::Owned).or(instructions.map(Cow::Borrowed)),
    }
}

/// Writes a history for one server and one of its models.
struct HistoryWriter<'a> {
    target: Target<'a>,
    parts: Parts<'a>,
}

impl HistoryWriter<'_> {
    /// Returns a message of the history as messages of the server.
    fn message<'m>(&self, message: &'m Message, follows_result: bool) -> Result<Vec<ChatMessage<'m>>, ProviderError>
    where
        Self: 'm,
    {
        match message {
            Message::User { parts } => Ok(self.user(self.parts.user(parts)?, follows_result).collect()),
            Message::Assistant { parts } => Ok(vec![self.assistant(parts)]),
            Message::Tool { results } => {
                let mut messages = results.iter().map(|result| self.result(result)).collect::<Result<Vec<_>, _>>()?;
                if let Some(files) = self.parts.attached(results)? {
                    messages.extend(self.user(files, true));
                }
                Ok(messages)
            }
        }
    }

    /// Returns a user's message, behind an answer if it may not follow results.
    fn user<'m>(&self, user: ChatMessage<'m>, follows_result: bool) -> impl Iterator<Item = ChatMessage<'m>> + use<'m> {
        let answer = (self.target.is_mistral && follows_result).then(|| self.assistant(&[]));
        answer.into_iter().chain([user])
    }

    /// Whether a message ends in a result of a tool; `follows_result` is whether those before it do.
    fn ends_in_result(&self, message: &Message, follows_result: bool) -> bool {
        match message {
            Message::User { .. } | Message::Assistant { .. } => false,
            Message::Tool { results } if results.is_empty() => follows_result,
            Message::Tool { results } => !self.parts.has_attached(results),
        }
    }

    /// What is not the server's own thought, and what other protocols brought, is not sent: servers refuse or ignore it.
    fn assistant<'m>(&self, parts: &'m [ResponsePart]) -> ChatMessage<'m> {
        let mut text = Cow::Borrowed("");
        let mut tool_calls = Vec::new();
        for part in parts {
            match part {
                ResponsePart::Text { text: more } => text += more.as_str(),
                ResponsePart::Thinking(_)
                | ResponsePart::ServerSideTool(_)
                | ResponsePart::Attachment(_)
                | ResponsePart::Opaque(_) => {}
                ResponsePart::ToolCall(made) => tool_calls.push(self.call(made)),
            }
        }
        let Replayed { reasoning_content, reasoning, details, chunks } =
            Replayed::of(parts, self.target.dialect, self.target.model);
        let content = if chunks.is_empty() {
            if tool_calls.is_empty() && text.trim().is_empty() {
                let is_file = |part: &ResponsePart| matches!(part, ResponsePart::Attachment(_));
                text = if parts.iter().any(is_file) { FILES } else { SILENCE }.into();
            }
            (!text.is_empty()).then_some(AssistantContent::Text(text))
        } else {
            let text = (!text.is_empty()).then_some(ContentChunk::Part(Part::Text { text }));
            Some(AssistantContent::Chunks(chunks.into_iter().map(ContentChunk::Thought).chain(text).collect()))
        };
        ChatMessage::Assistant { content, reasoning_content, reasoning, reasoning_details: details, tool_calls }
    }

    fn call<'m>(&self, call: &'m ToolCall) -> ToolCallParam<'m> {
        let function = CalledFunction { name: &call.name, arguments: arguments(&call.arguments) };
        ToolCallParam { id: self.id(&call.id), function: Typed::Function { function } }
    }

    fn result<'m>(&self, result: &'m ToolResult) -> Result<ChatMessage<'m>, ProviderError>
    where
        Self: 'm,
    {
        let content = match self.parts.in_result(result)? {
            Some(parts) => Content::Parts(parts),
            None => Content::Text(&result.content),
        };
        Ok(ChatMessage::Tool { tool_call_id: self.id(&result.call_id), content })
    }

    fn id<'m>(&self, id: &'m str) -> Cow<'m, str> {
        let is_short = id.len() == SHORT && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self.target.is_mistral && !is_short { short(id).into() } else { id.into() }
    }
}

/// Returns a short id for `id`, always the same.
fn short(id: &str) -> String {
    // FNV-1a, whose values are the same in every program; chance makes two of one conversation alike once in 10^13.
    let mut hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let digits = (0..SHORT).map(|_| {
        let digit = DIGITS[usize::try_from(hash % 62).unwrap_or_default()];
        hash /= 62;
        char::from(digit)
    });
    digits.collect()
}

/// Many servers parse the arguments of earlier calls and fail at what a model once wrote wrongly.
pub(crate) fn arguments(text: &str) -> Cow<'_, str> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => text.into(),
        Err(_) if text.trim().is_empty() => "{}".into(),
        Err(_) => json!({ "invalid_json": text }).to_string().into(),
    }
}
