//! Writes files: a line for each feature.

use std::fmt::Write;

use serde::Serialize;

use super::{DIGEST, FORMAT, digest};
use crate::encoder::{BIAS, Field, Values};
use crate::learned::Learned;
use crate::part::Part;
use crate::table::Table;

const ABOUT: &str =
    "Features are followed by the number of cases that have them, then by places in `values` and weights in turn";

impl Learned {
    /// Returns the text of the file `NAME.learned.json`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("{");
        key(&mut text, 1, "format", &FORMAT, ",");
        key(&mut text, 1, "name", &self.name, ",");
        key(&mut text, 1, "signature", &self.signature, ",");
        key(&mut text, 1, "about", &format!("{}. {ABOUT}.", self.evidence), ",");
        key(&mut text, 1, "evidence", &self.evidence, ",");
        key(&mut text, 1, "threshold", &self.threshold, ",");
        key(&mut text, 1, "constant", &self.constant, ",");
        text.push_str("\n  \"parts\": [");
        for (part, comma) in with_commas(&self.parts) {
            part.write(&mut text);
            text.push_str(comma);
        }
        text.push_str("\n  ],");
        let digest = digest(&text);
        text.push_str(DIGEST);
        text.push_str(&digest);
        text.push_str("\"\n}\n");
        text
    }
}

impl Part {
    fn write(&self, text: &mut String) {
        text.push_str("\n    {");
        key(text, 3, "path", &self.path, ",");
        key(text, 3, "values", &self.values, ",");
        if let Some(missing) = self.values.iter().position(Option::is_none) {
            key(text, 3, "missing", &missing, ",");
        }
        key(text, 3, "cases", &self.encoder.cases, ",");
        key(text, 3, "sharpness", &self.sharpness, ",");
        key(text, 3, "step", &self.weights.step, ",");
        key(text, 3, "bias", &self.row(BIAS), ",");
        self.write_table(text, 3, "facts", &self.encoder.facts, ",");
        text.push_str("\n      \"fields\": {");
        for (field, comma) in with_commas(&self.encoder.fields) {
            self.write_field(text, field);
            text.push_str(comma);
        }
        text.push_str("\n      }\n    }");
    }

    fn write_field(&self, text: &mut String, field: &Field) {
        opened(text, 4, &field.path);
        key(text, 5, "required", &field.required, ",");
        text.push_str("\n          \"values\": {");
        match &field.values {
            Values::Text { words, runs, unknown_at_most } => {
                opened(text, 6, "text");
                key(text, 7, "unknown_at_most", unknown_at_most, ",");
                self.write_table(text, 7, "words", words, ",");
                self.write_table(text, 7, "runs", runs, "");
                text.push('}');
            }
            Values::Choice => key(text, 6, "choice", &Empty {}, ""),
            Values::Number { least, most, edges, first_row } => {
                opened(text, 6, "number");
                key(text, 7, "least", least, ",");
                key(text, 7, "most", most, ",");
                key(text, 7, "edges", edges, ",");
                let weights: Vec<_> = (*first_row..).take(edges.len()).map(|row| self.row(row)).collect();
                key(text, 7, "weights", &weights, "");
                text.push('}');
            }
            Values::LeftOut => key(text, 6, "left_out", &Empty {}, ""),
        }
        text.push_str("}}");
    }

    fn write_table(&self, text: &mut String, depth: usize, name: &str, table: &Table, comma: &str) {
        opened(text, depth, name);
        let rows = table.sorted();
        for ((feature, row), comma) in with_commas(&rows) {
            key(text, depth + 1, feature, &self.row(*row), comma);
        }
        text.push('}');
        text.push_str(comma);
    }

    /// Returns a row as it is written.
    fn row(&self, row: u32) -> Vec<i64> {
        let steps = self.weights.row(row).iter().flat_map(|(label, steps)| [i64::from(*label), i64::from(*steps)]);
        [i64::from(self.encoder.counts[row as usize])].into_iter().chain(steps).collect()
    }
}

/// What has no content.
#[derive(Serialize)]
struct Empty {}

fn opened(text: &mut String, depth: usize, name: &str) {
    start(text, depth, name);
    text.push('{');
}

fn key(text: &mut String, depth: usize, name: &str, value: &impl Serialize, comma: &str) {
    start(text, depth, name);
    // What is written here has keys that are texts, so it can be written.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
    text.push_str(comma);
}

fn start(text: &mut String, depth: usize, name: &str) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
    // Writing to a string does not fail.
    let _ = write!(text, "{}: ", serde_json::Value::from(name));
}

/// Returns each item, with the comma that follows it.
fn with_commas<T>(items: &[T]) -> impl Iterator<Item = (&T, &'static str)> {
    items.iter().enumerate().map(|(at, item)| (item, if at + 1 < items.len() { "," } else { "" }))
}
