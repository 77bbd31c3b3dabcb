//! On which conditions the paths of runs part: fields whose values decide about the next call.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::PastRun;

/// The maximum number of calls after which conditions are looked for.
const MAX_CALLS: usize = 12;
/// The maximum number of places that are described.
const MAX_PLACES: usize = 12;
/// The maximum number of fields at one place.
const MAX_FIELDS: usize = 3;
/// The maximum number of different values that decide, for each next call.
const MAX_VALUES: usize = 8;
/// The maximum length of a text that decides, in bytes.
const MAX_TEXT: usize = 40;
/// The maximum number of fields of one value.
const MAX_LEAVES: usize = 60;
/// The next call of a run that makes no more.
const END: &str = "(the answer)";

/// The runs whose next call is the same, by its name.
type NextCalls<'r> = BTreeMap<&'r str, Vec<&'r PastRun>>;

/// Describes where the paths of runs part, and which values of the input or of results decide, a line each.
pub(in crate::app::harden) fn conditions(runs: &[&PastRun]) -> Vec<String> {
    let mut places: BTreeMap<Vec<&str>, NextCalls<'_>> = BTreeMap::new();
    for &run in runs {
        let names: Vec<&str> = run.calls.iter().map(|call| &*call.name).collect();
        for at in 0..=names.len().min(MAX_CALLS) {
            let next = names.get(at).copied().unwrap_or(END);
            places.entry(names[..at].to_vec()).or_default().entry(next).or_default().push(run);
        }
    }
    let parting = places.iter().filter(|(_, next)| next.len() > 1).take(MAX_PLACES);
    parting.flat_map(|(before, next)| place(before, next)).collect()
}

/// Describes one place.
fn place(before: &[&str], next: &NextCalls<'_>) -> Vec<String> {
    let counts: Vec<_> = next.iter().map(|(name, runs)| format!("{name} ({} runs)", runs.len())).collect();
    let after = if before.is_empty() { "at first".to_owned() } else { format!("after {}", before.join(", ")) };
    let fields = deciding(before.len(), next);
    let what = if fields.is_empty() { "; no single field decides" } else { ", decided by any of:" };
    let first = format!("- {after}: {}{what}", counts.join(" or "));
    std::iter::once(first).chain(fields.into_iter().map(|field| format!("  - {field}"))).collect()
}

/// The values of a field before one next call.
#[derive(Default)]
struct Values {
    /// As JSON.
    texts: BTreeSet<String>,
    /// The least and the greatest number.
    range: Option<(f64, f64)>,
    has_others: bool,
}

impl Values {
    fn add(&mut self, value: &Value) {
        self.texts.insert(value.to_string());
        match (value.as_f64(), self.range) {
            (Some(number), Some((least, most))) => self.range = Some((least.min(number), most.max(number))),
            (Some(number), None) => self.range = Some((number, number)),
            (None, _) => self.has_others = true,
        }
    }

    /// Returns the least and the greatest number, if all are numbers.
    fn numbers(&self) -> Option<(f64, f64)> {
        self.range.filter(|_| !self.has_others)
    }

    /// Describes the values: each, or of many numbers the least and the greatest.
    fn describe(&self) -> String {
        match self.numbers() {
            Some((least, most)) if self.texts.len() > MAX_VALUES => format!("{least} to {most}"),
            _ => self.texts.iter().map(String::as_str).collect::<Vec<_>>().join(" or "),
        }
    }
}

/// Returns the fields that decide: each next call has its own values of them, or its own range of numbers.
fn deciding(at: usize, next: &NextCalls<'_>) -> Vec<String> {
    let mut fields: BTreeMap<String, (usize, BTreeMap<&str, Values>)> = BTreeMap::new();
    for (&name, runs) in next {
        for run in runs {
            for (field, value) in facts(run, at) {
                let (known, of_next) = fields.entry(field).or_default();
                *known += 1;
                of_next.entry(name).or_default().add(value);
            }
        }
    }
    let runs: usize = next.values().map(Vec::len).sum();
    let decides = |(known, of_next): &(usize, BTreeMap<&str, Values>)| *known == runs && are_apart(of_next);
    let described = |(field, (_, of_next)): (String, (usize, BTreeMap<&str, Values>))| {
        let of = |(name, values): (&&str, &Values)| format!("{name} if {}", values.describe());
        format!("{field}: {}", of_next.iter().map(of).collect::<Vec<_>>().join("; "))
    };
    fields.into_iter().filter(|(_, field)| decides(field)).take(MAX_FIELDS).map(described).collect()
}

