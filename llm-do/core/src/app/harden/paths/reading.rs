//! Reads runs from journals.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::super::recorded::{By, JournalReader};
use super::{PastCall, PastRun, Runs};
use crate::observe::journal::{Record, StepKind, called, is_in_chat};
use crate::plane::approval::Approval;
use crate::plane::dispatch::{recorded_outcome, recorded_outcome_only};

/// The state of reading one journal.
#[derive(Default)]
pub(super) struct JournalRuns {
    /// The inputs that an approver edited, by the keys of their calls.
    edits: HashMap<Arc<str>, Value>,
    /// The unfinished calls of the worker, by their keys.
    open: HashMap<Arc<str>, OpenRun>,
    reading: JournalReader,
}

/// An unfinished call of the worker.
#[derive(Default)]
struct OpenRun {
    /// Its calls, each with its place.
    calls: Vec<(u32, PastCall)>,
    /// The place of the first answer of its model: what was called before, a hybrid has called.
    first_answer: Option<u32>,
    /// Why its course depends on more than its input and the results of its calls.
    left_out: Option<&'static str>,
}

impl Runs {
    pub(super) fn add_record(&mut self, record: Record, journal: &mut JournalRuns) {
        journal.reading.add(&record);
        let is_end = matches!(record.kind, StepKind::Call | StepKind::Result);
        if called(&record.parent) == *self.worker {
            journal.open.entry(Arc::clone(&record.parent)).or_default().add(&record);
        }
        if record.name == self.worker {
            match record.kind {
                StepKind::Approval => journal.add_edit(&record),
                _ if is_end => self.end(record, journal),
                _ => {}
            }
        } else if is_end {
            journal.reading.skip(&record);
            self.others.insert(record.name);
        }
    }

    /// Adds the run that a record ends, if its model answered.
    fn end(&mut self, record: Record, journal: &mut JournalRuns) {
        let open = journal.open.remove(record.call()).unwrap_or_default();
        let input = journal.edits.remove(record.call());
        if journal.reading.end(&record, &mut self.usage) == By::Code {
            return;
        }
        let is_continued = record.is_in_thread() || record.kind == StepKind::Result && is_in_chat(&record.key);
        if let Some(reason) = open.left_out.or(is_continued.then_some("they continue a conversation")) {
            return self.leave_out(reason);
        }
        let input = input.unwrap_or_else(|| Arc::unwrap_or_clone(record.input));
        // Without an outcome, its model failed.
        let Some(outcome) = recorded_outcome(&record.name, record.value) else { return };
        self.insert(PastRun { input, calls: open.into_calls(), outcome });
    }
}

impl JournalRuns {
    fn add_edit(&mut self, record: &Record) {
        let approval = Approval::deserialize(&record.value).ok();
        if let Some(input) = approval.as_ref().and_then(Approval::edited_arguments) {
            self.edits.insert(record.call().into(), input.clone());
        }
    }
}

impl OpenRun {
    /// Adds a step of the call.
    fn add(&mut self, record: &Record) {
        match record.kind {
            StepKind::Model => _ = self.first_answer.get_or_insert(record.place),
            StepKind::Message => self.left_out = Some("messages joined them"),
            StepKind::Approval if is_denial(record) => self.left_out = Some("a call in them was denied"),
            StepKind::Tool | StepKind::Call if record.is_in_background() => {
                self.left_out = Some("they made calls in the background");
            }
            StepKind::Tool | StepKind::Call => self.calls.extend(call_of(record).map(|call| (record.place, call))),
            _ => {}
        }
    }

    /// Returns the calls of its model, in order.
    fn into_calls(mut self) -> Vec<PastCall> {
        let first = self.first_answer.unwrap_or_default();
        self.calls.retain(|(place, _)| *place >= first);
        self.calls.sort_by_key(|(place, _)| *place);
        self.calls.into_iter().map(|(_, call)| call).collect()
    }
}

fn call_of(record: &Record) -> Option<PastCall> {
    Some(PastCall {
        name: Arc::clone(&record.name),
        arguments: Arc::clone(&record.input),
        recorded: recorded_outcome_only(record.value.clone())?,
        overlapped: record.overlapped,
    })
}

/// Returns whether a record is the decision that a call may not run.
fn is_denial(record: &Record) -> bool {
    let approval = Approval::deserialize(&record.value).ok();
    approval.is_some_and(|approval| !approval.is_approved() && approval.result().is_none())
}
