//! The texts of the workers that write to the user, shown while they stream.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::CallKey;
use crate::observe::event::{Delta, Event, EventKind, ItemKind};

/// The maximum length of a stored thought in bytes; it is shown in one row.
const THOUGHT: usize = 1 << 10;

/// Collects the texts of the workers that write to the user, and returns the pieces to show next.
///
/// A worker writes to the user if it is the root call, or if the root call is an entry or a tool that calls it. At any
/// time a single answer is in the foreground; the texts of concurrent answers wait until it is complete.
#[doc(hidden)]
pub struct Answers {
    /// Returns whether the worker of this name answers with text, and not with JSON.
    is_text: Box<dyn Fn(&str) -> bool + Send>,
    /// The run, and whether its root call is a worker.
    root: Option<(Arc<str>, bool)>,
    /// The answers that are not complete or not shown yet; the first is in the foreground.
    writers: VecDeque<Writer>,
    /// The text of the last shown answer.
    shown: Option<String>,
}

/// An answer of a worker.
struct Writer {
    key: CallKey,
    name: Arc<str>,
    /// Whether its name is shown above its text, since several workers may write.
    is_named: bool,
    text: String,
    /// The length of the shown text in bytes.
    written: usize,
    thought: String,
    is_done: bool,
}

/// A piece to show.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The name of the worker whose text follows.
    Name(Arc<str>),
    /// A whole thought.
    Thought(String),
    /// More text of an answer.
    Text(CallKey, String),
    /// The end of an answer.
    End,
}

impl Answers {
    /// Creates the state, where `is_text` returns whether the answers of a worker are text.
    pub fn new(is_text: impl Fn(&str) -> bool + Send + 'static) -> Self {
        Self { is_text: Box::new(is_text), root: None, writers: VecDeque::new(), shown: None }
    }

    /// Returns the text of the last shown answer, and clears the state of the run.
    pub(super) fn end(&mut self) -> Option<String> {
        self.writers.clear();
        self.root = None;
        self.shown.take()
    }

    /// Adds an event; returns the pieces to show because of it.
    pub(super) fn take(&mut self, event: &Event) -> Vec<Piece> {
        match &event.kind {
            EventKind::CallStarted { what, .. } if event.call == 0 => {
                self.root = Some((Arc::clone(&event.run), *what == ItemKind::Worker));
                self.shown = None;
            }
            EventKind::ModelDelta { delta } if self.writes(event) => return self.delta(event, delta),
            EventKind::ModelResponse { .. } | EventKind::ModelRetry { .. } | EventKind::CallFinished { .. } => {
                return self.finish(event);
            }
            _ => {}
        }
        Vec::new()
    }

    /// Returns whether a text for the call of this event, or a part of it, is shown or pending.
    pub(super) fn has_text(&self, event: &Event) -> bool {
        self.writers.iter().any(|writer| writer.is_of(event) && !writer.text.is_empty())
    }

    /// Returns whether the call of this event writes to the user.
    fn writes(&self, event: &Event) -> bool {
        let is_of_user = match &self.root {
            Some((run, true)) => *run == event.run && event.call == 0,
            Some((run, false)) => *run == event.run && event.parent == Some(0),
            None => false,
        };
        is_of_user && (self.writers.iter().any(|writer| writer.is_of(event)) || (self.is_text)(&event.name))
    }

    fn delta(&mut self, event: &Event, delta: &Delta) -> Vec<Piece> {
        let place = self.writers.iter().position(|writer| writer.is_of(event) && !writer.is_done);
        let place = place.unwrap_or_else(|| {
            self.writers.push_back(Writer::new(event));
            self.writers.len() - 1
        });
        let writer = &mut self.writers[place];
        match delta {
            Delta::Text(text) => writer.text.push_str(text),
            Delta::Thinking(text) if writer.thought.len() < THOUGHT => writer.thought.push_str(text),
            Delta::Thinking(_) | Delta::Arguments(_) => {}
        }
        self.advance()
    }

    /// Ends the answer of a call. If the answer is to be repeated, its pending text is dropped.
    fn finish(&mut self, event: &Event) -> Vec<Piece> {
        let Some(place) = self.writers.iter().position(|writer| writer.is_of(event) && !writer.is_done) else {
            if matches!(event.kind, EventKind::ModelResponse { .. }) && self.writes(event) {
                // The answer has no pieces, such as a replayed one.
                self.shown = None;
            }
            return Vec::new();
        };
        let writer = &mut self.writers[place];
        writer.is_done = true;
        if matches!(event.kind, EventKind::ModelRetry { .. }) {
            writer.text.truncate(writer.written);
            if writer.written == 0 {
                writer.thought.clear();
            }
        }
        self.advance()
    }

    /// Returns the text of the foreground answer that is not shown yet, and the answers that follow it once it is
    /// complete.
    fn advance(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(writer) = self.writers.front_mut() {
            writer.show(&mut pieces);
            if !writer.is_done {
                break;
            }
            pieces.extend((writer.written > 0).then_some(Piece::End));
            let text = std::mem::take(&mut writer.text);
            self.shown = Some(text).filter(|text| !text.is_empty());
            self.writers.pop_front();
        }
        pieces
    }
}

impl Writer {
    fn new(event: &Event) -> Self {
        let key = (Arc::clone(&event.run), event.call);
        let (name, is_named) = (Arc::clone(&event.name), event.call != 0);
        let (text, thought) = (String::new(), String::new());
        Self { key, name, is_named, text, written: 0, thought, is_done: false }
    }

    fn is_of(&self, event: &Event) -> bool {
        self.key.1 == event.call && self.key.0 == event.run
    }

    /// Adds the text that is not shown yet. The thought is added once text follows it or the answer is complete.
    fn show(&mut self, pieces: &mut Vec<Piece>) {
        let has_more = self.written < self.text.len();
        let has_thought = !self.thought.is_empty() && (has_more || self.is_done);
        if self.is_named && (has_more || has_thought) {
            self.is_named = false;
            pieces.push(Piece::Name(Arc::clone(&self.name)));
        }
        if has_thought {
            pieces.push(Piece::Thought(std::mem::take(&mut self.thought)));
        }
        if has_more {
            pieces.push(Piece::Text(self.key.clone(), self.text[self.written..].to_owned()));
            self.written = self.text.len();
        }
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}
