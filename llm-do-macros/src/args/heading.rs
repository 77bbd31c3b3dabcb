//! The keys that all attributes on functions share.

use syn::{Expr, Ident, LitStr};

use super::toolset::Toolsets;
use super::{Key, Text, timeout};

/// What every callable may say of itself.
#[derive(Default)]
pub(crate) struct Heading {
    /// The registered name, if not the function's.
    pub(crate) name: Option<LitStr>,
    /// The argument struct's name, if not the function's.
    pub(crate) args: Option<Ident>,
    /// What it may call.
    pub(crate) toolsets: Option<Toolsets>,
    /// How long a call may take: a constant `Duration`.
    pub(crate) timeout: Option<Expr>,
    /// What the model reads, if not the doc comment.
    pub(crate) description: Option<Text>,
}

/// The arguments of an attribute that begins with a heading.
pub(crate) trait Headed: 'static {
    /// Returns the heading, to be filled in.
    fn heading(&mut self) -> &mut Heading;
}

/// The key `name`.
pub(crate) const fn name<A: Headed>() -> Key<A> {
    Key::new("name = \"..\"", |args, value| value.fill(&mut args.heading().name))
}

/// The key `args`.
pub(crate) const fn args<A: Headed>() -> Key<A> {
    Key::new("args = Ident", |args, value| value.fill(&mut args.heading().args))
}

/// The key `toolsets`.
pub(crate) const fn toolsets<A: Headed>() -> Key<A> {
    Key::new("toolsets = [path, \"name\", ..]", |args, value| {
        value.fill_with(&mut args.heading().toolsets, Toolsets::parse)
    })
}

/// The key `timeout`.
pub(crate) const fn timeout<A: Headed>() -> Key<A> {
    Key::new("timeout = \"30s\" | Duration", |args, value| value.fill_with(&mut args.heading().timeout, timeout::parse))
}

/// The key `description`.
pub(crate) const fn description<A: Headed>() -> Key<A> {
    Key::new("description = \"..\"", |args, value| value.fill(&mut args.heading().description))
}
