//! The loop that writes an answer, token by token.

use super::engine::{Engine, Reader, Speech};
use super::fault;
use super::grammar::Constraint;
use super::outlet::Outlet;
use super::sampler::{COLD, Sampler, avoid_repetition};
use super::task::{Plan, Task};
use super::text::Text;
use super::thought::{Thoughts, budget};
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;
use crate::message::{FinishReason, ResponsePart, Thinking};
use crate::model::StreamEvent;
use crate::response::Response;
use crate::settings::{Settings, Warnings};
use crate::usage::Usage;

/// How many tokens an answer may have where the settings do not say, its thought not counted.
const ROOM: usize = 512;

/// Answers `task` as `model`; the answer's pieces go to `outlet`.
pub(super) fn answer(
    engine: &mut Engine,
    task: &Task,
    model: &str,
    outlet: &Outlet,
) -> Result<Response, ProviderError> {
    let Engine { reader, vocabulary, speech, with_tools, thoughts, grammars } = engine;
    let Speech { template, dialect } = with_tools.as_ref().filter(|_| task.has_tools()).unwrap_or(speech);
    let (plan, thoughts) = (task.plan(dialect), *thoughts);
    let mut prompt = plan.conversation.encode(template, dialect, vocabulary)?;
    let thinking = match thoughts {
        Some(thoughts) => thoughts.open(&mut prompt, vocabulary, task.settings.thinking)?,
        None => None,
    };
    let room = room(prompt.len(), reader.context(), thinking.unwrap_or(0), &task.settings)?;
    let constraint = grammars.constraint(&plan.grammar, vocabulary)?;
    let remembered = reader.recall(&prompt);
    let text = Text::new(plan.stops()).spaced(vocabulary.is_spaced());
    let mut writer = Writer {
        reader,
        vocabulary,
        thoughts,
        plan: &plan,
        outlet,
        constraint,
        unread: prompt[remembered..].to_vec(),
        sampler: Sampler::new(&task.settings),
        thought: String::new(),
        thinking: 0,
        text,
        written: Vec::new(),
        room,
    };
    let finish = writer.write(thinking)?;
    let Writer { text, thought, thinking, written, .. } = writer;
    let usage = Usage {
        cached_tokens: remembered as u64,
        reasoning_tokens: thinking as u64,
        ..Usage::of_request(prompt.len() as u64, written.len() as u64)
    };
    let warnings = warnings(&task.settings, thoughts.is_some(), plan.stops().is_empty());
    Ok(response(&plan, outlet, model, thought, text, finish, usage).with_warnings(warnings.into_list()))
}

/// Returns what becomes of settings that the model does not follow: `thinks` says whether it can think, and `ends_whole` whether
/// its answer ends before no text.
fn warnings(settings: &Settings, thinks: bool, ends_whole: bool) -> Warnings {
    let mut warnings = Warnings::default();
    let is_cold = settings.temperature.is_none_or(|temperature| temperature < COLD);
    let has = [
        ("presence_penalty", settings.presence_penalty.is_some(), "the model has no penalties"),
        ("frequency_penalty", settings.frequency_penalty.is_some(), "the model has no penalties"),
        ("service_tier", settings.service_tier.is_some(), "the model runs in this process"),
        ("top_p", settings.top_p.is_some() && is_cold, "without a `temperature`, the likeliest token is chosen"),
        ("seed", settings.seed.is_some() && is_cold, "without a `temperature`, the likeliest token is chosen"),
        ("stop", !settings.stop.is_empty() && ends_whole, "an answer of JSON must be whole"),
        ("thinking", settings.thinking.is_some_and(|level| !level.is_off()) && !thinks, "the model does not think"),
    ];
    for (setting, _, reason) in has.into_iter().filter(|(_, is_set, _)| *is_set) {
        warnings.changed(setting, format!("without effect: {reason}"));
    }
    warnings
}

/// Returns how many tokens the answer to a prompt of `length` tokens may have, with a thought of so many.
fn room(length: usize, context: usize, thought: usize, settings: &Settings) -> Result<usize, ProviderError> {
    let left = context.checked_sub(length).filter(|left| *left > 0).ok_or_else(|| {
        let text =
            format!("the prompt has {length} tokens, and the model can read {context}; shorten the conversation");
        fault::too_long(text)
    })?;
    let usual = ROOM.saturating_add(thought);
    let wanted = settings.max_tokens.map_or(usual, |most| usize::try_from(most).unwrap_or(context));
    Ok(wanted.min(left))
}

