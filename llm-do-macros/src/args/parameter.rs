//! `#[arg(..)]`

use syn::{Expr, Ident, LitStr};

use super::{Grammar, Key, Text};

/// The arguments of `#[arg]`, on a parameter.
#[derive(Default)]
pub(crate) struct Arg {
    /// The value if the argument is missing.
    pub(crate) default: Option<Default>,
    /// The name in the schema, if it is not the parameter's name.
    pub(crate) rename: Option<LitStr>,
    /// The description, if it is not the doc comment.
    pub(crate) description: Option<Text>,
    /// An example value, for the schema.
    pub(crate) example: Option<Expr>,
    /// The key `flatten`, if given.
    pub(crate) flatten: Option<Ident>,
}

/// The default value of an argument.
pub(crate) enum Default {
    /// The `Default` of the type.
    OfType(Ident),
    /// This expression.
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
