//! Calls and requests to models as spans of `tracing`.

mod asked;
mod begin;
mod content;
mod server_side;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use llm_do_providers::Usage;
use serde_json::Value;
use tracing::{Level, Span, event};

use self::asked::Asked;
use self::begin::{agent, chat, known, tool, workflow};
use self::server_side::ServerSide;
use super::{Caller, Delivery, Event, EventKind, EventPart, EventSink, ItemKind, Outcome};

#[doc = include_str!("../../../docs/tracing_sink.md")]
#[derive(Default)]
pub struct TracingSink {
    content: bool,
    open: Mutex<HashMap<Place, Open>>,
}

/// A call: its run, and its number there.
type Place = (Arc<str>, u64);

/// A call that has started.
struct Open {
    span: Span,
    what: ItemKind,
    /// The request that its model has not answered yet.
    chat: Option<Span>,
    /// The tools that its provider runs for it.
    server_side: ServerSide,
    /// The calls that its model asked for in its last answer, not made yet.
    asked: Asked,
    /// What its own requests used.
    used: Usage,
}

impl TracingSink {
    /// Returns a sink that makes spans without content.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records what calls are given and return, what models answer, and the texts of errors. Default: false.
    ///
    /// That may be personal, secret and long.
    #[must_use]
    pub fn content(mut self, yes: bool) -> Self {
        self.content = yes;
        self
    }
}

impl EventSink for TracingSink {
    fn emit(&self, event: &Arc<Event>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let here = (Arc::clone(&event.run), event.call);
        match &event.kind {
            EventKind::CallStarted { what, by, arguments } => {
                let call = self.start(event, *what, *by, arguments, caller(&mut open, event));
                open.insert(here, call);
            }
            EventKind::CallRefused { by, error } => self.refused(event, *by, error, caller(&mut open, event)),
            EventKind::CallFinished { outcome, .. } => {
                if let Some(call) = open.remove(&here) {
                    call.finish(outcome, self.content);
                }
            }
            EventKind::ModelRequest { model, .. } => {
                if let Some(call) = open.get_mut(&here) {
                    call.request(model);
                }
            }
            EventKind::ServerSideToolStarted { tool, input } => {
                if let Some(call) = open.get_mut(&here) {
                    let request = call.chat.as_ref().unwrap_or(&call.span);
                    call.server_side.begin(event, tool, input, request, self.content);
                }
            }
            EventKind::ServerSideToolFinished { tool, input, error } => {
                if let Some(call) = open.get_mut(&here) {
                    call.server_side.end(tool, input, error.as_deref(), self.content);
                }
            }
            EventKind::ModelResponse { model, parts, usage } => {
                if let Some(call) = open.get_mut(&here) {
                    call.answered(model, parts, *usage, self.content);
                }
            }
            _ => {}
        }
    }

    /// In place: a span begins and ends when its call does, inside the span that the run was started in.
    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

/// Finds the call that made the call of `event`; or the root call, where that has ended, as with the worker of a shadow.
fn caller<'a>(open: &'a mut HashMap<Place, Open>, event: &Event) -> Option<&'a mut Open> {
    let place = |call| (Arc::clone(&event.run), call);
    let parent = place(event.parent?);
    let found = if open.contains_key(&parent) { parent } else { place(0) };
    open.get_mut(&found)
}

impl TracingSink {
    fn start(
        &self,
        event: &Event,
        what: ItemKind,
        by: Caller,
        arguments: &Value,
        mut caller: Option<&mut Open>,
    ) -> Open {
        let id = match &mut caller {
            Some(caller) if by == Caller::Model => caller.asked.find(&event.name, arguments),
            _ => None,
        };
        let parent = caller.map(|caller| &caller.span);
        let span = match what {
            ItemKind::Tool => tool(event, parent),
            ItemKind::Worker => agent(event, parent),
            ItemKind::Entry => workflow(event, parent),
        };
        if let Some(id) = id {
            span.record("gen_ai.tool.call.id", &*id);
        }
        if self.content && !span.is_disabled() {
            match what {
                ItemKind::Tool => span.record("gen_ai.tool.call.arguments", arguments.to_string()),
                _ => span.record("gen_ai.input.messages", content::of_user(arguments)),
            };
        }
        Open {
            span,
            what,
            chat: None,
            server_side: ServerSide::default(),
            asked: Asked::default(),
            used: Usage::default(),
        }
    }

    /// A call that never ran has no time: it is an event in its caller's span. Its name may be a model's invention.
    fn refused(&self, event: &Event, by: Caller, error: &str, caller: Option<&mut Open>) {
        let (name, error) = if self.content { (&*event.name, error) } else { ("", "") };
        let (name, error) = (some(name), some(error));
        let inside = caller.map_or_else(Span::current, |caller| {
            if by == Caller::Model {
                caller.asked.forget(&event.name);
            }
            caller.span.clone()
        });
        event!(
            target: "llm_do", parent: &inside, Level::WARN,
            "error.type" = "call_refused", "gen_ai.tool.name" = name, "error.message" = error,
            "a call was refused"
        );
    }
}

fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl Open {
    fn request(&mut self, model: &str) {
        let (provider, model) = model.split_once(':').unwrap_or(("_OTHER", model));
        if self.used.requests == 0 && self.chat.is_none() {
            self.span.record("gen_ai.provider.name", known(provider));
            self.span.record("gen_ai.request.model", model);
        }
        self.unanswered();
        self.chat = Some(chat(provider, model, &self.span));
    }

    /// Ends a request that got no answer.
    fn unanswered(&mut self) {
        self.server_side = ServerSide::default();
        if let Some(chat) = self.chat.take() {
            fail(&chat, "request_failed");
        }
    }

    fn answered(&mut self, model: &str, parts: &[EventPart], usage: Usage, with_content: bool) {
        self.used += usage;
        self.server_side = ServerSide::default();
        self.asked = if self.span.is_disabled() { Asked::default() } else { Asked::new(parts) };
        let Some(chat) = self.chat.take().filter(|chat| !chat.is_disabled()) else { return };
        chat.record("gen_ai.response.model", model);
        record_usage(&chat, usage);
        if with_content {
            chat.record("gen_ai.output.messages", content::of_model(parts));
        }
    }

    fn finish(mut self, outcome: &Outcome, with_content: bool) {
        self.unanswered();
        if self.used.requests > 0 {
            record_usage(&self.span, self.used);
        }
        match outcome {
            Outcome::Result(value) if with_content => match self.what {
                ItemKind::Tool => drop(self.span.record("gen_ai.tool.call.result", value.to_string())),
                _ => drop(self.span.record("gen_ai.output.messages", content::of_result(value))),
            },
            Outcome::Result(_) => {}
            Outcome::Error(error) => {
                fail(&self.span, "call_failed");
                if with_content {
                    self.span.record("otel.status_description", &**error);
                }
            }
        }
    }
}

fn fail(span: &Span, kind: &str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

fn record_usage(span: &Span, usage: Usage) {
    span.record("gen_ai.usage.input_tokens", usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    if usage.cached_tokens > 0 {
        span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
    }
    if usage.reasoning_tokens > 0 {
        span.record("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens);
    }
}

impl fmt::Debug for TracingSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TracingSink").field("content", &self.content).finish_non_exhaustive()
    }
}
