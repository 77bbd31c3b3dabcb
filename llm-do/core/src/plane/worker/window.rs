//! Keeps the requests of a call within the window of the model: before one that would be too large, and after one that was.

use std::sync::Arc;

use llm_do_providers::{ContextWindow, Message, ToolSpec};
use llm_do_worker_file::MIN_RESULT;
use serde_json::Value;

use super::turn::Turns;
use super::{WorkerRun, is_too_long};
use crate::base::error::CallError;
use crate::observe::event::EventKind;
use crate::observe::journal::StepKind;
use crate::plane::context::JournalMethod;
use crate::plane::history::History;
use crate::plane::history_processor::{Compaction, Cut, Estimate, Needed, Ratios};

/// A request of fewer tokens fits into the window of each server, so that none is asked for its window.
const SMALL: usize = 1_500;

/// What stands for a summary that could not be made.
const NO_NOTES: &str = "(It could not be summarized. If you need something of it, find it out again.)";

/// How large the next request is.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// In tokens of the provider.
    total: usize,
    /// How the provider counts what is estimated.
    ratios: Ratios,
}

/// How many tokens are too many, and about how many stay.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    max: usize,
    keep: usize,
}

impl WorkerRun {
    /// Compacts the history if the next request would be too large.
    pub(super) async fn fit(&self, turns: &mut Turns) -> Result<(), CallError> {
        let Some(compaction) = &self.compaction else { return Ok(()) };
        let known = self.model.profile().window;
        let asks = known.is_none() && compaction.bounds(None).is_none();
        if asks && !self.model.reports_window() {
            return Ok(());
        }
        let size = self.size(turns);
        turns.set_ratios(size.ratios);
        let window = if asks && size.total > SMALL { Box::pin(self.ask_window()).await? } else { known };
        let window = window.and_then(|window| usize::try_from(window.for_input()).ok());
        if let Some((max, keep)) = compaction.bounds(window)
            && size.total > max
        {
            Box::pin(self.compact(turns, compaction, size, Bounds { max, keep })).await?;
        }
        Ok(())
    }

    /// Returns the window that the server of the model reports; a journal records it, so that a resumed run compacts as it did.
    async fn ask_window(&self) -> Result<Option<ContextWindow>, CallError> {
        if let Some(asked) = self.asked_window.get() {
            return Ok(*asked);
        }
        let model = Arc::clone(&self.model);
        let local = async move { Ok(model.asked_window().await) };
        let name = || Value::from(&*self.model.name);
        let asked = self.ctx.step(JournalMethod::Step, StepKind::Effect, "window", name, |_| local).await?.value;
        Ok(*self.asked_window.get_or_init(|| asked))
    }

    /// Compacts the history to half its size, since the provider refused it as too long; returns whether it changed.
    pub(super) async fn fit_after_refusal(&self, turns: &mut Turns) -> Result<bool, CallError> {
        let Some(compaction) = &self.compaction else { return Ok(false) };
        let size = self.size(turns);
        let bounds = Bounds { max: size.total / 2, keep: size.total / 4 };
        Box::pin(self.compact(turns, compaction, size, bounds)).await
    }

    /// Estimates the next request: by what the provider counted for the last one, if the messages are those, and what is new.
    fn size(&self, turns: &Turns) -> Size {
        let messages: &[Message] = turns.messages();
        let ratios = turns.ratios();
        let unread = self.unread(messages);
        let sum = |messages: &[Message]| messages.iter().map(Estimate::of).sum::<Estimate>();
        let Some((counted, sent)) = turns.counted().filter(|(_, sent)| *sent <= messages.len()) else {
            return Size { total: ratios.scaled(sum(&messages[unread..]) + self.overhead()), ratios };
        };
        let estimated = sum(&messages[unread.min(sent)..sent]) + self.overhead();
        // Some servers report less than they read, such as only what was not cached.
        let counted = counted.max(estimated.tokens() / 4);
        let ratios = ratios.learned(estimated, counted);
        Size { total: counted + ratios.scaled(sum(&messages[sent..])), ratios }
    }