/// Returns whether no two next calls have a value in common, and the values are few or ranges of numbers.
fn are_apart(of_next: &BTreeMap<&str, Values>) -> bool {
    let all: BTreeSet<&String> = of_next.values().flat_map(|values| &values.texts).collect();
    let are_few = of_next.values().all(|values| values.texts.len() <= MAX_VALUES);
    if are_few && all.len() == of_next.values().map(|values| values.texts.len()).sum::<usize>() {
        return true;
    }
    let ranges: Option<Vec<_>> = of_next.values().map(Values::numbers).collect();
    ranges.is_some_and(|mut ranges| {
        ranges.sort_by(|one, other| one.0.total_cmp(&other.0));
        ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
    })
}

/// Returns the fields that are known before a call of a run, with their values.
fn facts(run: &PastRun, at: usize) -> Vec<(String, &Value)> {
    let results = (1..).zip(run.calls.iter().take(at));
    let results =
        results.filter_map(|(number, call)| Some((format!("result {number}, of {},", call.name), call.value()?)));
    let all = std::iter::once(("input".to_owned(), &run.input)).chain(results);
    all.flat_map(|(what, value)| {
        let mut fields = Vec::new();
        leaves(value, String::new(), &mut fields);
        fields.into_iter().map(move |(pointer, value)| (format!("{what} {pointer}"), value))
    })
    .collect()
}

/// Adds the short scalar values inside a value, each with its JSON pointer.
fn leaves<'v>(value: &'v Value, pointer: String, found: &mut Vec<(String, &'v Value)>) {
    if found.len() >= MAX_LEAVES {
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(value, format!("{pointer}/{name}"), found));
        }
        Value::Array(items) => found.extend(items.is_empty().then_some((pointer, value))),
        Value::String(text) if text.len() > MAX_TEXT => {}
        _ => found.push((pointer, value)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::super::{PastCall, PastRun};
    use super::conditions;
    use crate::observe::event::Outcome;

    fn call(name: &str, result: &Value) -> PastCall {
        let recorded = json!({ "result": { "value": result } });
        PastCall { name: name.into(), arguments: Arc::default(), recorded, overlapped: false }
    }

    fn run(number: u64, status: &str, then: &[&str]) -> PastRun {
        let first = call("get_order", &json!({ "status": status, "number": number }));
        let calls = std::iter::once(first).chain(then.iter().map(|name| call(name, &Value::Null))).collect();
        PastRun { input: json!({ "order": number }), calls, outcome: Outcome::Result(Value::Null.into()) }
    }

    #[test]
    fn the_field_that_decides_about_the_next_call_is_named_with_its_values() {
        let runs: Vec<_> = (0..40)
            .map(|number| match number % 3 {
                0 => run(number, "delivered", &["refund"]),
                1 => run(number, "paid", &["ship"]),
                _ => run(number, "cancelled", &[]),
            })
            .collect();
        let lines = conditions(&runs.iter().collect::<Vec<_>>());
        let expected = [
            "- after get_order: (the answer) (13 runs) or refund (14 runs) or ship (13 runs), decided by any of:",
            "  - result 1, of get_order, /status: (the answer) if \"cancelled\"; refund if \"delivered\"; ship if \"paid\"",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_range_of_numbers_decides() {
        let runs: Vec<_> =
            (0..40).map(|number| run(number, "paid", if number < 25 { &["ship"] } else { &["review"] })).collect();
        let lines = conditions(&runs.iter().collect::<Vec<_>>());
        assert_eq!(lines[1], "  - input /order: review if 25 to 39; ship if 0 to 24", "{lines:?}");
    }

    #[test]
    fn a_path_that_no_field_decides_is_described_so() {
        let runs: Vec<_> =
            (0..40).map(|number| run(number, "paid", if number % 2 == 0 { &["ship"] } else { &[] })).collect();
        let lines = conditions(&runs.iter().collect::<Vec<_>>());
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].ends_with("; no single field decides"), "{lines:?}");
    }

    #[test]
    fn one_path_has_no_conditions() {
        let runs: Vec<_> = (0..10).map(|number| run(number, "paid", &["ship"])).collect();
        assert!(conditions(&runs.iter().collect::<Vec<_>>()).is_empty());
    }
}
