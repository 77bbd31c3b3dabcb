//! `#[worker(..)]`

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Token, bracketed};

use super::heading::{self, Headed, Heading};
use super::{Grammar, Key, Text};

/// The arguments of `#[worker]`.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) heading: Heading,
    /// The model, if the worker is tied to one.
    pub(crate) model: Option<LitStr>,
    /// Which models may stand in, as globs.
    pub(crate) compatible_models: Option<Globs>,
    /// The system prompt.
    pub(crate) instructions: Option<Text>,
    /// How many requests one call may make.
    pub(crate) max_turns: Option<Expr>,
    /// How often the model may mend one fault.
    pub(crate) retries: Option<Expr>,
}

impl Headed for Worker {
    fn heading(&mut self) -> &mut Heading {
        &mut self.heading
    }
}

impl Grammar for Worker {
    const ATTRIBUTE: &'static str = "worker";
    const KEYS: &'static [Key<Self>] = &[
        heading::name(),
        heading::args(),
        Key::new("model = \"..\"", |worker, value| value.fill(&mut worker.model)),
        Key::new("compatible_models = [\"..\", ..]", |worker, value| value.fill(&mut worker.compatible_models)),
        Key::new("instructions = \"..\"", |worker, value| value.fill(&mut worker.instructions)),
        heading::toolsets(),
        Key::new("max_turns = N", |worker, value| value.fill(&mut worker.max_turns)),
        Key::new("retries = N", |worker, value| value.fill(&mut worker.retries)),
        heading::description(),
    ];
}

/// A list of patterns of model names.
pub(crate) struct Globs(pub(crate) Punctuated<LitStr, Token![,]>);

impl Parse for Globs {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let content;
        bracketed!(content in input);
        Punctuated::parse_terminated(&content).map(Self)
    }
}
