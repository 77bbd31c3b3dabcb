//! The file of a learned decision.

mod read;
mod write;

use std::collections::BTreeMap;
use std::hash::Hasher;

use serde::Deserialize;
use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::evidence::Evidence;

/// The most bytes of a file.
pub const MAX_FILE: usize = 5_000_000;

/// The bytes for features and weights.
pub(crate) const ROOM: usize = 4_700_000;

const FORMAT: &str = "llm-do learned 1";

/// The begin of the line with the digest, which is the digest of all lines before.
const DIGEST: &str = "\n  \"digest\": \"";

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    name: String,
    signature: Value,
    /// For people.
    #[serde(rename = "about")]
    _about: String,
    evidence: Evidence,
    threshold: f64,
    constant: Value,
    parts: Vec<PartOfFile>,
    #[serde(rename = "digest")]
    _digest: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartOfFile {
    path: Vec<String>,
    values: Vec<Value>,
    /// The value that stands for a missing part.
    missing: Option<usize>,
    cases: u32,
    sharpness: f64,
    step: f32,
    bias: Row,
    facts: BTreeMap<Box<str>, Row>,
    fields: BTreeMap<String, FieldOfFile>,
}

/// The number of cases that have the feature, then labels and weights in turn.
type Row = Vec<i32>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldOfFile {
    required: bool,
    values: ValuesOfFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum ValuesOfFile {
    Text { unknown_at_most: f64, words: BTreeMap<Box<str>, Row>, runs: BTreeMap<Box<str>, Row> },
    Choice {},
    Number { least: f64, most: f64, edges: Vec<f64>, weights: Vec<Row> },
    LeftOut {},
}

/// Returns the digest of a text, in which line ends do not matter.
fn digest(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    text.split('\r').for_each(|part| hasher.write(part.as_bytes()));
    format!("{:032x}", hasher.finish128().as_u128())
}
