//! Exports calls and requests as `tracing` spans.

mod content;
mod conversation;
mod server_side;
mod start;
mod tool_calls;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use llm_do_providers::Usage;
use serde_json::Value;
use tracing::{Level, Span, event};

use self::conversation::{Conversation, Definitions};
use self::server_side::ServerSideSpans;
use self::start::{agent, chat, provider_name, tool, workflow};
use self::tool_calls::PendingToolCalls;
use super::{Caller, Delivery, Event, EventKind, EventPart, EventSink, EventValue, ItemKind, Outcome, RequestContent};
use crate::base::mutex::IgnorePoison;

#[doc = include_str!("../../../docs/tracing_sink.md")]
#[derive(Default)]
pub struct TracingSink {
    content: bool,
    open: Mutex<HashMap<CallKey, OpenCall>>,
    definitions: Mutex<Definitions>,
}

/// Identifies a call by its run and its id.
type CallKey = (Arc<str>, u64);

/// A call that has started.
struct OpenCall {
    span: Span,
    what: ItemKind,
    /// The span of the request that the model has not answered yet.
    chat: Option<Span>,
    /// The spans of the server-side tools that are running.
    server_side: ServerSideSpans,
    /// The calls in the model's last answer that have not started yet.
    tool_calls: PendingToolCalls,
    /// What the call's own requests used.
    used: Usage,
    /// The messages of the call's requests, if events have them.
    conversation: Conversation,
}

impl TracingSink {
    /// Returns a sink whose spans have no content.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records arguments, results, models' answers and the texts of errors. Default: false.
    ///
    /// They may be personal, secret and long.
    #[must_use]
    pub fn content(mut self, yes: bool) -> Self {
        self.content = yes;
        self
    }
}

impl EventSink for TracingSink {
    fn emit(&self, event: &Arc<Event>) {
        let mut open = self.open.lock().ignore_poison();
        let here = (Arc::clone(&event.run), event.call);
        match &event.kind {
            EventKind::CallStarted { what, by, arguments, .. } => {
                let call = self.start(event, *what, *by, arguments, caller(&mut open, event));
                open.insert(here, call);
            }
            EventKind::CallRefused { by, error, arguments } => {
                self.record_refusal(event, *by, (error, arguments.as_ref()), caller(&mut open, event));
            }
            EventKind::CallPlanned { by, arguments, ran: false, .. } => {
                self.record_plan(event, *by, arguments, caller(&mut open, event));
            }
            EventKind::CallFinished { outcome, .. } => {
                if let Some(call) = open.remove(&here) {
                    call.finish(outcome, self.content);
                }
                if event.call == 0 {
                    self.definitions.lock().ignore_poison().forget(&event.run);
                }
            }
            EventKind::ModelRequest { model, content, .. } => {
                if let Some(call) = open.get_mut(&here) {
                    call.start_request(model);
                    if let Some(content) = content.as_deref().filter(|_| self.content) {
                        call.record_request(&event.run, content, &mut self.definitions.lock().ignore_poison());
                    }
                }
            }
            EventKind::ServerSideToolStarted { tool, input } => {
                if let Some(call) = open.get_mut(&here) {
                    let request = call.chat.as_ref().unwrap_or(&call.span);
                    call.server_side.start(event, tool, input, request, self.content);
                }
            }
            EventKind::ServerSideToolFinished { tool, input, error } => {
                if let Some(call) = open.get_mut(&here) {
                    call.server_side.finish(tool, input, error.as_deref(), self.content);
                }
            }
            EventKind::ModelResponse { model, parts, usage, .. } => {
                if let Some(call) = open.get_mut(&here) {
                    call.finish_request(model, parts, *usage, self.content);
                }
            }
            _ => {}
        }
    }

    /// Inline: a span starts and ends with its call, inside the span in which the run was started.
    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

/// Finds the caller of the event's call, or the root call if the caller has finished, as with the worker of a shadow.
fn caller<'a>(open: &'a mut HashMap<CallKey, OpenCall>, event: &Event) -> Option<&'a mut OpenCall> {
    let key = |call| (Arc::clone(&event.run), call);
    let parent = key(event.parent?);
    let found = if open.contains_key(&parent) { parent } else { key(0) };
    open.get_mut(&found)
}

