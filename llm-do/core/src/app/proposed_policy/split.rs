//! Ways to split approved calls into parts that may each have a narrower hull.

use std::collections::BTreeMap;

use serde_json::Value;

use super::decision::Decision;
use super::shape::{PlainPath, PlainUrl, distinct};

/// The maximum number of parts with equal values.
const MAX_PARTS: usize = 16;

/// The parts of some calls.
pub(super) type Parts<'d> = Vec<Vec<&'d Decision>>;

/// Returns the ways to split calls by one argument, each into at least two parts.
pub(super) fn splits<'d>(approved: &[&'d Decision], denied: &[&Decision], name: &str) -> Vec<Parts<'d>> {
    let values: Vec<_> = approved.iter().map(|decision| decision.argument(name)).collect();
    let by = |key: &dyn Fn(&Value) -> String| {
        let mut parts: BTreeMap<String, Vec<&'d Decision>> = BTreeMap::new();
        for (decision, value) in approved.iter().zip(&values) {
            parts.entry(key(value)).or_default().push(*decision);
        }
        parts.into_values().collect::<Parts<'d>>()
    };
    let bounds = numbers(denied, name);
    let depth = common_depth(&values);
    let mut ways = vec![by(&|value| structure(value, depth)), by(&|value| section(value, &bounds))];
    if distinct(&values).len() <= MAX_PARTS {
        ways.push(by(&Value::to_string));
    }
    ways.retain(|parts| parts.len() > 1);
    ways
}

/// Returns the folders of a path or an address; of an address, the origin is the first.
fn folders(value: &Value) -> Option<Vec<&str>> {
    let text = value.as_str()?;
    match PlainUrl::read(text) {
        Some(url) => Some([url.origin].into_iter().chain(url.folders().iter().copied()).collect()),
        None => PlainPath::read(text).map(|path| path.folders()),
    }
}

/// Returns the number of first folders that all plain paths have in common.
fn common_depth(values: &[&Value]) -> usize {
    let all: Vec<_> = values.iter().filter_map(|value| folders(value)).collect();
    let Some((first, rest)) = all.split_first() else { return 0 };
    let is_common = |(place, folder): &(usize, &&str)| rest.iter().all(|other| other.get(*place) == Some(*folder));
    first.iter().enumerate().take_while(is_common).count()
}

/// Returns what separates values by their kind: for paths and addresses, the first folder that they do not have in common.
fn structure(value: &Value, depth: usize) -> String {
    match (value, folders(value)) {
        (Value::String(_), Some(folders)) => format!("/{}", folders.get(depth).copied().unwrap_or_default()),
        (Value::String(_), None) => "text".to_owned(),
        (Value::Number(_), _) => "number".to_owned(),
        (other, _) => other.to_string(),
    }
}

/// Returns the numbers of denied calls, sorted.
fn numbers(denied: &[&Decision], name: &str) -> Vec<f64> {
    let mut numbers: Vec<_> = denied.iter().filter_map(|decision| decision.argument(name).as_f64()).collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Returns between which denied numbers a number is.
fn section(value: &Value, bounds: &[f64]) -> String {
    match value.as_f64() {
        Some(number) => bounds.partition_point(|bound| *bound < number).to_string(),
        None => "other".to_owned(),
    }
}
