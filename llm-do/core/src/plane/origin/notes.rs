//! What one call notes of the results that it gets.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::{ReadResult, RootCall};
use crate::base::clip::clip;
use crate::base::mutex::LazyMutex;
use crate::observe::event::{Label, ValueOrigin};

/// The most results of one caller that are kept; the oldest are dropped.
const MAX_READINGS: usize = 1_000;
/// The most bytes of one result that are kept.
const MAX_RESULT: usize = 256 << 10;
/// The most bytes of the results of one caller that are kept.
const MAX_BYTES: usize = 4 << 20;
/// The size that a value counts for besides its text.
const VALUE_SIZE: usize = 8;
/// The most calls that are listed as those through which a result came.
const MAX_THROUGH: usize = 20;

/// Something that a call knows: the result of a call, an earlier message of its conversation, or an argument of its own.
pub(crate) struct Reading {
    from: ReadFrom,
    label: Label,
    content: Value,
    bytes: usize,
}

/// What a reading is.
#[derive(Debug)]
enum ReadFrom {
    Result(ReadResult),
    Message,
    /// An argument, which came from there.
    Argument(ValueOrigin),
}

impl Reading {
    /// Creates the reading of a result.
    pub(crate) fn of_result(result: ReadResult, content: &Value) -> Self {
        let label = result.label;
        Self::new(ReadFrom::Result(result), label, content)
    }

    /// Creates the reading of a value of the call's own arguments, which came from `origin`.
    pub(crate) fn of_argument(value: &Value, origin: ValueOrigin, label: Label) -> Self {
        Self::new(ReadFrom::Argument(origin), label, value)
    }

    /// Creates the reading of an earlier message.
    pub(crate) fn of_message(text: &str, label: Label) -> Self {
        Self::new(ReadFrom::Message, label, &Value::from(clip(text, MAX_RESULT)))
    }

    fn new(from: ReadFrom, label: Label, content: &Value) -> Self {
        let mut left = MAX_RESULT;
        let content = copied(content, &mut left);
        Self { from, label, content, bytes: MAX_RESULT - left }
    }

    /// Returns the call that returned it, if it is a result.
    pub(crate) fn result(&self) -> Option<&ReadResult> {
        match &self.from {
            ReadFrom::Result(result) => Some(result),
            ReadFrom::Message | ReadFrom::Argument(_) => None,
        }
    }

    /// Returns where an argument came from, if it is one.
    pub(super) fn argument(&self) -> Option<&ValueOrigin> {
        match &self.from {
            ReadFrom::Argument(origin) => Some(origin),
            ReadFrom::Result(_) | ReadFrom::Message => None,
        }
    }

    /// Returns whose text it may carry.
    pub(super) fn label(&self) -> Label {
        self.label
    }

    pub(super) fn content(&self) -> &Value {
        &self.content
    }
}

impl fmt::Debug for Reading {
    /// Without the content, which may be long and secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("from", &self.from).finish_non_exhaustive()
    }
}

/// What a call notes for decisions about the calls that it makes.
#[derive(Debug, Default)]
pub(crate) struct OriginNotes {
    read: LazyMutex<Readings>,
    /// The calls whose results this one had read when it was recorded, if its record was replayed.
    replayed: OnceLock<Vec<Arc<str>>>,
    /// Set in the frame of the user.
    root: OnceLock<RootCall>,
    /// The user's answers: in the frame of the user.
    answers: LazyMutex<Vec<Arc<str>>>,
    /// The join of what the call has read, and of its arguments.
    label: LazyMutex<Label>,
    /// Set if the call runs code that a model wrote.
    is_model_code: OnceLock<()>,
}

#[derive(Debug, Default)]
struct Readings {
    kept: VecDeque<Arc<Reading>>,
    bytes: usize,
}

impl Readings {
    fn push(&mut self, reading: Arc<Reading>) {
        self.bytes += reading.bytes;
        self.kept.push_back(reading);
        while self.kept.len() > MAX_READINGS || (self.bytes > MAX_BYTES && self.kept.len() > 1) {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.bytes -= oldest.bytes;
        }
    }
}

impl OriginNotes {
    /// Notes that the call has read something.
    pub(crate) fn add(&self, reading: impl Into<Arc<Reading>>) {
        let reading = reading.into();
        self.join(reading.label);
        self.read.get_or_default().push(reading);
    }

    /// Notes that the call has a value of a label, besides what it reads.
    pub(crate) fn join(&self, label: Label) {
        if label != Label::Trusted {
            let mut own = self.label.get_or_default();
            *own = own.join(label);
        }
    }

    /// Returns the join of what the call has read so far, and of its arguments.
    pub(crate) fn label(&self) -> Label {
        self.label.get().map(|label| *label).unwrap_or_default()
    }

    /// Notes an answer of the user.
    pub(crate) fn add_answer(&self, answer: &str) {
        self.answers.get_or_default().push(answer.into());
    }