impl TracingSink {
    fn start(
        &self,
        event: &Event,
        what: ItemKind,
        by: Caller,
        arguments: &EventValue,
        mut caller: Option<&mut OpenCall>,
    ) -> OpenCall {
        let id = match &mut caller {
            Some(caller) if by == Caller::Model => caller.tool_calls.take(&event.name, arguments),
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
                _ => span.record("gen_ai.input.messages", content::user_message(&arguments.value())),
            };
        }
        OpenCall {
            span,
            what,
            chat: None,
            server_side: ServerSideSpans::default(),
            tool_calls: PendingToolCalls::default(),
            used: Usage::default(),
            conversation: Conversation::default(),
        }
    }

    /// Records a call that never ran as an event in its caller's span. A model may have invented its name, so the name
    /// is content.
    fn record_refusal(
        &self,
        event: &Event,
        by: Caller,
        (error, arguments): (&str, Option<&EventValue>),
        caller: Option<&mut OpenCall>,
    ) {
        let (name, error) = if self.content { (&*event.name, error) } else { ("", "") };
        let (name, error) = (non_empty(name), non_empty(error));
        let arguments = arguments.filter(|_| self.content).map(ToString::to_string);
        let inside = caller_span(event, by, caller);
        event!(
            target: "llm_do", parent: &inside, Level::WARN,
            "error.type" = "call_refused", "gen_ai.tool.name" = name, "error.message" = error,
            "gen_ai.tool.call.arguments" = arguments,
            "a call was refused"
        );
    }

    /// Records a call that a dry run did not make as an event in its caller's span.
    fn record_plan(&self, event: &Event, by: Caller, arguments: &Value, caller: Option<&mut OpenCall>) {
        let (name, arguments) = (&*event.name, self.content.then(|| arguments.to_string()));
        let inside = caller_span(event, by, caller);
        event!(
            target: "llm_do", parent: &inside, Level::INFO,
            "gen_ai.tool.name" = name, "gen_ai.tool.call.arguments" = arguments,
            "a call is planned"
        );
    }
}

/// Returns the span of the caller of a call that did not run, which no longer waits for the call.
fn caller_span(event: &Event, by: Caller, caller: Option<&mut OpenCall>) -> Span {
    caller.map_or_else(Span::current, |caller| {
        if by == Caller::Model {
            caller.tool_calls.remove_all(&event.name);
        }
        caller.span.clone()
    })
}

fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl OpenCall {
    fn start_request(&mut self, model: &str) {
        let (provider, model) = model.split_once(':').unwrap_or(("_OTHER", model));
        if self.used.requests == 0 && self.chat.is_none() {
            self.span.record("gen_ai.provider.name", provider_name(provider));
            self.span.record("gen_ai.request.model", model);
        }
        self.fail_request();
        self.chat = Some(chat(provider, model, &self.span));
    }

    /// Records the content of a request.
    fn record_request(&mut self, run: &Arc<str>, content: &RequestContent, definitions: &mut Definitions) {
        let defined = definitions.of(run, content);
        let messages = self.conversation.extend(content);
        if let Some(chat) = self.chat.as_ref().filter(|chat| !chat.is_disabled()) {
            chat.record("gen_ai.input.messages", messages);
            for (field, definition) in defined {
                chat.record(field, &*definition);
            }
        }
    }

    /// Ends the span of a request that was not answered.
    fn fail_request(&mut self) {
        self.server_side = ServerSideSpans::default();
        if let Some(chat) = self.chat.take() {
            fail(&chat, "request_failed");
        }
    }

    fn finish_request(&mut self, model: &str, parts: &[EventPart], usage: Usage, with_content: bool) {
        self.used += usage;
        self.server_side = ServerSideSpans::default();
        self.tool_calls =
            if self.span.is_disabled() { PendingToolCalls::default() } else { PendingToolCalls::new(parts) };
        let Some(chat) = self.chat.take().filter(|chat| !chat.is_disabled()) else { return };
        chat.record("gen_ai.response.model", model);
        record_usage(&chat, usage);
        if with_content {
            self.conversation.push_answer(parts);
            chat.record("gen_ai.output.messages", content::model_message(parts));
        }
    }

    fn finish(mut self, outcome: &Outcome, with_content: bool) {
        self.fail_request();
        if self.used.requests > 0 {
            record_usage(&self.span, self.used);
        }
        match outcome {
            Outcome::Result(value) if with_content => match self.what {
                ItemKind::Tool => drop(self.span.record("gen_ai.tool.call.result", value.to_string())),
                _ => drop(self.span.record("gen_ai.output.messages", content::result_message(&value.value()))),
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
