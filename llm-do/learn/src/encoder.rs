//! Inputs as features.

mod fit;
mod name;

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use crate::leaves::{Leaf, visit};
use crate::linear::Vector;
use crate::table::Table;
use crate::text::Normal;

/// The row of what is the same in all inputs.
pub(crate) const BIAS: u32 = 0;

/// Facts of an input, besides its texts, that are looked at in pairs.
const PAIRED: usize = 12;

/// How inputs become features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoder {
    /// The number of cases that it was learned from.
    pub(crate) cases: u32,
    /// The fields in the order of their paths.
    pub(crate) fields: Vec<Field>,
    /// Facts, and pairs of them.
    pub(crate) facts: Table,
    /// In how many cases the feature of each row occurs; 0 if it is not counted.
    pub(crate) counts: Vec<u32>,
    /// How much each row counts: more, the fewer cases have it.
    rarity: Vec<f32>,
    /// How much a word counts that no case has.
    unknown: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) path: String,
    /// Whether each case has it.
    pub(crate) required: bool,
    pub(crate) values: Values,
}

/// What a field may hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Text { words: Table, runs: Table, unknown_at_most: f64 },
    Choice,
    Number { least: f64, most: f64, edges: Vec<f64>, first_row: u32 },
    LeftOut,
}

/// Why an input is unlike all cases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unlike {
    Field(String),
    Missing(String),
    Value(String, String),
    Words { path: String, unknown: usize, all: usize },
}

/// An input as features.
pub(crate) struct Encoded {
    pub(crate) vector: Vector,
    /// Why it is unlike all cases, if it is.
    pub(crate) unlike: Option<Unlike>,
}

/// An input by its fields.
struct Found<'a> {
    /// The values of each field of the encoder.
    values: Vec<Vec<Leaf<'a>>>,
    unlike: Option<Unlike>,
}

impl Encoder {
    pub(crate) fn new(fields: Vec<Field>, facts: Table) -> Self {
        Self { fields, facts, cases: 0, counts: Vec::new(), rarity: Vec::new(), unknown: 0.0 }
    }

    /// Sets in how many cases the feature of each row occurs.
    pub(crate) fn with_counts(self, cases: u32, counts: Vec<u32>) -> Self {
        let rarity_of = |count: &u32| if *count == 0 { 1.0 } else { rarity(cases, *count) };
        let rarities = counts.iter().map(rarity_of).collect();
        Self { cases, counts, rarity: rarities, unknown: rarity(cases, 0), ..self }
    }

    pub(crate) fn encode(&self, input: &Value) -> Encoded {
        let Found { values, mut unlike } = self.find(input);
        let mut vector = vec![(BIAS, 1.0)];
        let mut facts = Vec::new();
        for (field, leaves) in self.fields.iter().zip(&values) {
            let fault = self.encode_field(field, leaves, &mut vector, &mut facts);
            unlike = unlike.or(fault);
        }
        self.encode_facts(&facts, &mut vector);
        Encoded { vector, unlike }
    }

    /// Returns about how many bytes the features take in a file, without their weights.
    pub(crate) fn bytes(&self) -> usize {
        let tables = self.fields.iter().flat_map(|field| match &field.values {
            Values::Text { words, runs, .. } => vec![words, runs],
            _ => Vec::new(),
        });
        tables.chain([&self.facts]).map(Table::bytes).sum()
    }

