//! `#[arg(..)]`

use syn::{Expr, Ident, LitStr};

use super::{Grammar, Key, Text};

/// The arguments of `#[arg]`, on a parameter.
#[derive(Default)]
pub(crate) struct Arg {
    /// What an absent argument means.
    pub(crate) default: Option<Default>,
    /// The argument's name in the schema, if not the parameter's.
    pub(crate) rename: Option<LitStr>,
    /// What the model reads, if not the doc comment.
    pub(crate) description: Option<Text>,
    /// A value to show the model.
    pub(crate) example: Option<Expr>,
    /// The key `flatten`, if given.
    pub(crate) flatten: Option<Ident>,
}

/// The value of an absent argument.
pub(crate) enum Default {
    /// That of its type.
    OfType(Ident),
    /// This one.
    Value(Box<Expr>),
}

impl Grammar for Arg {
    const DOCS: &'static str = "llm_do::tool#parameters";
    const KEYS: &'static [Key<Self>] = &[
        Key::new("default = expr", |arg, value| {
            value.fill_or(&mut arg.default, Default::OfType, |value| Default::Value(Box::new(value)))
        }),
        Key::new("rename = \"..\"", |arg, value| value.fill(&mut arg.rename)),
        Key::new("description = \"..\"", |arg, value| value.fill(&mut arg.description)),
        Key::new("example = expr", |arg, value| value.fill(&mut arg.example)),
        Key::new("flatten", |arg, value| value.flag(&mut arg.flatten)),
    ];
}
