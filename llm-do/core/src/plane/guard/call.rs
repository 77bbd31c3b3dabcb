//! The call that guards inspect.

use std::borrow::Cow;

use serde_json::Value;

use crate::base::usage::RunUsage;
use crate::declare::schema::dismantle;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::context::CallContext;
use crate::plane::origin::Origins;

/// What guards may know about the callee.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuardedItem<'a> {
    pub(crate) kind: ItemKind,
    pub(crate) effect: Effect,
    /// The schema of the arguments.
    pub(crate) parameters: &'a Value,
}

/// A call of a tool, worker or entry that a [`Guard`](super::Guard) inspects.
#[derive(Debug)]
pub struct GuardedCall<'a> {
    call: &'a CallContext,
    item: GuardedItem<'a>,
    arguments: Cow<'a, Value>,
    ctx: CallContext,
}

impl<'a> GuardedCall<'a> {
    pub(crate) fn new(call: &'a CallContext, item: GuardedItem<'a>, arguments: Cow<'a, Value>) -> Self {
        // This is the caller's context, which outlives the call; for the user's call, it is the context of the call
        // itself.
        let ctx = call.caller().filter(|_| call.frame().by != Caller::User).unwrap_or(call).for_guard();
        Self { call, item, arguments, ctx }
    }

    /// Returns the registered name of the callee.
    #[must_use]
    pub fn name(&self) -> &str {
        self.call.name()
    }

    /// Returns whether the callee is a tool, a worker or an entry. `ctx.llm_ask` calls the worker `llm_ask`.
    #[must_use]
    pub fn kind(&self) -> ItemKind {
        self.item.kind
    }

    /// Returns the possible effect of the call.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.item.effect
    }

    /// Returns who decided to call: the user, code or a model.
    #[must_use]
    pub fn by(&self) -> Caller {
        self.call.frame().by
    }

    /// Returns the registered name of the caller; `None` for the user's own call.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.call.caller().filter(|_| self.by() != Caller::User).map(CallContext::name)
    }

    /// Returns the decoded arguments, defaults filled in.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Returns the arguments for changes: a JSON object.
    ///
    /// The first use copies them, so check [`arguments`](Self::arguments) first.
    pub fn arguments_mut(&mut self) -> &mut Value {
        self.arguments.to_mut()
    }

    /// Returns what the call was made from: the user's request, what the caller has read, and where each value of the
    /// [arguments](Self::arguments) came from, as they are now.
    #[must_use]
    pub fn origins(&self) -> Origins {
        self.call.origins(&self.arguments, self.item.parameters, Vec::new())
    }

    /// Returns the usage of the whole run so far.
    #[must_use]
    pub fn used(&self) -> RunUsage {
        self.call.run_usage()
    }

    /// Returns the caller's context, or for the user's call its own, to report progress, read state and make calls.
    ///
    /// A guard may call all registered items. Its calls count as the caller's, and no guard sees them.
    #[must_use]
    pub fn ctx(&self) -> &CallContext {
        &self.ctx
    }

    /// Returns the call's own context.
    pub(super) fn call(&self) -> &'a CallContext {
        self.call
    }

    /// Takes the arguments if [`arguments_mut`](Self::arguments_mut) copied them.
    pub(super) fn take_copied(&mut self) -> Option<Value> {
        match std::mem::replace(&mut self.arguments, Cow::Borrowed(&Value::Null)) {
            Cow::Owned(arguments) => Some(arguments),
            Cow::Borrowed(_) => None,
        }
    }
}

impl Drop for GuardedCall<'_> {
    fn drop(&mut self) {
        // A guard may have added a value so deeply nested that dropping it would overflow the stack.
        self.take_copied().into_iter().for_each(dismantle);
    }
}
