//! Parameters that the plane injects.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::CallContext;
use crate::base::error::{BoxError, CallError};

/// The application's state of type `T`, which the runtime passes to every tool with a `State<T>` parameter.
pub struct State<T>(Arc<T>);

impl<T> State<T> {
    pub(super) fn from_any(value: Arc<dyn Any + Send + Sync>) -> Option<Self>
    where
        T: Send + Sync + 'static,
    {
        value.downcast().ok().map(Self)
    }

    /// Wraps a value, to call a tool's function directly in a test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

/// A parameter type that the plane injects, and no model sees.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "not a context",
    note = "injectable types are `&CallContext<..>`, `&dyn ToolContext`, `State<T>` and types that implement `FromContext`",
    note = "the `T` of a `State<T>` must be `Send`, `Sync` and `'static`; a `Mutex` or an `Arc` may help"
)]
pub trait FromContext: Sized + Send + 'static {
    /// Gets the value from the context of the call.
    ///
    /// # Errors
    ///
    /// Returns an error, which fails the call, if there is no such value.
    fn from_context(ctx: &CallContext) -> Result<Self, CallError>;
}

#[diagnostic::do_not_recommend]
impl<S: 'static> FromContext for CallContext<S> {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        Ok(ctx.declaring())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> FromContext for State<T> {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        ctx.state().ok_or_else(|| {
            let text =
                format!("missing state of type `{}`; set it with `Runtime::builder().state(..)`", name_of::<T>());
            CallError::Failed { tool: ctx.name().to_owned(), source: BoxError::from(text) }
        })
    }
}

/// The key of a type of state that a tool needs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateKey {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl StateKey {
    /// Returns the key of `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: name_of::<T>() }
    }
}

fn name_of<T>() -> &'static str {
    std::any::type_name::<T>()
}
