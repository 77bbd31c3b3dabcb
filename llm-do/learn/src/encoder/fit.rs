//! Which features there are, from cases.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{BIAS, Encoder, Field, Found, Values, choice, missing, pairs, range};
use crate::edges::edges;
use crate::fields::Kind;
use crate::leaves::Leaf;
use crate::table::{Counter, Table};
use crate::text::Normal;

/// The most features, and the most weights while learning.
const MAX_ROWS: usize = 60_000;
const MAX_WEIGHTS: usize = 12_000_000;

/// In how many cases a feature occurs at least.
const LEAST: u32 = 2;
const LEAST_RUNS: u32 = 3;

/// The percentage of cases with at most as many unknown words as are allowed.
const USUAL_PERCENT: usize = 99;

/// Hands out rows.
struct Rows {
    /// In how many cases the feature of each row occurs; 0 for those that do not occur in cases.
    counts: Vec<u32>,
    left: usize,
}

/// The counts of one field.
#[derive(Default)]
struct Counts {
    words: Counter,
    pairs: Counter,
    runs: Counter,
    present: u32,
}

impl Encoder {
    /// Learns the features of cases with labels below `labels`.
    pub(crate) fn fit(kinds: &BTreeMap<String, Kind>, cases: &[(&Value, u32)], labels: usize) -> Self {
        let fields = kinds.iter().map(|(path, kind)| Field::empty(path, *kind)).collect();
        let mut encoder = Self::new(fields, Table::default());
        let mut rows = Rows::new(labels);
        encoder.fit_numbers(cases, labels, &mut rows);
        let (counts, facts) = encoder.count(cases);
        let texts = encoder.fields.iter().filter(|field| matches!(field.values, Values::Text { .. })).count();
        let share = rows.left / (texts + 1);
        rows.add(facts.frequent(LEAST, share), &mut encoder.facts);
        encoder.fit_texts(cases, counts, share, &mut rows);
        encoder.with_counts(cases.len() as u32, rows.counts)
    }

    fn fit_numbers(&mut self, cases: &[(&Value, u32)], labels: usize, rows: &mut Rows) {
        for at in 0..self.fields.len() {
            if !matches!(self.fields[at].values, Values::Number { .. }) {
                continue;
            }
            let mut values = Vec::new();
            for (input, label) in cases {
                let found = self.find(input);
                let numbers = found.values[at].iter().filter_map(|leaf| number(*leaf));
                values.extend(numbers.map(|number| (number, *label)));
            }
            let edges = edges(&mut values, labels);
            let ends = (values.first(), values.last());
            let (least, most) = (ends.0.map_or(0.0, |(value, _)| *value), ends.1.map_or(0.0, |(value, _)| *value));
            let first_row = rows.next();
            rows.skip(edges.len());
            self.fields[at].values = Values::Number { least, most, edges, first_row };
        }
    }

    fn count(&self, cases: &[(&Value, u32)]) -> (Vec<Counts>, Counter) {
        let mut counts: Vec<_> = self.fields.iter().map(|_| Counts::default()).collect();
        let mut facts = Counter::default();
        for ((input, _), case) in cases.iter().zip(0..) {
            let Found { values, .. } = self.find(input);
            let mut found = Vec::new();
            for ((field, leaves), counts) in self.fields.iter().zip(&values).zip(&mut counts) {
                counts.present += u32::from(!leaves.is_empty());
                counts.add(field, leaves, case, &mut found);
            }
            for fact in found.iter().cloned().chain(pairs(&found)) {
                facts.add(&fact, case);
            }
        }
        (counts, facts)
    }

    fn fit_texts(&mut self, cases: &[(&Value, u32)], counts: Vec<Counts>, share: usize, rows: &mut Rows) {
        for (at, counts) in counts.into_iter().enumerate() {
            self.fields[at].required = counts.present as usize == cases.len();
            if !matches!(self.fields[at].values, Values::Text { .. }) {
                continue;
            }
            let unknown_at_most = self.usual_share(cases, at, &counts.words);
            let (mut words, mut runs) = (Table::default(), Table::default());
            let mut kept = counts.words.frequent(LEAST, share / 4);
            kept.extend(counts.pairs.frequent(LEAST, share / 4));
            rows.add(kept, &mut words);
            rows.add(counts.runs.frequent(LEAST_RUNS, share / 2), &mut runs);
            self.fields[at].values = Values::Text { words, runs, unknown_at_most };
        }
    }

    /// Returns the share of words that no other case has, which most cases do not exceed.
    fn usual_share(&self, cases: &[(&Value, u32)], at: usize, words: &Counter) -> f64 {
        let share = |input: &Value| {
            let (mut unknown, mut all) = (0, 0);
            for leaf in &self.find(input).values[at] {
                let Leaf::Text(text) = leaf else { continue };
                let normal = Normal::of(text);
                all += normal.len();
                unknown += normal.words().filter(|word| words.count(word) < LEAST).count();
            }
            if all == 0 { 0.0 } else { unknown as f64 / all as f64 }
        };
        let mut shares: Vec<_> = cases.iter().map(|(input, _)| share(input)).collect();
        shares.sort_by(f64::total_cmp);
        let usual = cases.len() * USUAL_PERCENT / 100;
        shares.get(usual).copied().unwrap_or_default()
    }
}

impl Field {
    fn empty(path: &str, kind: Kind) -> Self {
        let values = match kind {
            Kind::Text => Values::Text { words: Table::default(), runs: Table::default(), unknown_at_most: 0.0 },
            Kind::Choice => Values::Choice,
            Kind::Number => Values::Number { least: 0.0, most: 0.0, edges: Vec::new(), first_row: BIAS },
            Kind::LeftOut(_) => Values::LeftOut,
        };
        Self { path: path.to_owned(), required: false, values }
    }
}

impl Counts {
    fn add(&mut self, field: &Field, leaves: &[Leaf<'_>], case: u32, facts: &mut Vec<String>) {
        if leaves.is_empty() {
            facts.push(missing(&field.path));
        }
        for leaf in leaves {
            match (&field.values, leaf) {
                (Values::Text { .. }, Leaf::Text(text)) => self.add_text(text, case),
                (Values::Choice, leaf) => facts.push(choice(&field.path, *leaf)),
                (Values::Number { edges, .. }, Leaf::Number(number)) => {
                    facts.push(range(&field.path, edges.partition_point(|edge| edge <= number)));
                }
                _ => {}
            }
        }
    }

    fn add_text(&mut self, text: &str, case: u32) {
        let normal = Normal::of(text);
        normal.words().for_each(|word| self.words.add(word, case));
        normal.pairs().for_each(|pair| self.pairs.add(pair, case));
        normal.runs().for_each(|run| self.runs.add(run, case));
    }
}

impl Rows {
    fn new(labels: usize) -> Self {
        Self { counts: vec![0], left: MAX_ROWS.min(MAX_WEIGHTS / labels.max(1)) }
    }

    /// The next row.
    fn next(&self) -> u32 {
        self.counts.len() as u32
    }

    /// Hands out rows that are not counted.
    fn skip(&mut self, rows: usize) {
        self.counts.extend(std::iter::repeat_n(0, rows));
    }

    /// Rows are in the order of names, as in the file: sums are the same after it was read.
    fn add(&mut self, mut features: Vec<(Box<str>, u32)>, table: &mut Table) {
        features.sort_unstable();
        for (name, count) in features {
            table.add(name, self.next());
            self.counts.push(count);
        }
    }
}

fn number(leaf: Leaf<'_>) -> Option<f64> {
    match leaf {
        Leaf::Number(number) => Some(number),
        _ => None,
    }
}
