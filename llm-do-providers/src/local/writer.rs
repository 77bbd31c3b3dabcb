//! The loop that writes an answer, token by token.

use std::hash::{BuildHasher, RandomState};

use candle_transformers::generation::LogitsProcessor;
use candle_transformers::utils::apply_repeat_penalty;

use super::chat;
use super::engine::{CONTEXT, Engine, Reading};
use super::fault;
use super::grammar::Constraint;
use super::outlet::Outlet;
use super::task::Task;
use super::text::Text;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;
use crate::response::Response;
use crate::settings::Settings;
use crate::usage::Usage;

/// How many tokens an answer may have where the settings do not say.
const ROOM: usize = 512;

/// How much less likely a token of prose is that was written a moment ago: small models go in circles otherwise.
const REPETITION: f32 = 1.1;

/// How many tokens that moment has.
const MOMENT: usize = 64;

/// Answers `task` as `model`; the answer's pieces go to `outlet`.
pub(super) fn answer(
    engine: &mut Engine,
    task: &Task,
    model: &str,
    outlet: &Outlet,
) -> Result<Response, ProviderError> {
    let prompt = chat::encode(&task.turns, &engine.vocabulary)?;
    let room = room(prompt.tokens.len(), &task.settings)?;
    let constraint = engine.grammars.constraint(&task.grammar)?;
    let reading = engine.recall(&prompt, || outlet.is_wanted())?;
    let remembered = reading.remembered();
    let unread = prompt.tokens[reading.read()..].to_vec();
    let text = Text::new(task.stops());
    let sampler = sampler(&task.settings);
    let vocabulary = &engine.vocabulary;
    let mut writer =
        Writer { vocabulary, task, outlet, constraint, reading, unread, sampler, text, written: Vec::new(), room };
    let finish = writer.write()?;
    let Writer { reading, text, written, .. } = writer;
    engine.remember(reading);
    let usage = Usage {
        cached_tokens: remembered as u64,
        ..Usage::of_request(prompt.tokens.len() as u64, written.len() as u64)
    };
    Ok(response(task, outlet, model, text, finish, usage))
}

/// Returns how many tokens the answer to a prompt of `length` tokens may have.
fn room(length: usize, settings: &Settings) -> Result<usize, ProviderError> {
    let left = CONTEXT.checked_sub(length).filter(|left| *left > 0).ok_or_else(|| {
        let text =
            format!("the prompt has {length} tokens, and the model can read {CONTEXT}; shorten the conversation");
        fault::invalid(text)
    })?;
    let wanted = settings.max_tokens.map_or(ROOM, |most| usize::try_from(most).unwrap_or(CONTEXT));
    Ok(wanted.min(left))
}

fn sampler(settings: &Settings) -> LogitsProcessor {
    let seed = settings.seed.unwrap_or_else(|| RandomState::new().hash_one(()));
    LogitsProcessor::new(seed, settings.temperature, settings.top_p)
}

/// Turns the finished text into the answer, and sends what of it was not shown yet.
fn response(task: &Task, outlet: &Outlet, model: &str, text: Text<'_>, finish: FinishReason, usage: Usage) -> Response {
    let (text, rest) = text.finish();
    if let Some(call) = task.call(&text).filter(|_| finish == FinishReason::Stop) {
        let (name, arguments) = (call.name.as_str().into(), call.arguments.clone());
        outlet.send(Ok(StreamEvent::ToolCall { index: 0, name, arguments }));
        return Response::new(model, vec![ResponsePart::ToolCall(call)], usage);
    }
    outlet.send_text(rest);
    Response::new(model, vec![ResponsePart::Text { text }], usage).with_finish(finish)
}

/// An answer being written.
struct Writer<'e, 'a> {
    vocabulary: &'e Vocabulary,
    task: &'a Task,
    outlet: &'a Outlet,
    constraint: Option<Constraint>,
    reading: Reading,
    unread: Vec<u32>,
    sampler: LogitsProcessor,
    text: Text<'a>,
    written: Vec<u32>,
    room: usize,
}

impl Writer<'_, '_> {
    /// Writes until the answer ends.
    fn write(&mut self) -> Result<FinishReason, ProviderError> {
        loop {
            if let Some(finish) = self.write_forced()? {
                return Ok(finish);
            }
            if self.written.len() >= self.room {
                return Ok(FinishReason::Length);
            }
            let token = self.choose()?;
            // A token that is no text, such as the one that ends a message, ends the answer.
            if self.vocabulary.bytes(token).is_empty() {
                return Ok(FinishReason::Stop);
            }
            if let Some(constraint) = &mut self.constraint {
                constraint.take(token)?;
            }
            if self.put(&[token]) {
                return Ok(FinishReason::Stop);
            }
        }
    }

    /// Writes what the grammar leaves no choice about; returns why the answer ended, if it did.
    fn write_forced(&mut self) -> Result<Option<FinishReason>, ProviderError> {
        let Some(constraint) = &mut self.constraint else { return Ok(None) };
        let forced = constraint.forced();
        let complete = constraint.is_complete()?;
        let fitting = forced.len().min(self.room - self.written.len());
        let stopped = self.put(&forced[..fitting]);
        if fitting < forced.len() {
            return Ok(Some(FinishReason::Length));
        }
        Ok((complete || stopped).then_some(FinishReason::Stop))
    }

    /// Reads what is unread, and chooses the token to come next.
    fn choose(&mut self) -> Result<u32, ProviderError> {
        let mut logits = self.reading.feed(&self.unread, || self.outlet.is_wanted())?;
        self.unread.clear();
        if let Some(constraint) = &mut self.constraint {
            logits = constraint.filter(&logits)?;
        }
        if self.task.is_prose(self.text.as_str()) {
            let recent = &self.written[self.written.len().saturating_sub(MOMENT)..];
            logits = apply_repeat_penalty(&logits, REPETITION, recent).map_err(fault::arithmetic)?;
        }
        self.sampler.sample(&logits).map_err(fault::arithmetic)
    }

    /// Adds tokens to the answer; returns whether it has come to a stop text.
    fn put(&mut self, tokens: &[u32]) -> bool {
        self.unread.extend_from_slice(tokens);
        self.written.extend_from_slice(tokens);
        let stopped = tokens.iter().any(|token| self.text.push(self.vocabulary.bytes(*token)));
        if self.task.is_shown(self.text.as_str()) {
            self.outlet.send_text(self.text.fresh());
        }
        stopped
    }
}