/// Turns the finished text into the answer, and sends what of it was not shown yet.
fn response(
    plan: &Plan<'_>,
    outlet: &Outlet,
    model: &str,
    thought: String,
    text: Text<'_>,
    finish: FinishReason,
    usage: Usage,
) -> Response {
    let (text, rest) = text.finish();
    let mut parts = Vec::new();
    if !thought.is_empty() {
        parts.push(ResponsePart::Thinking(Thinking::new(thought)));
    }
    let calls = if finish == FinishReason::Stop { plan.calls(&text) } else { Vec::new() };
    if !calls.is_empty() {
        for (index, call) in calls.into_iter().enumerate() {
            let (name, arguments) = (call.name.as_str().into(), call.arguments.clone());
            outlet.send(Ok(StreamEvent::ToolCall { index, name, arguments }));
            parts.push(ResponsePart::ToolCall(call));
        }
        return Response::new(model, parts, usage);
    }
    outlet.send_text(rest);
    parts.push(ResponsePart::Text { text });
    Response::new(model, parts, usage).with_finish(finish)
}

/// An answer being written.
struct Writer<'e, 'a> {
    reader: &'e mut Reader,
    vocabulary: &'e Vocabulary,
    thoughts: Option<Thoughts>,
    plan: &'a Plan<'a>,
    outlet: &'a Outlet,
    constraint: Option<Constraint>,
    unread: Vec<u32>,
    sampler: Sampler,
    thought: String,
    thinking: usize,
    text: Text<'a>,
    written: Vec<u32>,
    room: usize,
}

impl Writer<'_, '_> {
    /// Thinks, if there are tokens for it, and writes until the answer ends.
    fn write(&mut self, thinking: Option<usize>) -> Result<FinishReason, ProviderError> {
        if let (Some(most), Some(thoughts)) = (thinking, self.thoughts) {
            self.think(most, thoughts)?;
        }
        loop {
            if let Some(finish) = self.write_forced()? {
                return Ok(finish);
            }
            if self.written.len() >= self.room {
                return Ok(FinishReason::Length);
            }
            let token = self.choose()?;
            if let Some(thoughts) = self.unasked_thoughts(token) {
                self.unread.push(token);
                self.written.push(token);
                self.think(budget(None), thoughts)?;
                continue;
            }
            if self.vocabulary.is_silent(token) {
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

    /// Thinks in at most so many tokens, and ends the thought.
    fn think(&mut self, most: usize, thoughts: Thoughts) -> Result<(), ProviderError> {
        let mut thought = Text::new(&[]);
        let most = most.min(self.room.saturating_sub(self.written.len()));
        for _ in 0..most {
            let logits = self.read()?;
            let token = self.sampler.choose(&logits).ok_or_else(speechless)?;
            self.written.push(token);
            self.thinking += 1;
            if token == thoughts.end || self.vocabulary.is_silent(token) {
                break;
            }
            self.unread.push(token);
            thought.push(self.vocabulary.bytes(token));
            self.outlet.send_thought(thought.fresh());
        }
        let (text, rest) = thought.finish();
        self.outlet.send_thought(rest);
        self.thought.push_str(text.trim());
        self.unread.extend(thoughts.ending(self.vocabulary)?);
        Ok(())
    }

    /// Returns how thoughts begin and end, if `token` begins one that nobody asked for.
    fn unasked_thoughts(&self, token: u32) -> Option<Thoughts> {
        let is_first = self.constraint.is_none() && self.written.is_empty();
        self.thoughts.filter(|thoughts| is_first && token == thoughts.begin)
    }

    /// Writes what the grammar leaves no choice about; returns why the answer ended, if it did.
    fn write_forced(&mut self) -> Result<Option<FinishReason>, ProviderError> {
        let Some(constraint) = &mut self.constraint else { return Ok(None) };
        let forced = constraint.forced();
        let complete = constraint.is_complete()?;
        let fitting = forced.len().min(self.room.saturating_sub(self.written.len()));
        let stopped = self.put(&forced[..fitting]);
        if fitting < forced.len() {
            return Ok(Some(FinishReason::Length));
        }
        Ok((complete || stopped).then_some(FinishReason::Stop))
    }

    /// Chooses the token to come next.
    fn choose(&mut self) -> Result<u32, ProviderError> {
        let mut logits = self.read()?;
        if let Some(constraint) = &mut self.constraint {
            constraint.filter(&mut logits, self.vocabulary)?;
        }
        if self.plan.is_prose(self.text.as_str()) {
            avoid_repetition(&mut logits, &self.written);
        }
        self.sampler.choose(&logits).ok_or_else(speechless)
    }

    /// Reads what is unread; returns the likelihood of each token to come next.
    fn read(&mut self) -> Result<Vec<f32>, ProviderError> {
        let logits = self.reader.feed(&self.unread, || self.outlet.is_wanted())?;
        self.unread.clear();
        Ok(logits)
    }

    /// Adds tokens to the answer; returns whether it has come to a stop text.
    fn put(&mut self, tokens: &[u32]) -> bool {
        self.unread.extend_from_slice(tokens);
        self.written.extend_from_slice(tokens);
        let stopped = tokens.iter().any(|token| self.text.push(self.vocabulary.bytes(*token)));
        if self.plan.is_shown(self.text.as_str()) {
            self.outlet.send_text(self.text.fresh());
        }
        stopped
    }
}

/// Nothing may come next: only weights that are no numbers leave nothing.
fn speechless() -> ProviderError {
    fault::broken("the model gives no token a chance; its file may be broken")
}
