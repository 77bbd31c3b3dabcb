//! The keys that the attributes on functions share.

use syn::{Expr, Ident, LitStr, Type};

use super::toolset::Toolsets;
use super::{Key, Text, timeout};

/// The values of the shared keys.
#[derive(Default)]
pub(crate) struct SharedKeys {
    /// The registered name, if it is not the function's name.
    pub(crate) name: Option<LitStr>,
    /// The name of the argument struct, if it is not the function's name.
    pub(crate) args: Option<Ident>,
    /// The items that the function may call.
    pub(crate) toolsets: Option<Toolsets>,
    /// The maximum duration of a call: a constant `Duration`.
    pub(crate) timeout: Option<Expr>,
    /// The type of the errors that a journal keeps, if it is not the function's error type.
    pub(crate) error: Option<Type>,
    /// The description, if it is not the doc comment.
    pub(crate) description: Option<Text>,
}

/// The arguments of an attribute with the shared keys.
pub(crate) trait HasSharedKeys: 'static {
    /// Returns the shared keys.
    fn shared_keys(&mut self) -> &mut SharedKeys;
}

/// The key `name`.
pub(crate) const fn name<A: HasSharedKeys>() -> Key<A> {
    Key::new("name = \"..\"", |args, value| value.fill(&mut args.shared_keys().name))
}

/// The key `args`.
pub(crate) const fn args<A: HasSharedKeys>() -> Key<A> {
    Key::new("args = Ident", |args, value| value.fill(&mut args.shared_keys().args))
}

/// The key `toolsets`.
pub(crate) const fn toolsets<A: HasSharedKeys>() -> Key<A> {
    Key::new("toolsets = [path, \"name\", ..]", |args, value| {
        value.fill_with(&mut args.shared_keys().toolsets, Toolsets::parse)
    })
}

/// The key `timeout`.
pub(crate) const fn timeout<A: HasSharedKeys>() -> Key<A> {
    Key::new("timeout = \"30s\" | Duration", |args, value| {
        value.fill_with(&mut args.shared_keys().timeout, timeout::parse)
    })
}

/// The key `error`, of functions with a body.
pub(crate) const fn error<A: HasSharedKeys>() -> Key<A> {
    Key::new("error = Type", |args, value| value.fill(&mut args.shared_keys().error))
}

/// The key `description`.
pub(crate) const fn description<A: HasSharedKeys>() -> Key<A> {
    Key::new("description = \"..\"", |args, value| value.fill(&mut args.shared_keys().description))
}
