//! `#[worker(..)]`

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Token};

use super::heading::{self, Headed, Heading};
use super::server_side::ServerSideTools;
use super::{Grammar, Key, Text, did_you_mean, texts};
use crate::errors::Errors;

/// The error for a worker with both keys.
pub(crate) const ONE_CHOICE: &str = "`model` and `compatible_models` cannot be combined; give `model` to require one model, or `compatible_models` to \
     accept several";

/// Returns an error message if a model name is not `provider:model`. Whether the provider exists is known at run time only.
pub(crate) fn model_fault(name: &str) -> Option<String> {
    let parts = name.split_once(':');
    let is_whole = parts.is_some_and(|(provider, model)| !provider.trim().is_empty() && !model.trim().is_empty());
    let text = format!("invalid model name `{name}`: expected `provider:model`, such as `openai:gpt-5`");
    (!is_whole).then_some(text)
}

/// The arguments of `#[worker]`.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) heading: Heading,
    /// The worker file, which sets other keys.
    pub(crate) file: Option<LitStr>,
    /// The model, if the worker requires one.
    pub(crate) model: Option<LitStr>,
    /// The models that the worker accepts, as glob patterns.
    pub(crate) compatible_models: Option<Globs>,
    /// The system prompt.
    pub(crate) instructions: Option<Text>,
    /// The tools that the provider runs.
    pub(crate) server_side_tools: Option<ServerSideTools>,
    /// The settings of its requests.
    pub(crate) settings: Option<Expr>,
    /// What the worker is good at.
    pub(crate) hints: Option<Hints>,
    /// How the model returns the output.
    pub(crate) output: Option<Output>,
    /// The maximum number of requests per call.
    pub(crate) max_turns: Option<Expr>,
    /// The maximum number of consecutive attempts to correct the same error.
    pub(crate) retries: Option<Expr>,
    /// The limits for a call and all nested calls together.
    pub(crate) limits: Option<Expr>,
}

impl Headed for Worker {
    fn heading(&mut self) -> &mut Heading {
        &mut self.heading
    }
}

impl Grammar for Worker {
    const DOCS: &'static str = "llm_do::worker";
    const KEYS: &'static [Key<Self>] = &[
        heading::name(),
        heading::args(),
        Key::new("file = \"..\"", |worker, value| value.fill(&mut worker.file)),
        Key::new("model = \"..\"", |worker, value| value.fill(&mut worker.model)),
        Key::new("compatible_models = [\"..\", ..]", |worker, value| {
            value.fill_with(&mut worker.compatible_models, Globs::parse)
        }),
        Key::new("instructions = \"..\"", |worker, value| value.fill(&mut worker.instructions)),
        heading::toolsets(),
        Key::new("server_side_tools = [web_search, ..]", |worker, value| {
            value.fill_with(&mut worker.server_side_tools, ServerSideTools::parse)
        }),
        Key::new("settings = expr", |worker, value| value.fill(&mut worker.settings)),
        Key::new("hints = [\"..\", ..]", |worker, value| value.fill_with(&mut worker.hints, Hints::parse)),
        Key::new("output = auto | native | tool | prompted", |worker, value| {
            value.fill_with(&mut worker.output, Output::parse)
        }),
        Key::new("max_turns = N", |worker, value| value.fill(&mut worker.max_turns)),
        Key::new("retries = N", |worker, value| value.fill(&mut worker.retries)),
        Key::new("limits = expr", |worker, value| value.fill(&mut worker.limits)),
        heading::timeout(),
        heading::description(),
    ];
}

/// A list of patterns of model names.
pub(crate) struct Globs(pub(crate) Punctuated<LitStr, Token![,]>);

impl Globs {
    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        texts(input, errors, "model pattern").map(Self)
    }
}

/// A list of strings that describe what a worker is good at.
pub(crate) struct Hints(pub(crate) Punctuated<LitStr, Token![,]>);

impl Hints {
    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        texts(input, errors, "hint").map(Self)
    }
}

/// A value of the key `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Auto,
    Native,
    Tool,
    Prompted,
}

impl Output {
    const ALL: [Self; 4] = [Self::Auto, Self::Native, Self::Tool, Self::Prompted];
    /// Every mode, for an error.
    pub(crate) const EXPECTED: &str = "expected `auto`, `native`, `tool` or `prompted`";

    fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Prompted => "prompted",
        }
    }

    /// Returns the mode with the name.
    ///
    /// # Errors
    ///
    /// Returns a message that lists the modes.
    pub(crate) fn named(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| {
            let hint = did_you_mean(word, Self::ALL.into_iter().map(Self::word));
            format!("unknown output mode `{word}`{hint}\n{}", Self::EXPECTED)
        })
    }

    fn parse(input: ParseStream, _errors: &mut Errors) -> syn::Result<Self> {
        let ident: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), Self::EXPECTED))?;
        Self::named(&ident.to_string()).map_err(|fault| syn::Error::new_spanned(ident, fault))
    }
}
