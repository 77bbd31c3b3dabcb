//! Whether calls of workers need approval.

use serde::{Deserialize, Serialize};

use crate::plane::approval::Rule;

/// Whether calls of workers need approval; unset fields leave it to the next rule.
///
/// As JSON: `{"calls": true, "attachments": null}`; both fields are optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
pub struct WorkerRule {
    calls: Option<bool>,
    attachments: Option<bool>,
}

impl WorkerRule {
    /// Creates a rule with all fields unset.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether every call needs approval. Default: unset.
    pub fn calls(mut self, ask: bool) -> Self {
        self.calls = Some(ask);
        self
    }

    /// Sets whether a call with files needs approval. Default: unset.
    ///
    /// Files are those of each decoded [`Prompt`](crate::declare::prompt::Prompt), [`Attached`](crate::declare::prompt::Attached) and
    /// [`Attachment`](llm_do_providers::Attachment), at any depth of the arguments and under any name. A worker with a JSON schema as its
    /// input gets no files, since it has no argument of these types.
    ///
    /// Files that the body of a worker attaches need no approval.
    pub fn attachments(mut self, ask: bool) -> Self {
        self.attachments = Some(ask);
        self
    }

    /// Fills the unset fields from `general`.
    pub(in super::super) fn or(self, general: Self) -> Self {
        Self { calls: self.calls.or(general.calls), attachments: self.attachments.or(general.attachments) }
    }

    pub(in super::super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the rule for a call with or without files; `None` if the fields for it are unset.
    pub(in super::super) fn rule(self, has_files: bool) -> Option<Rule> {
        let asks = [self.calls, self.attachments.filter(|_| has_files)];
        asks.into_iter().flatten().reduce(|one, other| one || other).map(Rule::asking)
    }
}
