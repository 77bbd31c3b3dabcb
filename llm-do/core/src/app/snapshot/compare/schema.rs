//! Compares two schemas: whether one accepts all values of the other, and the places where it does not.
//!
//! The comparison is conservative: unless it can show that all values are accepted, a change is a difference.

use llm_do_worker_file::definition;
use serde_json::{Map, Value};

use super::{combined, keywords};

/// The maximum number of schemas that one comparison visits, so that it ends for schemas with many mutual references.
const MAX_STEPS: usize = 10_000;

/// The subject of the schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// The given values are those of a typed call; the accepting schema is the server's.
    Arguments,
    /// The given values are those of the server; the accepting schema is the snapshot's.
    Result,
}

/// Returns the differences by which `accepting` refuses values of `given`, and the other changes.
pub(super) fn differences(direction: Direction, given: &Value, accepting: &Value) -> (Vec<String>, Vec<String>) {
    let definitions = |root: &Value| ["$defs", "definitions"].map(|keyword| root.get(keyword).cloned());
    let mut walk = Walk {
        direction,
        have_same_definitions: definitions(given) == definitions(accepting),
        roots: (given, accepting),
        open: Vec::new(),
        is_any: false,
        steps: 0,
        errors: Vec::new(),
        notes: Vec::new(),
    };
    if given != accepting {
        walk.compare(&Place::root(direction), given, accepting);
    }
    (walk.errors, walk.notes)
}

/// A comparison in progress.
pub(super) struct Walk<'a> {
    pub(super) direction: Direction,
    /// The documents in which references are resolved.
    pub(super) roots: (&'a Value, &'a Value),
    have_same_definitions: bool,
    /// The pairs of schemas that are being compared; a nested equal pair adds nothing.
    open: Vec<(&'a Value, &'a Value)>,
    /// Whether the given values have the type of any JSON value, so that an object may have undeclared fields.
    pub(super) is_any: bool,
    steps: usize,
    errors: Vec<String>,
    notes: Vec<String>,
}

/// The place of a value, as shown to the user.
#[derive(Clone, Debug)]
pub(super) struct Place {
    what: &'static str,
    path: String,
}

impl Place {
    fn root(direction: Direction) -> Self {
        let what = if direction == Direction::Arguments { "argument" } else { "field" };
        Self { what, path: String::new() }
    }

    pub(super) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    pub(super) fn field(&self, name: &str) -> Self {
        let dot = if self.is_root() { "" } else { "." };
        Self { path: format!("{}{dot}{name}", self.path), ..*self }
    }

    pub(super) fn items(&self) -> Self {
        Self { path: format!("{}[]", self.path), ..*self }
    }

    /// Returns the place as text: `` the argument `labels[]` ``.
    pub(super) fn words(&self) -> String {
        match (self.is_root(), self.what) {
            (true, "argument") => "the arguments".to_owned(),
            (true, _) => "the result".to_owned(),
            (false, "field") => format!("the field `{}` of the result", self.path),
            (false, what) => format!("the {what} `{}`", self.path),
        }
    }
}

impl<'a> Walk<'a> {
    /// Adds a difference that breaks calls.
    pub(super) fn error(&mut self, place: &Place, difference: &str) {
        let error = format!("{}{difference}", place.words());
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    pub(super) fn note(&mut self, place: &Place, difference: &str) {
        let note = format!("{}{difference}", place.words());
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the two values in the order snapshot, server.
    pub(super) fn in_time<T>(&self, given: T, accepting: T) -> (T, T) {
        match self.direction {
            Direction::Arguments => (given, accepting),
            Direction::Result => (accepting, given),
        }
    }

    /// Compares without adding differences; returns whether no difference breaks calls.
    pub(super) fn try_out(&mut self, compare: impl FnOnce(&mut Self)) -> bool {
        let (errors, notes) = (std::mem::take(&mut self.errors), std::mem::take(&mut self.notes));
        compare(self);
        let is_accepted = self.errors.is_empty();
        (self.errors, self.notes) = (errors, notes);
        is_accepted
    }

    /// Compares parts of values that have the type of any JSON value if `is_any`.
    pub(super) fn within(&mut self, is_any: bool, compare: impl FnOnce(&mut Self)) {
        let before = self.is_any;
        self.is_any |= is_any;
        compare(self);
        self.is_any = before;
    }

    /// Returns whether two parts are equal, including the schemas to which they refer.
    pub(super) fn are_same(&self, given: &Value, accepting: &Value) -> bool {
        given == accepting && (self.have_same_definitions || !has_reference(given))
    }

    /// Adds the differences by which `accepting` refuses values of `given`.
    pub(super) fn compare(&mut self, place: &Place, given: &'a Value, accepting: &'a Value) {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return self.error(place, ": the schemas are too complex to be compared");
        }
        let (given, accepting) = (resolved(self.roots.0, given), resolved(self.roots.1, accepting));
        if self.are_same(given, accepting) {
            return;
        }
        let is_open = |(one, other): &(&Value, &Value)| std::ptr::eq(*one, given) && std::ptr::eq(*other, accepting);
        if self.open.iter().any(is_open) {
            return;
        }
        self.open.push((given, accepting));
        match (given, accepting) {
            (_, Value::Bool(true)) | (Value::Bool(false), _) => {}
            (_, Value::Object(accepting)) if !keywords::asserts(accepting) => {}
            (Value::Object(given), Value::Object(accepting)) => self.compare_objects(place, given, accepting),
            (Value::Bool(true), Value::Object(accepting)) => self.compare_objects(place, no_keywords(), accepting),
            _ => self.error(place, ": no value is accepted any longer"),
        }
        self.open.pop();
    }

    fn compare_objects(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        if combined::are_combined(given, accepting) {
            return self.combined(place, given, accepting);
        }
        self.keywords(place, given, accepting);
    }
}

/// Returns the schema that a reference names, through further references.
pub(super) fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    // Bounded, since references may be cyclic.
    for _ in 0..32 {
        let target = schema.get("$ref").and_then(Value::as_str).filter(|_| has_only_reference(schema));
        match target.and_then(|reference| definition(root, reference)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn has_only_reference(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| keywords::assertions(schema).all(|(keyword, _)| keyword == "$ref"))
}

fn has_reference(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key("$ref") || fields.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

fn no_keywords() -> &'static Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    &EMPTY
}
