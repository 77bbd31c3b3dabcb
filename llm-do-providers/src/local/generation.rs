//! The generation loop.

use super::engine::{CachedDecoder, ChatFormat, Engine};
use super::event_sender::EventSender;
use super::fault;
use super::grammar::Constraint;
use super::sampler::{MIN_TEMPERATURE, Sampler, penalize_repetition};
use super::task::{Plan, Task};
use super::text_stream::TextStream;
use super::thinking::{ThinkTokens, budget};
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;
use crate::message::{FinishReason, ResponsePart, Thinking};
use crate::model::StreamEvent;
use crate::response::Response;
use crate::settings::{Settings, Warnings};
use crate::usage::Usage;

/// The default of `max_tokens`, without thinking.
const DEFAULT_MAX_TOKENS: usize = 512;

/// Generates the answer to `task`; its deltas are sent to `events`.
pub(super) fn generate(
    engine: &mut Engine,
    task: &Task,
    model: &str,
    events: &EventSender,
) -> Result<Response, ProviderError> {
    let Engine { decoder, vocabulary, chat, tool_chat, think_tokens, grammars } = engine;
    let ChatFormat { template, capabilities } = tool_chat.as_ref().filter(|_| task.has_tools()).unwrap_or(chat);
    let (plan, think_tokens) = (task.plan(capabilities), *think_tokens);
    let mut prompt = plan.conversation.encode(template, capabilities, vocabulary)?;
    let thinking = match think_tokens {
        Some(tokens) => tokens.prepare_prompt(&mut prompt, vocabulary, task.settings.thinking)?,
        None => None,
    };
    let max_tokens = max_tokens(prompt.len(), decoder.context_length(), thinking.unwrap_or(0), &task.settings)?;
    let constraint = grammars.compile(&plan.grammar, vocabulary)?;
    let cached = decoder.reuse_prefix(&prompt);
    let text = TextStream::new(plan.stops()).drop_leading_space(vocabulary.adds_space_prefix());
    let mut generation = Generation {
        decoder,
        vocabulary,
        think_tokens,
        plan: &plan,
        events,
        constraint,
        pending: prompt[cached..].to_vec(),
        sampler: Sampler::new(&task.settings),
        thinking_text: String::new(),
        thinking_tokens: 0,
        text,
        output: Vec::new(),
        max_tokens,
    };
    let finish = generation.write(thinking)?;
    let Generation { text, thinking_text, thinking_tokens, output, .. } = generation;
    let usage = Usage {
        cached_tokens: cached as u64,
        reasoning_tokens: thinking_tokens as u64,
        ..Usage::of_request(prompt.len() as u64, output.len() as u64)
    };
    let warnings = warnings(&task.settings, think_tokens.is_some(), plan.stops().is_empty());
    Ok(response(&plan, events, model, thinking_text, text, finish, usage).with_warnings(warnings.into_list()))
}

/// Returns the warnings for settings without effect. `thinks` is true for models that can think, `ignores_stops` for
/// answers that must be complete JSON.
fn warnings(settings: &Settings, thinks: bool, ignores_stops: bool) -> Warnings {
    let mut warnings = Warnings::default();
    let is_greedy = settings.temperature.is_none_or(|temperature| temperature < MIN_TEMPERATURE);
    let has = [
        ("presence_penalty", settings.presence_penalty.is_some(), "embedded models do not support it"),
        ("frequency_penalty", settings.frequency_penalty.is_some(), "embedded models do not support it"),
        ("service_tier", settings.service_tier.is_some(), "the model runs in this process"),
        ("compact_at", settings.compact_at.is_some(), "the model does not summarize conversations"),
        ("top_p", settings.top_p.is_some() && is_greedy, "without a `temperature`, the most likely token is sampled"),
        ("seed", settings.seed.is_some() && is_greedy, "without a `temperature`, the most likely token is sampled"),
        ("stop", !settings.stop.is_empty() && ignores_stops, "the answer must be complete JSON"),
        (
            "thinking",
            settings.thinking.is_some_and(|level| !level.is_off()) && !thinks,
            "the model does not support thinking",
        ),
    ];
    for (setting, _, reason) in has.into_iter().filter(|(_, is_set, _)| *is_set) {
        warnings.changed(setting, format!("no effect: {reason}"));
    }
    warnings
}

/// Returns the token limit of the answer to a prompt of `length` tokens, with a thinking budget of `thinking` tokens.
fn max_tokens(length: usize, context: usize, thinking: usize, settings: &Settings) -> Result<usize, ProviderError> {
    let left = context.checked_sub(length).filter(|left| *left > 0).ok_or_else(|| {
        let text = format!(
            "the prompt has {length} tokens, but the context length of the model is {context}; shorten the conversation"
        );
        fault::too_long(text)
    })?;
    let default = DEFAULT_MAX_TOKENS.saturating_add(thinking);
    let requested = settings.max_tokens.map_or(default, |limit| usize::try_from(limit).unwrap_or(context));
    Ok(requested.min(left))
}

