//! `#[tool(..)]` on an `impl`

use syn::LitStr;

use super::{Grammar, Key, Text};

/// The arguments of `#[tool]` on an `impl`, whose methods are tools.
#[derive(Default)]
pub(crate) struct Stateful {
    /// The toolset's registered name, if not the type's.
    pub(crate) name: Option<LitStr>,
    /// What it is for, if not the doc comment.
    pub(crate) description: Option<Text>,
}

impl Grammar for Stateful {
    const ATTRIBUTE: &'static str = "tool";
    const KEYS: &'static [Key<Self>] = &[
        Key::new("name = \"..\"", |args, value| value.fill(&mut args.name)),
        Key::new("description = \"..\"", |args, value| value.fill(&mut args.description)),
    ];
}
