//! Parameters that the plane injects.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::CallContext;
use crate::base::error::{BoxError, CallError};
use crate::plane::instance::TypeKey;

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

/// A parameter type that the plane injects, so that models do not see it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "does not implement `FromContext`",
    note = "a parameter can be injected if it is `&CallContext<..>`, `&dyn ToolContext`, `State<T>` or implements `FromContext`",
    note = "in `State<T>`, `T` must be `Send + Sync + 'static`: use `Mutex` for `RefCell`, and `Arc` for `Rc`"
)]
pub trait FromContext: Sized + Send + 'static {
    /// Gets the value from the context of the call.
    ///
    /// # Errors
    ///
    /// Returns an error, which fails the call, if the value is missing.
    fn from_context(ctx: &CallContext) -> Result<Self, CallError>;

    /// Returns the key of the state; `None` if the type is not state.
    #[doc(hidden)]
    #[must_use]
    fn state_key() -> Option<StateKey> {
        None
    }
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
            let (of, setter) = match ctx.instance() {
                Some(instance) => (format!(" for the instance `{instance}`"), format!("state_for::<{instance}>")),
                None => (String::new(), "state".to_owned()),
            };
            let ty = name_of::<T>();
            let text = format!("missing state of type `{ty}`{of}; set it with `Runtime::builder().{setter}(..)`");
            CallError::Failed { tool: ctx.name().to_owned(), source: BoxError::from(text) }
        })
    }

    fn state_key() -> Option<StateKey> {
        Some(StateKey::unspelled::<T>())
    }
}

/// The key of a type of state that a tool needs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateKey {
    pub(crate) id: TypeKey,
    /// The type in the spelling of the signature.
    pub(crate) written: &'static str,
    /// The full type name with its modules.
    pub(crate) full_name: &'static str,
}

impl StateKey {
    /// Returns the key of `T`, which a signature spells as `written`.
    #[doc(hidden)]
    #[must_use]
    pub fn new<T: 'static>(written: &'static str) -> Self {
        Self { id: TypeKey::of::<T>(None), written, full_name: std::any::type_name::<T>() }
    }

    /// Returns the key of the same type for a named instance, if there is one.
    pub(crate) fn inside(self, instance: Option<&'static str>) -> Self {
        Self { id: TypeKey { instance, ..self.id }, ..self }
    }

    /// Returns the key of `T` without the spelling of a signature: a plain type is written without its modules.
    fn unspelled<T: 'static>() -> Self {
        let full_name = std::any::type_name::<T>();
        let is_plain = full_name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
        Self::new::<T>(if is_plain { full_name.rsplit(':').next().unwrap_or(full_name) } else { full_name })
    }
}

/// Returns the name of a type without its modules.
fn name_of<T>() -> String {
    let (mut name, mut start) = (String::new(), 0);
    for c in std::any::type_name::<T>().chars() {
        if c == ':' {
            name.truncate(start);
            continue;
        }
        name.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            start = name.len();
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{State, name_of};

    #[test]
    fn a_type_is_named_without_its_modules() {
        assert_eq!(name_of::<u8>(), "u8");
        assert_eq!(name_of::<HashMap<&'static str, Vec<State<[u8; 2]>>>>(), "HashMap<&str, Vec<State<[u8; 2]>>>");
    }
}
