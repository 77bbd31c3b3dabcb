//! The request to a model that guards inspect.

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::{Message, ServerSideTool, Settings, ToolSpec, Transcript};

use crate::base::usage::RunUsage;
use crate::plane::context::CallContext;
use crate::plane::history::History;

/// A worker's request to its model, which a [`Guard`](super::Guard) inspects.
#[derive(Debug)]
pub struct GuardedRequest<'a> {
    worker: &'a CallContext,
    model: &'a str,
    turn: u32,
    tools: &'a [ToolSpec],
    changeable: ChangeableParts<'a>,
    ctx: CallContext,
}

/// The parts of a request that a guard may change.
#[derive(Clone, Debug)]
pub(crate) struct ChangeableParts<'a> {
    pub(crate) instructions: Cow<'a, str>,
    /// Shared with the worker until a guard changes them.
    pub(crate) messages: Arc<Transcript>,
    pub(crate) settings: Cow<'a, Settings>,
    pub(crate) server_side_tools: Cow<'a, [ServerSideTool]>,
}

impl<'a> GuardedRequest<'a> {
    pub(crate) fn new(
        worker: &'a CallContext,
        model: &'a str,
        turn: u32,
        tools: &'a [ToolSpec],
        changeable: ChangeableParts<'a>,
    ) -> Self {
        Self { worker, model, turn, tools, changeable, ctx: worker.for_guard() }
    }

    /// Returns the registered name of the worker; `llm_ask` for a request by `ctx.llm_ask`.
    #[must_use]
    pub fn worker(&self) -> &str {
        self.worker.name()
    }

    /// Returns the model as `provider:model`.
    #[must_use]
    pub fn model(&self) -> &str {
        self.model
    }

    /// Returns the 1-based number of the request in the worker's call.
    #[must_use]
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the tools that the request offers to the model.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        self.tools
    }

    /// Returns the server-side tools, which the provider may run.
    #[must_use]
    pub fn server_side_tools(&self) -> &[ServerSideTool] {
        &self.changeable.server_side_tools
    }

    /// Removes a server-side tool, such as `web_search`, from this request; returns whether the request contained it.
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
        let is_present = self.server_side_tools().iter().any(|tool| tool.name() == name);
        if is_present {
            self.changeable.server_side_tools.to_mut().retain(|tool| tool.name() != name);
        }
        is_present
    }

    /// Returns the instructions (the system prompt); may be empty.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.changeable.instructions
    }

    /// Replaces the instructions.
    pub fn set_instructions(&mut self, text: impl Into<String>) {
        self.changeable.instructions = Cow::Owned(text.into());
    }

    /// Returns the messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.changeable.messages
    }

    /// Returns the messages for changes to this request only.
    ///
    /// The first use copies them, so check [`messages`](Self::messages) first. Tool calls that lose their results are
    /// [repaired](History::repair) after the hook.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.changeable.messages).messages_mut()
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.changeable.settings
    }

    /// Returns the settings for changes to this request only.
    pub fn settings_mut(&mut self) -> &mut Settings {
        self.changeable.settings.to_mut()
    }

    /// Returns the usage of the whole run so far.
    #[must_use]
    pub fn used(&self) -> RunUsage {
        self.worker.run_usage()
    }

    /// Returns the worker's context: to report progress, read state and make calls.
    ///
    /// A guard may call all registered items. Its calls count as the worker's, and no guard sees them.
    #[must_use]
    pub fn ctx(&self) -> &CallContext {
        &self.ctx
    }

    /// Returns the context of the worker's call.
    pub(super) fn call(&self) -> &'a CallContext {
        self.worker
    }

    /// Returns the parts that a guard may change, with its changes.
    pub(crate) fn changeable(&self) -> &ChangeableParts<'a> {
        &self.changeable
    }

    /// Repairs messages that a guard changed, so that providers accept them.
    pub(super) fn repair(&mut self, before: &ChangeableParts<'_>) {
        if !Arc::ptr_eq(&self.changeable.messages, &before.messages) {
            let messages = std::mem::take(self.messages_mut());
            *self.messages_mut() = History::from(messages).into();
        }
    }
}

impl PartialEq for ChangeableParts<'_> {
    fn eq(&self, other: &Self) -> bool {
        let Self { instructions, messages, settings, server_side_tools } = self;
        let is_same = || Arc::ptr_eq(messages, &other.messages) || *messages == other.messages;
        *instructions == other.instructions
            && *settings == other.settings
            && *server_side_tools == other.server_side_tools
            && is_same()
    }
}