    fn find<'a>(&self, input: &'a Value) -> Found<'a> {
        let mut found = Found { values: vec![Vec::new(); self.fields.len()], unlike: None };
        visit(input, &mut |path, leaf| match self.fields.binary_search_by(|field| field.path.as_str().cmp(path)) {
            Ok(at) => found.values[at].push(leaf),
            Err(_) => found.unlike = found.unlike.take().or_else(|| Some(Unlike::Field(path.to_owned()))),
        });
        found
    }

    /// Adds the features of a field, and its facts; returns why it is unlike all cases.
    fn encode_field(
        &self,
        field: &Field,
        leaves: &[Leaf<'_>],
        vector: &mut Vector,
        facts: &mut Vec<String>,
    ) -> Option<Unlike> {
        if leaves.is_empty() {
            facts.push(missing(&field.path));
            return field.required.then(|| Unlike::Missing(field.path.clone()));
        }
        match &field.values {
            Values::Text { words, runs, unknown_at_most } => {
                let (unknown, all) = self.encode_text(leaves, words, runs, vector);
                let is_unlike = unknown as f64 > unknown_at_most * all as f64;
                is_unlike.then(|| Unlike::Words { path: field.path.clone(), unknown, all })
            }
            Values::Choice => self.encode_choices(&field.path, leaves, facts),
            Values::Number { .. } => leaves.iter().fold(None, |unlike, leaf| {
                let fault = encode_number(field, *leaf, vector, facts);
                unlike.or(fault)
            }),
            Values::LeftOut => None,
        }
    }

    /// Adds the features of texts; returns how many of their words are unknown, and how many words there are.
    fn encode_text(&self, leaves: &[Leaf<'_>], words: &Table, runs: &Table, vector: &mut Vector) -> (usize, usize) {
        let (mut rows, mut run_rows) = (Vec::new(), Vec::new());
        let (mut unknown, mut all) = (0, 0);
        for leaf in leaves {
            let Leaf::Text(text) = leaf else { continue };
            let normal = Normal::of(text);
            all += normal.len();
            for word in normal.words() {
                match words.row(word) {
                    Some(row) => rows.push(row),
                    None => unknown += 1,
                }
            }
            rows.extend(normal.pairs().filter_map(|pair| words.row(pair)));
            run_rows.extend(normal.runs().filter_map(|run| runs.row(run)));
        }
        self.add_block(rows, unknown, vector);
        self.add_block(run_rows, 0, vector);
        (unknown, all)
    }

    /// Adds features of one kind, which together have length 1 with the unknown ones.
    fn add_block(&self, mut rows: Vec<u32>, unknown: usize, vector: &mut Vector) {
        rows.sort_unstable();
        let first = vector.len();
        for same in rows.chunk_by(|left, right| left == right) {
            let times = 1.0 + libm::logf(same.len() as f32);
            vector.push((same[0], times * self.rarity[same[0] as usize]));
        }
        let block = &mut vector[first..];
        let mut length = unknown as f32 * self.unknown * self.unknown;
        for (_, value) in block.iter() {
            length += value * value;
        }
        let length = length.sqrt();
        for (_, value) in block {
            *value /= length;
        }
    }

    fn encode_choices(&self, path: &str, leaves: &[Leaf<'_>], facts: &mut Vec<String>) -> Option<Unlike> {
        let mut unlike = None;
        for leaf in leaves {
            let fact = choice(path, *leaf);
            match self.facts.row(&fact) {
                Some(_) => facts.push(fact),
                None => unlike = unlike.or_else(|| Some(Unlike::Value(path.to_owned(), shown(*leaf)))),
            }
        }
        unlike
    }

    fn encode_facts(&self, facts: &[String], vector: &mut Vector) {
        vector.extend(facts.iter().filter_map(|fact| self.facts.row(fact)).map(|row| (row, 1.0)));
        let pairs: Vec<_> = pairs(facts).filter_map(|pair| self.facts.row(&pair)).collect();
        let value = 1.0 / (facts.len().max(1) as f32).sqrt();
        vector.extend(pairs.into_iter().map(|row| (row, value)));
    }
}

fn encode_number(field: &Field, leaf: Leaf<'_>, vector: &mut Vector, facts: &mut Vec<String>) -> Option<Unlike> {
    let Values::Number { least, most, edges, first_row } = &field.values else { return None };
    let Leaf::Number(number) = leaf else { return Some(Unlike::Value(field.path.clone(), shown(leaf))) };
    let below = edges.partition_point(|edge| *edge <= number);
    let value = 1.0 / (edges.len().max(1) as f32).sqrt();
    let sides = (0..edges.len()).map(|at| if at < below { value } else { -value });
    vector.extend((*first_row..).zip(sides));
    facts.push(range(&field.path, below));
    let slack = (most - least) * 0.1;
    let is_known = (least - slack..=most + slack).contains(&number);
    (!is_known).then(|| Unlike::Value(field.path.clone(), number.to_string()))
}

fn missing(path: &str) -> String {
    format!("{path} missing")
}

fn choice(path: &str, leaf: Leaf<'_>) -> String {
    format!("{path} = {}", shown(leaf))
}

fn range(path: &str, number: usize) -> String {
    format!("{path} in {number}")
}

fn pairs(facts: &[String]) -> impl Iterator<Item = String> {
    let facts = &facts[..facts.len().min(PAIRED)];
    facts.iter().enumerate().flat_map(|(at, right)| facts[..at].iter().map(move |left| format!("{left} & {right}")))
}

fn shown(leaf: Leaf<'_>) -> String {
    match leaf {
        Leaf::Text(text) => Value::from(text).to_string(),
        Leaf::Number(number) => number.to_string(),
        Leaf::Flag(flag) => flag.to_string(),
    }
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => write!(f, "no case has the field `{path}`"),
            Self::Missing(path) => write!(f, "every case has the field `{path}`"),
            Self::Value(path, value) => write!(f, "no case has a value like {value} in `{path}`"),
            Self::Words { path, unknown, all } => write!(f, "{unknown} of {all} words in `{path}` are in no case"),
        }
    }
}

/// How often each word occurs decides how much it counts.
fn rarity(cases: u32, with_it: u32) -> f32 {
    libm::logf((1.0 + cases as f32) / (1.0 + with_it as f32)) + 1.0
}

/// The names of rows, for explanations.
pub(crate) type Names = HashMap<u32, String>;