    /// Sets the root call of the run, once.
    pub(crate) fn set_root(&self, root: RootCall) {
        drop(self.root.set(root));
    }

    /// Notes that what the call does is made of a model's text, such as code that it wrote.
    pub(crate) fn set_model_code(&self) {
        let _ = self.is_model_code.set(());
    }

    pub(crate) fn is_model_code(&self) -> bool {
        self.is_model_code.get().is_some()
    }

    /// Sets the calls whose results the call had read when it was recorded.
    pub(crate) fn set_replayed(&self, through: Vec<Arc<str>>) {
        drop(self.replayed.set(through));
    }

    pub(crate) fn root_call(&self) -> Option<RootCall> {
        self.root.get().cloned()
    }

    pub(crate) fn answers(&self) -> Vec<Arc<str>> {
        self.answers.get().map(|answers| answers.clone()).unwrap_or_default()
    }

    /// Returns what the call has read, oldest first.
    pub(crate) fn readings(&self) -> Vec<Arc<Reading>> {
        self.read.get().map(|read| read.kept.iter().map(Arc::clone).collect()).unwrap_or_default()
    }

    /// Returns the calls whose results the call has read, also inside the calls that it made.
    ///
    /// Sorted, since concurrent calls end in another order in each process.
    pub(crate) fn through(&self) -> Vec<Arc<str>> {
        let readings = self.readings();
        let results = readings.iter().filter_map(|reading| reading.result());
        let summaries = results.flat_map(|result| std::iter::once(&result.summary).chain(&*result.through));
        let all: BTreeSet<_> = summaries.chain(self.replayed.get().into_iter().flatten()).collect();
        all.into_iter().take(MAX_THROUGH).map(Arc::clone).collect()
    }
}

/// Copies a value until `left` bytes are used up: what is beyond is left out.
fn copied(value: &Value, left: &mut usize) -> Value {
    *left = left.saturating_sub(VALUE_SIZE);
    match value {
        Value::String(text) => {
            let kept = clip(text, *left);
            *left -= kept.len();
            kept.into()
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *left == 0 {
                    break;
                }
                kept.push(copied(item, left));
            }
            kept.into()
        }
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (name, field) in fields {
                if *left == 0 {
                    break;
                }
                *left = left.saturating_sub(name.len());
                kept.insert(name.clone(), copied(field, left));
            }
            kept.into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Label, MAX_BYTES, MAX_READINGS, MAX_RESULT, OriginNotes, ReadResult, Reading, copied};

    fn result(summary: &str, through: &[&str]) -> ReadResult {
        let through = through.iter().map(|text| (*text).into()).collect();
        ReadResult { call: Some(1), tool: "read".into(), summary: summary.into(), through, label: Label::Trusted }
    }

    #[test]
    fn a_long_result_is_cut_at_its_bound() {
        let mut left = MAX_RESULT;
        let kept = copied(&json!(["a".repeat(2 * MAX_RESULT), "b"]), &mut left);
        assert_eq!(left, 0);
        assert_eq!(kept[0].as_str().map(str::len), Some(MAX_RESULT - 16), "each value counts for 8 bytes");
        assert_eq!(kept.as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn the_oldest_readings_are_dropped() {
        let notes = OriginNotes::default();
        for number in 0..=MAX_READINGS {
            notes.add(Reading::of_result(result(&number.to_string(), &[]), &Value::Null));
        }
        let kept = notes.readings();
        assert_eq!(kept.len(), MAX_READINGS);
        assert_eq!(kept[0].result().map(|result| &*result.summary), Some("1"));

        let notes = OriginNotes::default();
        for _ in 0..2 * MAX_BYTES / MAX_RESULT {
            notes.add(Reading::of_message(&"a".repeat(MAX_RESULT), Label::Bounded));
        }
        assert_eq!(notes.readings().len(), MAX_BYTES / MAX_RESULT);
        assert_eq!(notes.label(), Label::Bounded);
        notes.add(Reading::of_message("a", Label::Untrusted));
        (0..MAX_READINGS).for_each(|_| notes.add(Reading::of_message("b", Label::Trusted)));
        assert!(notes.readings().iter().all(|reading| reading.label() == Label::Trusted));
        assert_eq!(notes.label(), Label::Untrusted, "also of what was dropped");
    }

    #[test]
    fn a_result_came_through_all_that_its_call_has_read() {
        let notes = OriginNotes::default();
        notes.set_replayed(vec!["first()".into()]);
        notes.add(Reading::of_result(result("second()", &["third()", "first()"]), &Value::Null));
        notes.add(Reading::of_message("a text", Label::Trusted));
        let through: Vec<_> = notes.through().iter().map(ToString::to_string).collect();
        assert_eq!(through, ["first()", "second()", "third()"]);
    }
}
