//! `#[arg(..)]`

use syn::{Expr, LitStr};

use super::{Grammar, Key};

/// The arguments of `#[arg]`, on a parameter.
#[derive(Default)]
pub(crate) struct Arg {
    /// What an absent argument means.
    pub(crate) default: Option<Expr>,
    /// The argument's name in the schema, if not the parameter's.
    pub(crate) rename: Option<LitStr>,
    /// What the model reads, if not the doc comment.
    pub(crate) description: Option<LitStr>,
}

impl Grammar for Arg {
    const ATTRIBUTE: &'static str = "arg";
    const KEYS: &'static [Key<Self>] = &[
        Key::new("default = expr", |arg, value| value.fill(&mut arg.default)),
        Key::new("rename = \"..\"", |arg, value| value.fill(&mut arg.rename)),
        Key::new("description = \"..\"", |arg, value| value.fill(&mut arg.description)),
    ];
}
