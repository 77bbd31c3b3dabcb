//! A call, as guards see it.

use std::borrow::Cow;

use serde_json::Value;

use crate::base::usage::RunUsage;
use crate::declare::schema::dismantle;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::context::CallContext;

/// A call of a tool, worker or entry, as a [`Guard`](super::Guard) sees it.
#[derive(Debug)]
pub struct GuardedCall<'a> {
    call: &'a CallContext,
    kind: ItemKind,
    effect: Effect,
    arguments: Cow<'a, Value>,
    ctx: CallContext,
}

impl<'a> GuardedCall<'a> {
    pub(crate) fn new(call: &'a CallContext, kind: ItemKind, effect: Effect, arguments: Cow<'a, Value>) -> Self {
        // The caller's: it is there before the call and after it. The user has none of their own.
        let ctx = call.caller().filter(|_| call.frame().by != Caller::User).unwrap_or(call).for_guard();
        Self { call, kind, effect, arguments, ctx }
    }

    /// Returns the registered name of what is called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.call.name()
    }

    /// Returns whether a tool, a worker or an entry is called. A question by `ctx.llm_ask` is the worker `llm_ask`.
    #[must_use]
    pub fn kind(&self) -> ItemKind {
        self.kind
    }

    /// Returns what the call may change.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Returns who decided to call: the user, code or a model.
    #[must_use]
    pub fn by(&self) -> Caller {
        self.call.frame().by
    }

    /// Returns the registered name of the caller; none for the user's own call.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.call.caller().filter(|_| self.by() != Caller::User).map(CallContext::name)
    }

    /// Returns the arguments: decoded, defaults filled in.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Returns the arguments, to be changed: an object. They are copied, so look at them first.
    pub fn arguments_mut(&mut self) -> &mut Value {
        self.arguments.to_mut()
    }

    /// Returns what the whole run used so far.
    #[must_use]
    pub fn used(&self) -> RunUsage {
        self.call.run_usage()
    }

    /// Returns the caller's context, or the call's own where the user makes it: to report progress, to find state, to call.
    ///
    /// By it a guard may call whatever is registered. What it calls counts as the caller's, and is not guarded.
    #[must_use]
    pub fn ctx(&self) -> &CallContext {
        &self.ctx
    }

    /// Returns the call's own context.
    pub(super) fn call(&self) -> &'a CallContext {
        self.call
    }

    /// Takes the arguments if they were copied.
    pub(super) fn take_copied(&mut self) -> Option<Value> {
        match std::mem::replace(&mut self.arguments, Cow::Borrowed(&Value::Null)) {
            Cow::Owned(arguments) => Some(arguments),
            Cow::Borrowed(_) => None,
        }
    }
}

impl Drop for GuardedCall<'_> {
    fn drop(&mut self) {
        // A guard may have put in what is nested deeper than a stack holds.
        self.take_copied().into_iter().for_each(dismantle);
    }
}
