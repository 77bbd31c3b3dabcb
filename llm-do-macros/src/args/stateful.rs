//! `#[tool(..)]` on an `impl`

use syn::LitStr;

use super::approval::{self, Approval, HasApproval};
use super::on_unknown::{self, HasOnUnknown, OnUnknown};
use super::{Grammar, Key, Text};

/// The arguments of `#[tool]` on an `impl`, whose methods are tools.
#[derive(Default)]
pub(crate) struct Stateful {
    /// The registered name of the toolset, if it is not the name of the type.
    pub(crate) name: Option<LitStr>,
    /// The description, if it is not the doc comment.
    pub(crate) description: Option<Text>,
    /// Whether calls of its tools need approval.
    pub(crate) approval: Option<Approval>,
    /// What happens to a call of its tools with an unknown outcome.
    pub(crate) on_unknown: Option<OnUnknown>,
}

impl HasApproval for Stateful {
    fn approval(&mut self) -> &mut Option<Approval> {
        &mut self.approval
    }
}

impl HasOnUnknown for Stateful {
    fn on_unknown(&mut self) -> &mut Option<OnUnknown> {
        &mut self.on_unknown
    }
}

impl Grammar for Stateful {
    const DOCS: &'static str = "llm_do::tool#methods";
    const KEYS: &'static [Key<Self>] = &[
        Key::new("name = \"..\"", |args, value| value.fill(&mut args.name)),
        approval::key(),
        on_unknown::key(),
        Key::new("description = \"..\"", |args, value| value.fill(&mut args.description)),
    ];
}
