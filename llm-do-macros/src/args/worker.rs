//! `#[worker(..)]`

use llm_do_worker_file::OutputMode;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitBool, LitStr, Path, Token};

use super::server_side::ServerSideTools;
use super::shared_keys::{self, HasSharedKeys, SharedKeys};
use super::tool::Effect;
use super::{Grammar, Key, Text, texts};
use crate::errors::Errors;

/// The arguments of `#[worker]`.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) shared_keys: SharedKeys,
    /// The worker file, which sets other keys.
    pub(crate) file: Option<LitStr>,
    /// The model, if the worker requires one.
    pub(crate) model: Option<LitStr>,
    /// The models that the worker accepts, as glob patterns.
    pub(crate) compatible_models: Option<Globs>,
    /// The system prompt.
    pub(crate) instructions: Option<Text>,
    /// The function that computes the system prompt.
    pub(crate) instructions_with: Option<Path>,
    /// Whether the model calls its tools by code.
    pub(crate) code: Option<LitBool>,
    /// The tools that the provider runs.
    pub(crate) server_side_tools: Option<ServerSideTools>,
    /// The possible effect of a call.
    pub(crate) effect: Option<Effect>,
    /// The reason that a call has a weaker effect than the tools of the worker.
    pub(crate) effect_reason: Option<LitStr>,
    /// The settings of its requests.
    pub(crate) settings: Option<Expr>,
    /// The strengths of the worker, for choosing a worker.
    pub(crate) hints: Option<Hints>,
    /// The way in which the model returns the output.
    pub(crate) output: Option<OutputMode>,
    /// The maximum number of requests per call.
    pub(crate) max_turns: Option<Expr>,
    /// The maximum number of consecutive attempts to correct the same error.
    pub(crate) retries: Option<Expr>,
    /// The limits for a call and all nested calls together.
    pub(crate) limits: Option<Expr>,
    /// How many bytes the model gets of a result.
    pub(crate) max_result: Option<Expr>,
    /// The files that a prompt may have.
    pub(crate) attachments: Option<Expr>,
    /// Whether the model of a caller may start a call in the background.
    pub(crate) background: Option<LitBool>,
    /// Whether it reads untrusted text for others, without tools.
    pub(crate) quarantined: Option<LitBool>,
    /// The reason that it may read untrusted text and private data, and send.
    pub(crate) flow_reason: Option<LitStr>,
}

impl HasSharedKeys for Worker {
    fn shared_keys(&mut self) -> &mut SharedKeys {
        &mut self.shared_keys
    }
}

impl Grammar for Worker {
    const DOCS: &'static str = "llm_do::worker";
    const KEYS: &'static [Key<Self>] = &[
        shared_keys::name(),
        shared_keys::args(),
        Key::new("file = \"..\"", |worker, value| value.fill(&mut worker.file)),
        Key::new("model = \"..\"", |worker, value| value.fill(&mut worker.model)),
        Key::new("compatible_models = [\"..\", ..]", |worker, value| {
            value.fill_with(&mut worker.compatible_models, Globs::parse)
        }),
        Key::new("instructions = \"..\"", |worker, value| value.fill(&mut worker.instructions)),
        Key::new("instructions_with = path", |worker, value| value.fill(&mut worker.instructions_with)),
        shared_keys::toolsets(),
        Key::new("code = true", |worker, value| value.fill(&mut worker.code)),
        Key::new("server_side_tools = [web_search, ..]", |worker, value| {
            value.fill_with(&mut worker.server_side_tools, ServerSideTools::parse)
        }),
        Key::new("effect = read_only | idempotent | destructive", |worker, value| {
            value.fill_with(&mut worker.effect, Effect::parse)
        }),
        Key::new("effect_reason = \"..\"", |worker, value| value.fill(&mut worker.effect_reason)),
        Key::new("settings = expr", |worker, value| value.fill(&mut worker.settings)),
        Key::new("hints = [\"..\", ..]", |worker, value| value.fill_with(&mut worker.hints, Hints::parse)),
        Key::new("output = auto | native | tool | prompted", |worker, value| {
            value.fill_with(&mut worker.output, output)
        }),
        Key::new("max_turns = N", |worker, value| value.fill(&mut worker.max_turns)),
        Key::new("retries = N", |worker, value| value.fill(&mut worker.retries)),
        Key::new("limits = expr", |worker, value| value.fill(&mut worker.limits)),
        Key::new("max_result = N", |worker, value| value.fill(&mut worker.max_result)),
        Key::new("attachments = expr", |worker, value| value.fill(&mut worker.attachments)),
        Key::new("background", |worker, value| {
            value.fill_or(&mut worker.background, |key| LitBool::new(true, key.span()), |given: LitBool| given)
        }),
        Key::new("quarantined = true", |worker, value| value.fill(&mut worker.quarantined)),
        Key::new("flow_reason = \"..\"", |worker, value| value.fill(&mut worker.flow_reason)),
        shared_keys::timeout(),
        shared_keys::description(),
    ];
}

/// A list of patterns of model names.
pub(crate) struct Globs(pub(crate) Punctuated<LitStr, Token![,]>);

impl Globs {
    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        texts(input, errors, "model pattern").map(Self)
    }
}

/// A list of strings that describe the strengths of a worker.
pub(crate) struct Hints(pub(crate) Punctuated<LitStr, Token![,]>);

impl Hints {
    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        texts(input, errors, "hint").map(Self)
    }
}

fn output(input: ParseStream, _errors: &mut Errors) -> syn::Result<OutputMode> {
    let ident: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), OutputMode::EXPECTED))?;
    OutputMode::named(&ident.to_string()).map_err(|fault| syn::Error::new_spanned(ident, fault))
}