    /// Returns how many of the messages the provider does not read, since it has summarized them itself.
    fn unread(&self, messages: &[Message]) -> usize {
        let provider = self.model.name.split(':').next().unwrap_or_default();
        messages.iter().rposition(|message| message.has_compaction_of(provider)).unwrap_or_default()
    }

    /// Returns the size of each message for the provider.
    fn sizes(&self, messages: &[Message], ratios: Ratios) -> Vec<usize> {
        let unread = self.unread(messages);
        let size = |message: &Message| ratios.scaled(Estimate::of(message));
        messages.iter().enumerate().map(|(place, message)| if place < unread { 0 } else { size(message) }).collect()
    }

    /// Estimates what the instructions and the tools add to each request.
    fn overhead(&self) -> Estimate {
        let text = Estimate::of_text;
        let size = |tool: &ToolSpec| text(&tool.name) + text(&tool.description) + text(&tool.parameters.to_string());
        *self.overhead.get_or_init(|| {
            let tools: Estimate = self.tools.iter().chain(&*self.deferred).map(size).sum();
            text(&self.instructions) + tools
        })
    }

    /// Shortens the results of the old part, since they can be read again. If that is too little, summarizes the old part, and at last
    /// shortens all results. Returns whether the history changed.
    async fn compact(
        &self,
        turns: &mut Turns,
        compaction: &Compaction,
        size: Size,
        Bounds { max, keep }: Bounds,
    ) -> Result<bool, CallError> {
        let shortest = usize::try_from(MIN_RESULT).unwrap_or(usize::MAX);
        let mut history = History::from(turns.messages().to_vec());
        let sizes = self.sizes(history.messages(), size.ratios);
        let rest = size.total.saturating_sub(sizes.iter().sum());
        let total = |messages: &[Message]| rest + self.sizes(messages, size.ratios).iter().sum::<usize>();
        let calls = self.background.as_ref().map(|calls| calls.ids()).unwrap_or_default();
        let needed = Needed { prompt: turns.prompt(), calls: &calls };
        let cut = Cut::find(history.messages(), &sizes, keep, needed);
        let mut messages = history.messages().to_vec();
        let mut is_shortened = cut.as_ref().is_some_and(|cut| self.shorten_all(&mut messages[..cut.tail], shortest));
        if total(&messages) > max / 4 * 3
            && let Some(cut) = cut.filter(|cut| cut.is_worth(max))
        {
            match compaction.summarize(&mut history, &cut, &self.ctx).await {
                Err(error) if is_dispensable(&error) => {
                    cut.replace_by(NO_NOTES, &mut history);
                    let text = format!("the conversation could not be summarized: {error}");
                    self.ctx.emit(|| EventKind::Progress { text });
                }
                summarized => summarized?,
            }
            history.repair();
            messages = history.into();
        }
        if total(&messages) > max {
            is_shortened |= self.shorten_all(&mut messages, shortest);
        }
        if is_shortened {
            turns.add_loaded(self.result_tools_of(&messages));
        }
        let after = total(&messages);
        let is_changed = messages[..] != turns.messages()[..];
        turns.replace_messages(messages);
        if is_changed {
            let text = format!("the conversation was compacted: about {} tokens became about {after}", size.total);
            self.ctx.emit(|| EventKind::Progress { text });
        }
        Ok(is_changed)
    }
}

/// Returns whether a call goes on without a summary that failed for this reason, such as that workers are nested too deeply for it.
fn is_dispensable(error: &CallError) -> bool {
    let is_refused = error.is_denied() && !error.is_stopped();
    let is_too_deep = matches!(error, CallError::Depth { .. } | CallError::Nesting { .. } | CallError::Cycle { .. });
    error.is_recoverable() || is_refused || is_too_deep || is_too_long(error)
}
