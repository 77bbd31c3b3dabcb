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
use crate::plane::history_processor::{Compaction, first_kept, is_worth, replace_old, tokens};

/// How many bytes of text and JSON are about one token.
const BYTES_PER_TOKEN: usize = 4;
/// A request of fewer tokens fits into the window of each server, so that none is asked for its window.
const SMALL: usize = 1_500;

/// What stands for a summary that could not be made.
const NO_NOTES: &str = "(It could not be summarized. If you need something of it, find it out again.)";

/// How large the next request is.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// In tokens of the provider.
    total: usize,
    /// How many tokens the provider counts for 1,000 estimated ones.
    ratio: usize,
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
        turns.set_ratio(size.ratio);
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
        let sum = |messages: &[Message]| messages.iter().map(tokens).sum::<usize>();
        let Some((counted, sent)) = turns.counted().filter(|(_, sent)| *sent <= messages.len()) else {
            let ratio = turns.ratio().unwrap_or(1_000);
            return Size { total: scaled(sum(messages) + self.overhead(), ratio), ratio };
        };
        let estimated = (sum(&messages[..sent]) + self.overhead()).max(1);
        // Some servers report less than they read, such as only what was not cached.
        let counted = counted.max(estimated / 4);
        let ratio = (counted.saturating_mul(1_000) / estimated).clamp(250, 4_000);
        Size { total: counted + scaled(sum(&messages[sent..]), ratio), ratio }
    }

    /// Estimates what the instructions and the tools add to each request.
    fn overhead(&self) -> usize {
        let length = |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
        *self.overhead.get_or_init(|| {
            let tools: usize = self.tools.iter().chain(&*self.deferred).map(length).sum();
            (self.instructions.len() + tools) / BYTES_PER_TOKEN
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
        let sizes: Vec<_> = history.messages().iter().map(|message| scaled(tokens(message), size.ratio)).collect();
        let rest = size.total.saturating_sub(sizes.iter().sum());
        let total = |messages: &[Message]| {
            rest + messages.iter().map(|message| scaled(tokens(message), size.ratio)).sum::<usize>()
        };
        let cut = first_kept(history.messages(), &sizes, keep);
        let mut messages = history.messages().to_vec();
        let mut is_shortened = cut.is_some_and(|cut| self.shorten_all(&mut messages[..cut], shortest));
        if total(&messages) > max / 4 * 3
            && let Some(cut) = cut.filter(|cut| is_worth(&sizes, *cut, max))
        {
            match compaction.summarize(&mut history, cut, &self.ctx).await {
                Err(error) if is_dispensable(&error) => {
                    replace_old(&mut history, cut, NO_NOTES);
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

/// Converts an estimated number of tokens to the provider's.
fn scaled(tokens: usize, ratio: usize) -> usize {
    tokens.saturating_mul(ratio) / 1_000
}
