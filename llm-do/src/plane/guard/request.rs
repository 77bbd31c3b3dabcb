//! A request to a model, as guards see it.

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::{Message, ServerSideTool, Settings, ToolSpec};

use crate::base::usage::RunUsage;
use crate::plane::context::CallContext;
use crate::plane::history::History;

/// What a worker asks of its model, as a [`Guard`](super::Guard) sees it.
#[derive(Debug)]
pub struct GuardedRequest<'a> {
    worker: &'a CallContext,
    model: &'a str,
    turn: u32,
    tools: &'a [ToolSpec],
    wording: Wording<'a>,
    ctx: CallContext,
}

/// What a guard may change of a request.
#[derive(Clone, Debug)]
pub(crate) struct Wording<'a> {
    pub(crate) instructions: Cow<'a, str>,
    /// The worker's own, until a guard changes them.
    pub(crate) messages: Arc<Vec<Message>>,
    pub(crate) settings: Cow<'a, Settings>,
    pub(crate) server_side_tools: Cow<'a, [ServerSideTool]>,
}

impl<'a> GuardedRequest<'a> {
    pub(crate) fn new(
        worker: &'a CallContext,
        model: &'a str,
        turn: u32,
        tools: &'a [ToolSpec],
        wording: Wording<'a>,
    ) -> Self {
        Self { worker, model, turn, tools, wording, ctx: worker.for_guard() }
    }

    /// Returns the registered name of the worker; `llm_ask` for a question by `ctx.llm_ask`.
    #[must_use]
    pub fn worker(&self) -> &str {
        self.worker.name()
    }

    /// Returns the model, `provider:model`.
    #[must_use]
    pub fn model(&self) -> &str {
        self.model
    }

    /// Returns the how many-th request of the worker's call it is, from 1.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the tools that are offered.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        self.tools
    }

    /// Returns the tools that the provider may run.
    #[must_use]
    pub fn server_side_tools(&self) -> &[ServerSideTool] {
        &self.wording.server_side_tools
    }

    /// Leaves a server-side tool, such as `web_search`, out of this request; returns whether it was in it.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::guard::FunctionGuard;
    ///
    /// let guard = FunctionGuard::new("offline").before_request(|request| {
    ///     request.remove_server_side_tool("web_search");
    ///     Ok(())
    /// });
    /// # _ = guard;
    /// ```
    pub fn remove_server_side_tool(&mut self, name: &str) -> bool {
        let is_in = self.server_side_tools().iter().any(|tool| tool.name() == name);
        if is_in {
            self.wording.server_side_tools.to_mut().retain(|tool| tool.name() != name);
        }
        is_in
    }

    /// Returns the instructions (the system prompt); empty if there are none.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.wording.instructions
    }

    /// Puts other instructions in the place of the worker's.
    pub fn set_instructions(&mut self, text: impl Into<String>) {
        self.wording.instructions = Cow::Owned(text.into());
    }

    /// Returns the messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.wording.messages
    }

    /// Returns the messages, to be changed for this request alone. They are copied, so look at them first.
    ///
    /// Tool calls and results that it parts are [repaired](History::repair) afterwards.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.wording.messages)
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.wording.settings
    }

    /// Returns the settings, to be changed.
    pub fn settings_mut(&mut self) -> &mut Settings {
        self.wording.settings.to_mut()
    }

    /// Returns what the whole run used so far.
    #[must_use]
    pub fn used(&self) -> RunUsage {
        self.worker.run_usage()
    }

    /// Returns the worker's context: to report progress, to find state, to call.
    ///
    /// By it a guard may call whatever is registered. What it calls counts as the worker's, and is not guarded.
    #[must_use]
    pub fn ctx(&self) -> &CallContext {
        &self.ctx
    }

    /// Returns the context of the worker's call.
    pub(super) fn call(&self) -> &'a CallContext {
        self.worker
    }

    /// Returns what is to be asked.
    pub(crate) fn wording(&self) -> &Wording<'a> {
        &self.wording
    }

    /// Makes of changed messages what a provider accepts.
    pub(super) fn repair(&mut self, before: &Wording<'_>) {
        if !Arc::ptr_eq(&self.wording.messages, &before.messages) {
            let messages = std::mem::take(self.messages_mut());
            *self.messages_mut() = History::from(messages).into();
        }
    }
}

impl PartialEq for Wording<'_> {
    fn eq(&self, other: &Self) -> bool {
        let Self { instructions, messages, settings, server_side_tools } = self;
        let is_same = || Arc::ptr_eq(messages, &other.messages) || *messages == other.messages;
        *instructions == other.instructions
            && *settings == other.settings
            && *server_side_tools == other.server_side_tools
            && is_same()
    }
}