/// Builds the response from the finished text, and streams the rest of it.
fn response(
    plan: &Plan<'_>,
    events: &EventSender,
    model: &str,
    thinking: String,
    text: TextStream<'_>,
    finish: FinishReason,
    usage: Usage,
) -> Response {
    let (text, rest) = text.finish();
    let mut parts = Vec::new();
    if !thinking.is_empty() {
        parts.push(ResponsePart::Thinking(Thinking::new(thinking)));
    }
    let calls = if finish == FinishReason::Stop { plan.calls(&text) } else { Vec::new() };
    if !calls.is_empty() {
        for (index, call) in calls.into_iter().enumerate() {
            let (name, arguments) = (call.name.as_str().into(), call.arguments.clone());
            events.send(Ok(StreamEvent::ToolCall { index, name, arguments }));
            parts.push(ResponsePart::ToolCall(call));
        }
        return Response::new(model, parts, usage);
    }
    events.send_text(rest);
    parts.push(ResponsePart::Text { text });
    Response::new(model, parts, usage).with_finish(finish)
}

/// The state of an answer being generated.
struct Generation<'e, 'a> {
    decoder: &'e mut CachedDecoder,
    vocabulary: &'e Vocabulary,
    think_tokens: Option<ThinkTokens>,
    plan: &'a Plan<'a>,
    events: &'a EventSender,
    constraint: Option<Constraint>,
    pending: Vec<u32>,
    sampler: Sampler,
    thinking_text: String,
    thinking_tokens: usize,
    text: TextStream<'a>,
    output: Vec<u32>,
    max_tokens: usize,
}

impl Generation<'_, '_> {
    /// Thinks, if there is a budget for it, and generates until the answer ends.
    fn write(&mut self, thinking: Option<usize>) -> Result<FinishReason, ProviderError> {
        if let (Some(budget), Some(tokens)) = (thinking, self.think_tokens) {
            self.think(budget, tokens)?;
        }
        loop {
            if let Some(finish) = self.write_forced()? {
                return Ok(finish);
            }
            if self.output.len() >= self.max_tokens {
                return Ok(FinishReason::Length);
            }
            let token = self.next_token()?;
            if let Some(tokens) = self.unrequested_thinking(token) {
                self.pending.push(token);
                self.output.push(token);
                self.think(budget(None), tokens)?;
                continue;
            }
            if self.vocabulary.ends_answer(token) {
                return Ok(FinishReason::Stop);
            }
            if let Some(constraint) = &mut self.constraint {
                constraint.consume(token)?;
            }
            if self.append(&[token]) {
                return Ok(FinishReason::Stop);
            }
        }
    }

    /// Generates at most `budget` tokens of thinking, and ends it.
    fn think(&mut self, budget: usize, tokens: ThinkTokens) -> Result<(), ProviderError> {
        let mut thinking = TextStream::new(&[]);
        let budget = budget.min(self.max_tokens.saturating_sub(self.output.len()));
        for _ in 0..budget {
            let logits = self.next_logits()?;
            let token = self.sampler.sample(&logits).ok_or_else(no_candidate)?;
            self.output.push(token);
            self.thinking_tokens += 1;
            if token == tokens.end || self.vocabulary.ends_answer(token) {
                break;
            }
            self.pending.push(token);
            thinking.push(self.vocabulary.text_bytes(token));
            self.events.send_thinking(thinking.take_new());
        }
        let (text, rest) = thinking.finish();
        self.events.send_thinking(rest);
        self.thinking_text.push_str(text.trim());
        self.pending.extend(tokens.closing_tokens(self.vocabulary)?);
        Ok(())
    }

    /// Returns the thinking tokens if `token` starts thinking that the request did not ask for.
    fn unrequested_thinking(&self, token: u32) -> Option<ThinkTokens> {
        let is_first = self.constraint.is_none() && self.output.is_empty();
        self.think_tokens.filter(|tokens| is_first && token == tokens.begin)
    }

    /// Appends the tokens that the grammar forces; returns the finish reason if the answer has ended.
    fn write_forced(&mut self) -> Result<Option<FinishReason>, ProviderError> {
        let Some(constraint) = &mut self.constraint else { return Ok(None) };
        let forced = constraint.forced();
        let complete = constraint.is_complete()?;
        let fitting = forced.len().min(self.max_tokens.saturating_sub(self.output.len()));
        let stopped = self.append(&forced[..fitting]);
        if fitting < forced.len() {
            return Ok(Some(FinishReason::Length));
        }
        Ok((complete || stopped).then_some(FinishReason::Stop))
    }

    /// Samples the next token.
    fn next_token(&mut self) -> Result<u32, ProviderError> {
        let mut logits = self.next_logits()?;
        if let Some(constraint) = &mut self.constraint {
            constraint.mask(&mut logits, self.vocabulary)?;
        }
        if self.plan.is_prose(self.text.as_str()) {
            penalize_repetition(&mut logits, &self.output);
        }
        self.sampler.sample(&logits).ok_or_else(no_candidate)
    }

    /// Evaluates the pending tokens; returns the logits of the next one.
    fn next_logits(&mut self) -> Result<Vec<f32>, ProviderError> {
        let logits = self.decoder.evaluate(&self.pending, || self.events.is_open())?;
        self.pending.clear();
        Ok(logits)
    }

    /// Appends tokens to the answer; returns whether a stop sequence was reached.
    fn append(&mut self, tokens: &[u32]) -> bool {
        self.pending.extend_from_slice(tokens);
        self.output.extend_from_slice(tokens);
        let stopped = tokens.iter().any(|token| self.text.push(self.vocabulary.text_bytes(*token)));
        if self.plan.is_streamed(self.text.as_str()) {
            self.events.send_text(self.text.take_new());
        }
        stopped
    }
}

/// No token can be sampled: only NaN weights cause that.
fn no_candidate() -> ProviderError {
    fault::internal("no token can be sampled: all logits are NaN or excluded; the model's file may be damaged")
}
