//! Mutations of valid arguments, which may make them invalid.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// A change of one part of a value.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    part: Index,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// Replaces the part.
    Replace(Value),
    /// Removes an entry or the last element.
    Drop(Index),
    /// Adds an entry or an element.
    Add(&'static str, Value),
    /// Repeats the last element.
    Grow,
    /// Replaces the part by an empty value of its type.
    Empty,
    /// Writes an integer as a float: `1` as `1.0`.
    AsFloat,
    /// Adds an integer to a number.
    Shift(i64),
    /// Appends to a string.
    Append(&'static str),
}

pub(crate) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let mutation = (any::<Index>(), change()).prop_map(|(part, change)| Mutation { part, change });
    prop::collection::vec(mutation, 1..4)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => select(leaves()).prop_map(Change::Replace),
        1 => any::<Index>().prop_map(Change::Drop),
        2 => (select(KEYS), select(leaves())).prop_map(|(key, value)| Change::Add(key, value)),
        1 => Just(Change::Grow),
        1 => Just(Change::Empty),
        2 => Just(Change::AsFloat),
        1 => select(vec![1, -1, 7, 1 << 20, i64::MAX]).prop_map(Change::Shift),
        1 => select(TEXTS).prop_map(Change::Append),
    ]
}

const KEYS: &[&str] = &["", "x", "1", "-1", "Red", "kind", "Ok", "secs", "nanos", "type", "value"];

const TEXTS: &[&str] = &[
    "",
    "a",
    "ä\u{0}\u{1f600}",
    " ",
    "1",
    "true",
    "null",
    "Red",
    "wait",
    "::1",
    "fe80::1%eth0",
    "127.0.0.1",
    "127.0.0.01",
    "127.0.0.1:80",
    "67e55044-10b1-426f-9247-bb680e5fe0c8",
    "67E5504410B1426F9247BB680E5FE0C8",
    "urn:uuid:67e55044-10b1-426f-9247-bb680e5fe0c8",
    "https://example.org/a?b#c",
    "https://",
    "/relative",
    "2024-02-29",
    "2023-02-29",
    "2024-02-29T12:00:00Z",
    "2024-02-29t12:00:00z",
    "2024-02-29 12:00:00+00:00",
    "2024-12-31T23:59:60Z",
    "2024-02-29T12:00:00",
    "2024-02-29T12:00:00.123456789123",
    "2024-02-29T12:00:00+25:00",
    "12:00:00",
    "12:00:00.5",
    "12:00",
    "24:00:00",
    "23:59:60",
    "PT1H",
    "-PT1H",
    "PT1.5S",
    "P1D",
    "P1Y2M",
    "P1W",
    "PT",
    "1 hour",
];

fn leaves() -> Vec<Value> {
    let mut leaves = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(1.0),
        json!(-0.0),
        json!(2.0),
        json!(0.5),
        json!(255),
        json!(256),
        json!(65_536.0),
        json!(i32::MAX),
        json!(i64::from(i32::MAX) + 1),
        json!(i64::from(i32::MIN) - 1),
        json!(u32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(9_007_199_254_740_993_i64),
        json!(1e19),
        json!(1e30),
        json!(-1e30),
        json!(1e300),
        json!(5e-324),
        json!([]),
        json!({}),
        json!([1, 2]),
        json!([1.0, "a"]),
        json!([[]]),
        json!({ "x": 1, "y": 2.0 }),
        json!({ "kind": "move", "by": 1.0 }),
        json!({ "type": "Text", "content": "a" }),
        json!({ "number": 3.0 }),
        json!({ "at": { "x": 1, "y": 2 } }),
    ];
    leaves.extend(TEXTS.iter().map(|text| json!(text)));
    leaves
}

impl Mutation {
    /// Changes a part of `value`; does nothing if the change does not apply to the type of the part.
    pub(crate) fn apply(&self, value: &mut Value) {
        let pointers = pointers(value, String::new());
        let pointer = self.part.get(&pointers);
        self.change.apply(value.pointer_mut(pointer).expect("a pointer into the value"));
    }
}

/// Returns the JSON pointers to all parts of a value.
fn pointers(value: &Value, here: String) -> Vec<String> {
    let mut found = match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| pointers(value, format!("{here}/{}", key.replace('~', "~0").replace('/', "~1"))))
            .collect(),
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(index, item)| pointers(item, format!("{here}/{index}"))).collect()
        }
        _ => Vec::new(),
    };
    found.push(here);
    found
}

impl Change {
    fn apply(&self, value: &mut Value) {
        match (self, value) {
            (Self::Replace(other), value) => *value = other.clone(),
            (Self::Drop(index), Value::Object(fields)) if !fields.is_empty() => {
                let key = fields.keys().nth(index.index(fields.len())).cloned();
                fields.shift_remove(&key.expect("an index below the number of keys"));
            }
            (Self::Drop(_), Value::Array(items)) => _ = items.pop(),
            (Self::Add(key, other), Value::Object(fields)) => _ = fields.insert((*key).to_owned(), other.clone()),
            (Self::Add(_, other), Value::Array(items)) => items.push(other.clone()),
            (Self::Grow, Value::Array(items)) => items.extend(items.last().cloned()),
            (Self::Empty, Value::Object(fields)) => fields.clear(),
            (Self::Empty, Value::Array(items)) => items.clear(),
            (Self::Empty, Value::String(text)) => text.clear(),
            (Self::Empty, number @ Value::Number(_)) => *number = json!(0),
            (Self::AsFloat, number @ Value::Number(_)) => *number = json!(number.as_f64()),
            (Self::Shift(by), number @ Value::Number(_)) => {
                *number = number.as_i64().map_or(json!(0.5), |whole| json!(whole.saturating_add(*by)));
            }
            (Self::Append(more), Value::String(text)) => text.push_str(more),
            _ => {}
        }
    }
}
