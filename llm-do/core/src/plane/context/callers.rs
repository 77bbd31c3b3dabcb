//! The position of a call in the call tree: its callers, and its run.

use std::sync::Arc;

use super::{CallContext, CallFrame, Host, Scope};
use crate::observe::event::Caller;
use crate::plane::instance::{Opened, TypeKey};

impl<S> CallContext<S> {
    /// Returns the frames of this call and of its callers, up to the user's.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &CallFrame> {
        self.scopes().map(|scope| &scope.frame)
    }

    /// Returns the registered names of this call and of its callers, from the innermost.
    #[doc(hidden)]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.frames().map(|frame| &*frame.name)
    }

    /// Returns the frames of this call and of its callers in the same run, up to the user's.
    pub(crate) fn frames_of_run(&self) -> impl Iterator<Item = &CallFrame> {
        self.scopes().take_while(|scope| Arc::ptr_eq(&scope.host, self.host())).map(|scope| &scope.frame)
    }

    fn scopes(&self) -> impl Iterator<Item = &Arc<Scope>> {
        std::iter::successors(Some(&self.scope), |scope| Some(&scope.parent.as_ref()?.scope))
    }

    /// Returns the context of the caller; `None` for the user's context.
    pub(crate) fn caller(&self) -> Option<&CallContext> {
        self.scope.parent.as_ref()
    }

    /// Reads the instance of a stateful toolset that the caller has open; `None` if it does not declare the toolset.
    #[doc(hidden)]
    pub fn with_instance_of_caller<T: Send + Sync + 'static, R>(&self, read: impl FnOnce(Option<&T>) -> R) -> R {
        let key = TypeKey::of::<T>(self.instance());
        let opened = self.caller().and_then(|caller| caller.frame().instances.get(key));
        let slot = opened.and_then(Opened::slot::<T>);
        read(slot.as_ref().map(|slot| slot.value()))
    }

    /// Returns the run that makes the calls.
    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.scope.host
    }

    /// Returns a name of the conversation that the call continues, in its chat; `None` if it continues none.
    #[doc(hidden)]
    #[must_use]
    pub fn conversation_name(&self) -> Option<String> {
        match &self.frame().thread {
            Some(thread) => Some(format!("thread {}", thread.name())),
            None => self.is_first().then(|| format!("worker {}", self.name())),
        }
    }

    /// Returns whether it is the first call of a run: the user's, or that of a nested run.
    pub(crate) fn is_first(&self) -> bool {
        let is_other = |caller: &CallContext| !Arc::ptr_eq(caller.host(), self.host());
        self.frame().by == Caller::User || self.caller().is_some_and(is_other)
    }
}
