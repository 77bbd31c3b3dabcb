//! The messages of a history in the order that every provider requires: each answer with calls is followed by the
//! results of all its calls.

use super::outline::{Outline, Repeats};
use crate::attachment::Attachment;
use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};

/// The result of a call that has none in the history.
const UNFINISHED: &str = "not finished: the conversation was interrupted";

/// A step of a history, with the index of its message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    User(usize, &'a [UserPart]),
    Answer(usize, &'a [ResponsePart]),
    /// The results of the last answer, which has calls.
    Results(Results<'a>),
}

impl Step<'_> {
    /// Returns the index at which the JSON of this step is cached; `None` if the JSON depends on later messages.
    pub(crate) fn place(&self) -> Option<usize> {
        match self {
            Self::User(place, _) | Self::Answer(place, _) => Some(*place),
            Self::Results(results) => results.place(),
        }
    }
}

/// The results of an answer's calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results<'a> {
    messages: &'a [Message],
    /// The index of the answer.
    answer: usize,
    /// The index after the messages with its results.
    end: usize,
}

/// A call and its result, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) repeats: Repeats,
    result: Option<&'a ToolResult>,
}

impl<'a> Answered<'a> {
    pub(crate) fn content(&self) -> &'a str {
        self.result.map_or(UNFINISHED, |result| &result.content)
    }

    pub(crate) fn is_error(&self) -> bool {
        self.result.is_none_or(|result| result.is_error)
    }

    pub(crate) fn attachments(&self) -> &'a [Attachment] {
        self.result.map_or(&[], |result| &result.attachments)
    }
}

impl<'a> Results<'a> {
    fn place(&self) -> Option<usize> {
        let Some(Message::Tool { results }) = self.messages[..self.end].get(self.answer + 1) else { return None };
        let calls = calls(self.messages, self.answer).map(|(_, call)| &call.id);
        let is_complete = calls.eq(results.iter().map(|result| &result.call_id))
            || pair(self.messages, self.answer, self.answer + 2).all(|(_, _, result)| result.is_some());
        is_complete.then_some(self.answer + 1)
    }

    /// Returns the calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &'a ToolCall> {
        calls(self.messages, self.answer).map(|(_, call)| call)
    }

    /// Returns each call with its result, in the order of the calls. Results without a call are left out: no provider accepts
    /// them.
    pub(crate) fn answered(&self, outline: &Outline) -> Vec<Answered<'a>> {
        let answer = self.answer;
        let pairs = pair(self.messages, answer, self.end);
        let pairs =
            pairs.map(|(number, call, result)| Answered { call, repeats: outline.repeats(answer, number), result });
        pairs.collect()
    }
}

/// Returns the steps of a history.
pub(crate) fn steps(messages: &[Message]) -> impl Iterator<Item = Step<'_>> {
    let mut place = 0;
    let mut results = None;
    std::iter::from_fn(move || {
        if let Some(results) = results.take() {
            return Some(Step::Results(results));
        }
        while let Some(message) = messages.get(place) {
            place += 1;
            match message {
                Message::User { parts } => return Some(Step::User(place - 1, without_pin(parts))),
                Message::Assistant { parts } => {
                    let answer = place - 1;
                    if calls(messages, answer).next().is_some() {
                        let is_result = |message: &&Message| matches!(message, Message::Tool { .. });
                        place += messages[place..].iter().take_while(is_result).count();
                        results = Some(Results { messages, answer, end: place });
                    }
                    return Some(Step::Answer(answer, parts));
                }
                // Its call is missing.
                Message::Tool { .. } => {}
            }
        }
        None
    })
}

/// Returns the parts before the mark of a pinned message.
fn without_pin(parts: &[UserPart]) -> &[UserPart] {
    match parts {
        [sent @ .., UserPart::Pin] => sent,
        sent => sent,
    }
}

/// Returns the calls of the answer at `place`, with their indices among its parts.
fn calls(messages: &[Message], place: usize) -> impl Iterator<Item = (usize, &ToolCall)> {
    let parts = match &messages[place] {
        Message::Assistant { parts } => parts.as_slice(),
        _ => &[],
    };
    parts.iter().enumerate().filter_map(|(number, part)| match part {
        ResponsePart::ToolCall(call) => Some((number, call)),
        _ => None,
    })
}

/// Returns the calls of the answer at `place` with their results among the messages up to `end`: if ids repeat, the
/// first result belongs to the first call.
fn pair(
    messages: &[Message],
    place: usize,
    end: usize,
) -> impl Iterator<Item = (usize, &ToolCall, Option<&ToolResult>)> {
    let results = messages[place + 1..end].iter().flat_map(|message| match message {
        Message::Tool { results } => results.as_slice(),
        _ => &[],
    });
    let mut open: Vec<_> = results.collect();
    calls(messages, place).map(move |(number, call)| {
        let found = open.iter().position(|result| result.call_id == call.id);
        (number, call, found.map(|found| open.remove(found)))
    })
}
