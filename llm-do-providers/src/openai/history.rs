//! Converts a conversation to messages.

use std::borrow::Cow;

use serde_json::json;

use super::dialect::{Dialect, Schemas, Target};
use super::parts::PartWriter;
use super::reasoning::Replayed;
use super::wire::{AssistantContent, CalledFunction, ChatMessage, Content, ContentChunk, Part, ToolCallParam, Typed};
use crate::error::ProviderError;
use crate::message::{ResponsePart, ToolCall};
use crate::model::{Json, JsonWriter, OutputSchema, Request};
use crate::sent_history::{
    Answered, Arguments, BEGINNING, CONTINUE, IdRule, Outline, Step, arguments, call_id, steps, tool_name,
};

/// The ids of Mistral's API.
const SHORT: IdRule = IdRule::Exact(9);
/// The ids of OpenAI's API, which refuses more than 40 characters in a history
/// (<https://community.openai.com/t/tool-call-id-string-too-long/>; observed 2026-11).
const IDS: IdRule = IdRule::Printable(40);
/// The maximum nesting depth of arguments: no server documents a limit, and parsers stop between 100 and 1,000.
const MAX_DEPTH: usize = 64;
/// The text of an empty answer: Mistral's API and Kimi's refuse an empty one.
const SILENCE: &str = "(no answer)";
/// The text of an answer with only files, which chat completions cannot contain.
const FILES: &str = "(a file)";

/// Returns the messages of a conversation, instructions first.
///
/// # Errors
///
/// Returns an error if the conversation has a file that the server does not support.
pub(super) fn messages<'a>(
    request: &Request<'a>,
    target: Target<'a>,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<ChatMessage<'a>>>, ProviderError> {
    let outline = writer.outline(request.messages);
    let history = HistoryWriter { target, parts: PartWriter { target }, outline: &outline };
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.extend(system(request, target.dialect).map(|content| Json::New(ChatMessage::System { content })));
    let mut last = Last::Nothing;
    for step in steps(request.messages) {
        if last == Last::Nothing && target.is_mistral && messages.is_empty() && matches!(step, Step::Answer(..)) {
            messages.push(Json::New(user_text(BEGINNING)));
        }
        writer.message(step.place(), false, &mut messages, || history.step(step, last))?;
        last = history.last(step);
    }
    if last == Last::Answer && target.is_mistral {
        messages.push(Json::New(user_text(CONTINUE)));
    }
    Ok(messages)
}

fn user_text(text: &str) -> ChatMessage<'_> {
    ChatMessage::User { content: Content::Text(text) }
}

/// The last message of a history so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    User,
    Answer,
    Result,
}

/// Returns the instructions, with the output schema if the server needs it there.
fn system<'a>(request: &Request<'a>, dialect: &Dialect) -> Option<Cow<'a, str>> {
    let schema = match dialect.schemas {
        Schemas::Words | Schemas::LlamaCpp { .. } => request.output.map(OutputSchema::instructions),
        Schemas::Strict | Schemas::Grammar => None,
    };
    match (request.instructions, schema) {
        (Some(instructions), Some(schema)) => Some(format!("{instructions}\n\n{schema}").into()),
        (instructions, schema) => schema.map(Cow::Owned).or(instructions.map(Cow::Borrowed)),
    }
}

/// Writes a history for one server and one of its models.
struct HistoryWriter<'a> {
    target: Target<'a>,
    parts: PartWriter<'a>,
    outline: &'a Outline,
}

impl HistoryWriter<'_> {
    /// Returns the messages of a step of the history, which follows `last`.
    fn step<'m>(&self, step: Step<'m>, last: Last) -> Result<Vec<ChatMessage<'m>>, ProviderError> {
        match step {
            Step::User(_, parts) => Ok(self.separated(self.parts.user(parts)?, last)),
            Step::Answer(place, parts) => Ok(vec![self.assistant(place, parts)]),
            Step::Results(results) => {
                let results = results.answered(self.outline);
                let mut messages = results.iter().map(|result| self.result(result)).collect::<Vec<_>>();
                if let Some(files) = self.parts.attached(&results) {
                    messages.extend(self.separated(files, Last::Result));
                }
                Ok(messages)
            }
        }
    }

    /// Returns a user message, after an inserted answer if it may not follow results.
    fn separated<'m>(&self, user: ChatMessage<'m>, last: Last) -> Vec<ChatMessage<'m>> {
        let answer = (self.target.is_mistral && last == Last::Result).then(|| self.assistant(0, &[]));
        answer.into_iter().chain([user]).collect()
    }

    /// Returns the last message of a history after `step`.
    fn last(&self, step: Step<'_>) -> Last {
        match step {
            Step::User(..) => Last::User,
            Step::Answer(..) => Last::Answer,
            // Only Mistral's rules depend on the distinction.
            Step::Results(_) if !self.target.is_mistral => Last::Result,
            Step::Results(results) if self.parts.has_attached(&results.answered(self.outline)) => Last::User,
            Step::Results(_) => Last::Result,
        }
    }

    /// Returns an answer without thoughts of other servers and parts of other protocols, which servers refuse or
    /// ignore.
    fn assistant<'m>(&self, place: usize, parts: &'m [ResponsePart]) -> ChatMessage<'m> {
        let mut text = Cow::Borrowed("");
        let mut tool_calls = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            match part {
                ResponsePart::Text { text: more } => text += more.as_str(),
                ResponsePart::Thinking(_)
                | ResponsePart::ServerSideTool(_)
                | ResponsePart::Attachment(_)
                | ResponsePart::Opaque(_) => {}
                ResponsePart::ToolCall(made) => {
                    tool_calls.push(self.call(made, self.outline.repeats(place, number).call));
                }
            }
        }
        let Replayed { reasoning_content, reasoning, details, chunks } =
            Replayed::from_parts(parts, self.target.dialect, self.target.model);
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

    fn call<'m>(&self, call: &'m ToolCall, repeat: u32) -> ToolCallParam<'m> {
        let function = CalledFunction { name: tool_name(&call.name), arguments: object_text(&call.arguments) };
        ToolCallParam { id: self.id(call, repeat), function: Typed::Function { function } }
    }

    fn result<'m>(&self, result: &Answered<'m>) -> ChatMessage<'m> {
        let content = match self.parts.in_result(result) {
            Some(parts) => Content::Parts(parts),
            None => Content::Text(result.content()),
        };
        ChatMessage::Tool { tool_call_id: self.id(result.call, result.repeats.call), content }
    }

    fn id<'m>(&self, call: &'m ToolCall, repeat: u32) -> Cow<'m, str> {
        call_id(&call.id, repeat, if self.target.is_mistral { SHORT } else { IDS })
    }
}

/// Returns the arguments of an earlier call as the JSON text of an object.
pub(crate) fn object_text(text: &str) -> Cow<'_, str> {
    match arguments(text, MAX_DEPTH) {
        Arguments::Object(_) => text.into(),
        Arguments::Nothing => "{}".into(),
        Arguments::NotAnObject(text) => json!({ "not_an_object": text }).to_string().into(),
        Arguments::Invalid(text) => json!({ "invalid_json": text }).to_string().into(),
    }
}
