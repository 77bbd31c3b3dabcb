//! Reads files that anyone may have written.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{DIGEST, FORMAT, FieldOfFile, File, MAX_FILE, PartOfFile, Row, ValuesOfFile, digest};
use crate::answers::MAX_VALUES;
use crate::encoder::{Encoder, Field, Values};
use crate::error::FileFault;
use crate::evidence::Evidence;
use crate::learned::Learned;
use crate::part::{Part, SparseWeights};
use crate::table::Table;

/// The most parts of an output.
const MAX_PARTS: usize = 16;

/// The largest weight, in steps.
const MAX_STEPS: i32 = 1_000;

type Result<T> = std::result::Result<T, FileFault>;

impl Learned {
    /// Reads the text of a file, of at most [`MAX_FILE`] bytes.
    ///
    /// # Errors
    ///
    /// Returns the first fault: nothing of such a file is used. A file whose content does not have the digest in it was changed, so its
    /// evidence is not of this content.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MAX_FILE {
            return fault(format!("it has {} bytes, and at most {MAX_FILE} are read", text.len()));
        }
        let file: File = serde_json::from_str(text).map_err(|error| FileFault(error.to_string()))?;
        if file.format != FORMAT {
            return fault(format!("its format is {:?}, and {FORMAT:?} is read", file.format));
        }
        check_digest(text)?;
        check_evidence(&file.evidence)?;
        check(is_share(file.threshold), "the threshold is not from 0 to 1")?;
        check((1..=MAX_PARTS).contains(&file.parts.len()), "it has no parts, or more than 16")?;
        let parts = file.parts.into_iter().map(read_part).collect::<Result<_>>()?;
        let File { name, signature, evidence, threshold, constant, .. } = file;
        Ok(Self { name, signature, evidence, threshold, constant, parts })
    }
}

fn check_digest(text: &str) -> Result<()> {
    let text = text.replace('\r', "");
    let at = text.rfind(DIGEST).ok_or_else(|| FileFault("its last line is not the digest".to_owned()))?;
    let expected = format!("{DIGEST}{}\"\n}}\n", digest(&text[..at]));
    let reason = "it was changed after it was learned, so its evidence does not hold; learn it again";
    check(text[at..].trim_end() == expected.trim_end(), reason)
}

fn check_evidence(evidence: &Evidence) -> Result<()> {
    let shares = [evidence.bound, evidence.confidence, evidence.at_most];
    let counts = evidence.wrong <= evidence.answered && evidence.answered <= evidence.cases;
    check(counts && shares.into_iter().all(is_share), "its evidence is not possible")
}

fn read_part(part: PartOfFile) -> Result<Part> {
    check((2..=MAX_VALUES).contains(&part.values.len()), "a part has fewer than 2 values, or more than 500")?;
    check(part.missing.is_none_or(|missing| missing < part.values.len()), "`missing` is not a place in `values`")?;
    check(part.sharpness > 0.0 && part.sharpness <= 100.0, "`sharpness` is not above 0 and at most 100")?;
    check(part.step > 0.0 && part.step <= 1000.0, "`step` is not above 0 and at most 1000")?;
    let mut rows = Rows::new(part.values.len(), part.step);
    rows.add(&part.bias)?;
    let mut fields: Vec<_> = part.fields.into_iter().collect();
    for (_, field) in &mut fields {
        rows.add_numbers(field)?;
    }
    let facts = rows.add_table(part.facts)?;
    let fields = fields.into_iter().map(|(path, field)| rows.add_field(path, field)).collect::<Result<_>>()?;
    let encoder = Encoder::new(fields, facts).with_counts(part.cases, rows.counts);
    let values = part.values.into_iter().enumerate();
    let values =
        values.map(|(at, value)| Some(value).filter(|_| part.missing != Some(at))).collect::<Vec<Option<Value>>>();
    Ok(Part { path: part.path, values, encoder, weights: rows.weights, sharpness: part.sharpness })
}

/// The rows so far: they are in the order in which they are learned.
struct Rows {
    labels: usize,
    weights: SparseWeights,
    counts: Vec<u32>,
    /// The first rows of the numbers to come, the last first.
    numbers: Vec<u32>,
}

impl Rows {
    fn new(labels: usize, step: f32) -> Self {
        let weights = SparseWeights { starts: vec![0], steps: Vec::new(), step };
        Self { labels, weights, counts: Vec::new(), numbers: Vec::new() }
    }

    fn next(&self) -> u32 {
        self.counts.len() as u32
    }

