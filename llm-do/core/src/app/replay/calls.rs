//! The calls in the records of a run, with what was decided about them.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::observe::event::ApprovalScope;
use crate::observe::journal::{REVIEW, Record, StepKind, called};
use crate::plane::approval::Approval;

/// A call in the records of a run.
#[derive(Debug)]
pub(crate) struct DecidedCall<'r> {
    pub(crate) name: &'r Arc<str>,
    /// The name of the calling item; of a root call, its own name.
    pub(crate) caller: String,
    pub(crate) is_root: bool,
    pub(crate) input: &'r Value,
    /// The first decision about the call that is recorded: of a person, a reviewer or a rule that blocks.
    pub(crate) approval: Option<Approval>,
}

impl<'r> DecidedCall<'r> {
    fn new(record: &'r Record) -> Self {
        let is_root = record.parent.is_empty();
        let caller = if is_root { record.name.to_string() } else { called(&record.parent) };
        let (name, input) = (&record.name, &*record.input);
        Self { name, caller, is_root, input, approval: None }
    }

    /// Returns whether its approval holds for later equal calls.
    pub(crate) fn is_remembered(&self) -> bool {
        self.approval.as_ref().is_some_and(|approval| approval.is_approved() && approval.scope != ApprovalScope::Call)
    }
}

/// Returns the calls of a run that rules decide about, in the order in which they are recorded: nested ones, and a root call if
/// a decision about it is recorded.
///
/// Calls of a review are not among them, nor are server-side tools, whose options are not recorded.
pub(crate) fn decided_calls(records: &[Record]) -> Vec<DecidedCall<'_>> {
    let (mut calls, mut places) = (Vec::new(), HashMap::new());
    for record in records.iter().filter(|record| !record.key.split('/').any(|part| part == REVIEW)) {
        let key = record.call();
        let part = record.key.get(key.len()..).unwrap_or_default();
        let is_call = matches!(record.kind, StepKind::Tool | StepKind::Call) && !record.parent.is_empty();
        // Later decisions are about other arguments, or about a second attempt.
        let is_decision = record.kind == StepKind::Approval && part == "/approval";
        if !is_call && !is_decision {
            continue;
        }
        let place = *places.entry(key).or_insert_with(|| {
            calls.push(DecidedCall::new(record));
            calls.len() - 1
        });
        if is_decision {
            calls[place].approval = Approval::deserialize(&record.value).ok();
        }
    }
    calls
}
