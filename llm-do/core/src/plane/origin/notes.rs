//! What one call notes of the results that it gets.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::bounded::{Budget, SchemaPart, add_choices};
use super::search::{add_names, texts_of};
use super::{KnownIds, ReadResult, RootCall, WrittenCode};
use crate::base::clip::clip;
use crate::base::mutex::LazyMutex;
use crate::observe::event::{Labels, ValueOrigin};

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
    labels: Labels,
    content: Value,
    bytes: usize,
    /// Whether a part of the content is left out.
    is_cut: bool,
    /// The texts that are choices of the result's schema, and the names of fields that it does not have.
    choices: Vec<String>,
    names: Vec<String>,
    ids: Option<Box<KnownIds>>,
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
        let labels = result.labels();
        Self::new(ReadFrom::Result(result), labels, content)
    }

    /// Creates the reading of a value of the call's own arguments, which came from `origin`.
    pub(crate) fn of_argument(value: &Value, origin: ValueOrigin, labels: Labels) -> Self {
        Self::new(ReadFrom::Argument(origin), labels, value)
    }

    /// Creates the reading of an earlier message.
    pub(crate) fn of_message(text: &str, labels: Labels) -> Self {
        Self::new(ReadFrom::Message, labels, &Value::from(text))
    }

    fn new(from: ReadFrom, labels: Labels, content: &Value) -> Self {
        let mut copy = BoundedCopy { left: MAX_RESULT, is_cut: false };
        let content = copy.of(content);
        let bytes = MAX_RESULT - copy.left;
        Self { from, labels, content, bytes, is_cut: copy.is_cut, choices: Vec::new(), names: Vec::new(), ids: None }
    }

    /// Adds which texts the schema of the content bounds, and the names of fields that only the content has.
    #[must_use]
    pub(crate) fn with_schema(mut self, schema: Option<&Value>) -> Self {
        let budget = Budget::new();
        let schema = schema.map(|schema| SchemaPart::of(schema, &budget));
        if let Some(schema) = schema {
            add_choices(&self.content, schema, &mut self.choices);
        }
        let mut names = Vec::new();
        add_names(&self.content, schema, "", &mut names);
        self.names = names.into_iter().map(|(_, name)| name.to_owned()).collect();
        self
    }

    /// Adds where the result has ids.
    #[must_use]
    pub(crate) fn with_ids(self, ids: Option<KnownIds>) -> Self {
        Self { ids: ids.map(Box::new), ..self }
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

    /// Returns whose text it may carry, and whether it is private.
    pub(crate) fn labels(&self) -> Labels {
        self.labels
    }

    /// Returns whether a text in it carries nothing else: it is a choice, or an id for a tool of these toolsets.
    pub(super) fn bounds(&self, text: &str, toolsets: &[Arc<str>]) -> bool {
        let is_id = || self.ids.as_ref().is_some_and(|ids| ids.know(&self.content, text, toolsets));
        self.choices.iter().any(|choice| choice == text) || is_id()
    }

    pub(super) fn content(&self) -> &Value {
        &self.content
    }

    /// Returns the names of fields that may be text.
    pub(super) fn names(&self) -> &[String] {
        &self.names
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
    /// What guards of the call have read, which only finds where its values came from.
    read_by_guards: LazyMutex<Readings>,
    /// The calls whose results this one had read when it was recorded, if its record was replayed.
    replayed: OnceLock<Vec<Arc<str>>>,
    /// Set in the frame of the user.
    root: OnceLock<RootCall>,
    /// The user's answers: in the frame of the user.
    answers: LazyMutex<Vec<Arc<str>>>,
    /// The texts that code of the call has endorsed.
    endorsed: LazyMutex<Vec<Arc<str>>>,
    /// The join of what the call has read, and of its arguments.
    labels: LazyMutex<Labels>,
    /// The labels of its result, if it returned less than it has read.
    returned: OnceLock<Labels>,
    /// The code whose calls it makes.
    code: OnceLock<Arc<WrittenCode>>,
}

#[derive(Debug, Default)]
struct Readings {
    kept: VecDeque<Arc<Reading>>,
    bytes: usize,
    /// The join of what is not kept, or not as a whole.
    lost: Labels,
}

impl Readings {
    fn push(&mut self, reading: Arc<Reading>) {
        if reading.is_cut {
            self.lost = self.lost.join(reading.labels);
        }
        self.bytes += reading.bytes;
        self.kept.push_back(reading);
        while self.kept.len() > MAX_READINGS || (self.bytes > MAX_BYTES && self.kept.len() > 1) {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.bytes -= oldest.bytes;
            self.lost = self.lost.join(oldest.labels);
        }
    }
}

/// What code holds in its variables for the code that follows.
#[cfg(feature = "script")]
#[derive(Debug, Default)]
pub(crate) struct HeldReadings {
    readings: Vec<Arc<Reading>>,
    labels: Labels,
    /// The code that ran, with that before it.
    code: Option<Arc<WrittenCode>>,
}

#[cfg(feature = "script")]
impl HeldReadings {
    /// Returns the code that ran.
    pub(crate) fn code(&self) -> Option<&Arc<WrittenCode>> {
        self.code.as_ref()
    }

    /// Adds the labels of what the code has read in an earlier process.
    pub(crate) fn join(&mut self, labels: Labels) {
        self.labels = self.labels.join(labels);
    }
}

impl OriginNotes {
    /// Notes that the call has read something.
    pub(crate) fn add(&self, reading: impl Into<Arc<Reading>>) {
        let reading = reading.into();
        self.join(reading.labels);
        self.read.get_or_default().push(reading);
    }

    /// Notes that a guard of the call has read something, which the call itself does not get.
    pub(crate) fn add_of_guard(&self, reading: Reading) {
        self.read_by_guards.get_or_default().push(Arc::new(reading));
    }

    /// Notes that the call has a value with these labels, besides what it reads.
    pub(crate) fn join(&self, labels: Labels) {
        if !labels.is_default() {
            let mut own = self.labels.get_or_default();
            *own = own.join(labels);
        }
    }

    /// Returns the join of what the call has read so far, and of its arguments.
    pub(crate) fn labels(&self) -> Labels {
        self.labels.get().map(|labels| *labels).unwrap_or_default()
    }

    /// Notes that the call gets values with these labels that cannot be looked up.
    pub(crate) fn lose(&self, labels: Labels) {
        let mut read = self.read.get_or_default();
        read.lost = read.lost.join(labels);
    }

    /// Returns what the call has read, for code that follows.
    #[cfg(feature = "script")]
    pub(crate) fn hold(&self) -> HeldReadings {
        HeldReadings { readings: self.readings(), labels: self.labels(), code: self.code().cloned() }
    }

    /// Notes what earlier code has left in its variables.
    #[cfg(feature = "script")]
    pub(crate) fn take_over(&self, held: &HeldReadings) {
        held.readings.iter().for_each(|reading| self.add(Arc::clone(reading)));
        self.join(held.labels);
    }

    /// Sets the labels of the result of the call, which are at most those of what it has read.
    pub(crate) fn set_returned(&self, labels: Labels) {
        let _ = self.returned.set(labels);
    }

    /// Returns the labels of the result of the call, if it returned less than it has read.
    pub(crate) fn returned(&self) -> Option<Labels> {
        self.returned.get().copied()
    }

    /// Notes an answer of the user.
    pub(crate) fn add_answer(&self, answer: &str) {
        self.answers.get_or_default().push(answer.into());
    }

    /// Notes that the texts and numbers of a value may steer calls.
    pub(crate) fn endorse(&self, value: &Value) {
        self.endorsed.get_or_default().extend(texts_of(value));
    }

    /// Returns the texts and numbers that may steer calls.
    pub(crate) fn endorsed(&self) -> Vec<Arc<str>> {
        self.endorsed.get().map(|endorsed| endorsed.clone()).unwrap_or_default()
    }

    /// Sets the root call of the run, once.
    pub(crate) fn set_root(&self, root: RootCall) {
        drop(self.root.set(root));
    }

    /// Notes that the call makes the calls of this code, once.
    pub(crate) fn set_code(&self, code: WrittenCode) {
        drop(self.code.set(Arc::new(code)));
    }

    pub(crate) fn code(&self) -> Option<&Arc<WrittenCode>> {
        self.code.get()
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
        readings_of(&self.read)
    }

    /// Returns what guards of the call have read, oldest first.
    pub(crate) fn readings_of_guards(&self) -> Vec<Arc<Reading>> {
        readings_of(&self.read_by_guards)
    }

    /// Returns the join of what was read and cannot be looked up any more.
    pub(crate) fn lost(&self) -> Labels {
        self.read.get().map(|read| read.lost).unwrap_or_default()
    }

    /// Returns the join of what guards have read and cannot be looked up any more.
    pub(crate) fn lost_of_guards(&self) -> Labels {
        self.read_by_guards.get().map(|read| read.lost).unwrap_or_default()
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

fn readings_of(readings: &LazyMutex<Readings>) -> Vec<Arc<Reading>> {
    readings.get().map(|read| read.kept.iter().map(Arc::clone).collect()).unwrap_or_default()
}

/// Copies a value until some bytes are used up: what is beyond is left out.
struct BoundedCopy {
    left: usize,
    is_cut: bool,
}

impl BoundedCopy {
    fn of(&mut self, value: &Value) -> Value {
        self.take(VALUE_SIZE);
        match value {
            Value::String(text) => {
                let kept = clip(text, self.left);
                self.is_cut |= kept.len() < text.len();
                self.left -= kept.len();
                kept.into()
            }
            Value::Array(items) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.is_full() {
                        break;
                    }
                    kept.push(self.of(item));
                }
                kept.into()
            }
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (name, field) in fields {
                    if self.is_full() {
                        break;
                    }
                    self.take(name.len());
                    kept.insert(name.clone(), self.of(field));
                }
                kept.into()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn take(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Returns whether nothing more is copied.
    fn is_full(&mut self) -> bool {
        self.is_cut |= self.left == 0;
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Labels, MAX_BYTES, MAX_READINGS, MAX_RESULT, OriginNotes, ReadResult, Reading};
    use crate::observe::event::{Label, ValueOrigin};

    fn labels(integrity: Label) -> Labels {
        Labels::public(integrity)
    }

    fn result(summary: &str, through: &[&str]) -> ReadResult {
        let through = through.iter().map(|text| (*text).into()).collect();
        ReadResult::new(Some(1), "read".into(), summary.into(), through)
    }

    #[test]
    fn a_long_result_is_cut_at_its_bound() {
        let notes = OriginNotes::default();
        notes.add(Reading::of_argument(&json!(["a", "b"]), ValueOrigin::Unknown, Labels::unknown()));
        assert_eq!(notes.lost(), Labels::default());
        let long = json!(["a".repeat(2 * MAX_RESULT), "b"]);
        notes.add(Reading::of_argument(&long, ValueOrigin::Unknown, labels(Label::Untrusted)));
        let kept = notes.readings()[1].content().clone();
        assert_eq!(kept[0].as_str().map(str::len), Some(MAX_RESULT - 16), "each value counts for 8 bytes");
        assert_eq!(kept.as_array().map(Vec::len), Some(1));
        assert_eq!(notes.lost(), labels(Label::Untrusted));
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
            notes.add(Reading::of_message(&"a".repeat(MAX_RESULT), labels(Label::Bounded)));
        }
        assert_eq!(notes.readings().len(), MAX_BYTES / MAX_RESULT);
        assert_eq!(notes.labels(), labels(Label::Bounded));
        notes.add(Reading::of_message("a", labels(Label::Untrusted)));
        (0..MAX_READINGS).for_each(|_| notes.add(Reading::of_message("b", Labels::default())));
        assert!(notes.readings().iter().all(|reading| reading.labels().is_default()));
        assert_eq!(
            (notes.labels(), notes.lost()),
            (labels(Label::Untrusted), labels(Label::Untrusted)),
            "also of what was dropped"
        );
    }

    #[test]
    fn a_result_came_through_all_that_its_call_has_read() {
        let notes = OriginNotes::default();
        notes.set_replayed(vec!["first()".into()]);
        notes.add(Reading::of_result(result("second()", &["third()", "first()"]), &Value::Null));
        notes.add(Reading::of_message("a text", Labels::default()));
        let through: Vec<_> = notes.through().iter().map(ToString::to_string).collect();
        assert_eq!(through, ["first()", "second()", "third()"]);
    }
}
