//! `#[tool(..)]`

use syn::parse::ParseStream;
use syn::{Expr, Ident, LitBool, LitStr, Path};

use super::approval::{self, Approval, HasApproval};
use super::on_unknown::{self, HasOnUnknown, OnUnknown};
use super::shared_keys::{self, HasSharedKeys, SharedKeys};
use super::{Grammar, Key, word};
use crate::errors::Errors;

/// The arguments of `#[tool]`.
#[derive(Default)]
pub(crate) struct Tool {
    pub(crate) shared_keys: SharedKeys,
    /// The possible effect of a call.
    pub(crate) effect: Option<Effect>,
    /// Whether calls need approval.
    pub(crate) approval: Option<Approval>,
    /// What happens to a call with an unknown outcome.
    pub(crate) on_unknown: Option<OnUnknown>,
    /// The read-only tool that finds out whether a call has happened.
    pub(crate) reconcile: Option<Path>,
    /// A template for one line that describes a call.
    pub(crate) summary: Option<LitStr>,
    /// The function whose text shows the effect of a call to the approver.
    pub(crate) preview: Option<Path>,
    /// How many bytes a model gets of a result.
    pub(crate) max_result: Option<Expr>,
    /// Whether results are private.
    pub(crate) private: Option<LitBool>,
    /// Where what it gets may arrive.
    pub(crate) reach: Option<Reach>,
    /// The key `inline`, if given.
    pub(crate) inline: Option<Ident>,
    /// The key `background`, if given.
    pub(crate) background: Option<Ident>,
}

impl HasSharedKeys for Tool {
    fn shared_keys(&mut self) -> &mut SharedKeys {
        &mut self.shared_keys
    }
}

impl HasApproval for Tool {
    fn approval(&mut self) -> &mut Option<Approval> {
        &mut self.approval
    }
}

impl HasOnUnknown for Tool {
    fn on_unknown(&mut self) -> &mut Option<OnUnknown> {
        &mut self.on_unknown
    }
}

impl Grammar for Tool {
    const DOCS: &'static str = "llm_do::tool";
    const KEYS: &'static [Key<Self>] = &[
        shared_keys::name(),
        shared_keys::args(),
        Key::new("effect = read_only | idempotent | destructive", |tool, value| {
            value.fill_with(&mut tool.effect, Effect::parse)
        }),
        approval::key(),
        on_unknown::key(),
        Key::new("reconcile = path", |tool, value| value.fill(&mut tool.reconcile)),
        Key::new("summary = \".. {argument} ..\"", |tool, value| value.fill(&mut tool.summary)),
        Key::new("preview = path", |tool, value| value.fill(&mut tool.preview)),
        Key::new("inline", |tool, value| value.flag(&mut tool.inline)),
        Key::new("max_result = N", |tool, value| value.fill(&mut tool.max_result)),
        Key::new("private = true", |tool, value| value.fill(&mut tool.private)),
        Key::new("reach = own | outside", |tool, value| value.fill_with(&mut tool.reach, Reach::parse)),
        Key::new("background", |tool, value| value.flag(&mut tool.background)),
        shared_keys::error(),
        shared_keys::timeout(),
        shared_keys::toolsets(),
        shared_keys::description(),
    ];
}

/// A value of the key `effect`.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    ReadOnly,
    Idempotent,
    Destructive,
}

impl Effect {
    pub(crate) fn parse(input: ParseStream, _errors: &mut Errors) -> syn::Result<Self> {
        let words =
            [("read_only", Self::ReadOnly), ("idempotent", Self::Idempotent), ("destructive", Self::Destructive)];
        word(input, "effect", &words)
    }
}

/// A value of the key `reach`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Own,
    Outside,
}

impl Reach {
    fn parse(input: ParseStream, _errors: &mut Errors) -> syn::Result<Self> {
        word(input, "reach", &[("own", Self::Own), ("outside", Self::Outside)])
    }
}