    fn add(&mut self, row: &Row) -> Result<u32> {
        let wrong =
            || FileFault("a feature has no number of cases, or a place or a weight that is out of range".to_owned());
        let ([count], weights) = row.split_first_chunk().ok_or_else(wrong)?;
        let number = self.next();
        self.counts.push(u32::try_from(*count).map_err(|_| wrong())?);
        let (pairs, rest) = weights.as_chunks();
        let mut next = 0;
        for [label, steps] in pairs {
            let label = u16::try_from(*label).ok().filter(|label| (next..self.labels).contains(&usize::from(*label)));
            let label = label.ok_or_else(wrong)?;
            let steps = Some(*steps).filter(|steps| (-MAX_STEPS..=MAX_STEPS).contains(steps)).ok_or_else(wrong)?;
            self.weights.steps.push((label, steps as i16));
            next = usize::from(label) + 1;
        }
        self.weights.starts.push(self.weights.steps.len() as u32);
        if rest.is_empty() { Ok(number) } else { Err(wrong()) }
    }

    fn add_table(&mut self, features: BTreeMap<Box<str>, Row>) -> Result<Table> {
        let mut table = Table::default();
        for (name, row) in features {
            let row = self.add(&row)?;
            table.add(name, row);
        }
        Ok(table)
    }

    fn add_numbers(&mut self, field: &FieldOfFile) -> Result<()> {
        let ValuesOfFile::Number { least, most, edges, weights } = &field.values else { return Ok(()) };
        check(least <= most, "`least` is above `most`")?;
        check(edges.is_sorted_by(|left, right| left < right), "`edges` do not rise")?;
        check(edges.len() == weights.len(), "`weights` has another length than `edges`")?;
        self.numbers.insert(0, self.next());
        weights.iter().try_for_each(|row| self.add(row).map(drop))
    }

    fn add_field(&mut self, path: String, field: FieldOfFile) -> Result<Field> {
        let values = match field.values {
            ValuesOfFile::Text { unknown_at_most, words, runs } => {
                check(is_share(unknown_at_most), "`unknown_at_most` is not from 0 to 1")?;
                Values::Text { words: self.add_table(words)?, runs: self.add_table(runs)?, unknown_at_most }
            }
            ValuesOfFile::Choice {} => Values::Choice,
            ValuesOfFile::Number { least, most, edges, .. } => {
                Values::Number { least, most, edges, first_row: self.numbers.pop().unwrap_or_default() }
            }
            ValuesOfFile::LeftOut {} => Values::LeftOut,
        };
        Ok(Field { path, required: field.required, values })
    }
}

fn is_share(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

fn check(holds: bool, reason: &str) -> Result<()> {
    if holds { Ok(()) } else { fault(reason.to_owned()) }
}

fn fault<T>(reason: String) -> Result<T> {
    Err(FileFault(reason))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_part;

    fn part() -> Value {
        let number = json!({ "least": 0.0, "most": 9.0, "edges": [1.0, 2.0], "weights": [[0, 0, 5], [0]] });
        json!({
            "path": [], "values": ["a", "b"], "cases": 9, "sharpness": 2.0, "step": 0.01, "bias": [0, 0, 1, 1, -1],
            "facts": { "/c = 1": [3, 1, 7] },
            "fields": {
                "/n": { "required": true, "values": { "number": number } },
                "/t": { "required": false, "values": { "text": { "unknown_at_most": 0.5, "words": {}, "runs": {} } } },
            },
        })
    }

    fn fault_of(place: &str, value: Value) -> Option<String> {
        let mut part = part();
        *part.pointer_mut(place).unwrap() = value;
        read_part(serde_json::from_value(part).unwrap()).err().map(|fault| fault.to_string())
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        assert_eq!(fault_of("/cases", json!(9)), None);
        let row = "a feature has no number of cases, or a place or a weight that is out of range";
        for (place, value, reason) in [
            ("/values", json!(["a"]), "fewer than 2 values"),
            ("/sharpness", json!(0.0), "`sharpness`"),
            ("/sharpness", json!(1e9), "`sharpness`"),
            ("/step", json!(-1.0), "`step`"),
            ("/bias", json!([]), row),
            ("/bias", json!([0, 2, 1]), row),
            ("/bias", json!([0, 1, 1, 0, 1]), row),
            ("/bias", json!([0, 1]), row),
            ("/bias", json!([0, 1, 1001]), row),
            ("/bias", json!([-1]), row),
            ("/fields/~1n/values/number/edges", json!([2.0, 1.0]), "`edges` do not rise"),
            ("/fields/~1n/values/number/weights", json!([[0]]), "another length"),
            ("/fields/~1n/values/number/least", json!(10.0), "`least` is above `most`"),
            ("/fields/~1t/values/text/unknown_at_most", json!(1.5), "`unknown_at_most`"),
        ] {
            let fault = fault_of(place, value.clone()).unwrap_or_default();
            assert!(fault.contains(reason), "{place} {value}: {fault}");
        }
    }
}
