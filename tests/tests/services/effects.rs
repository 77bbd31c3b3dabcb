//! The effects of runs whose processes are killed: each writes a line to a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

/// The effects of each run, in the order of its result.
pub(crate) const PARTS: [&str; 10] =
    ["first", "approved", "left", "right", "reported", "own", "known", "clerk0", "clerk1", "yes"];

/// Those that must not be made twice: destructive and undeclared ones.
const ONCE: [&str; 6] = ["approved", "right", "reported", "own", "known", "clerk1"];

/// Returns the effects, with how often each was performed.
pub(crate) fn effects(folder: &Path) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for line in std::fs::read_to_string(folder.join("effects")).unwrap_or_default().lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    effects
}

/// Returns the answer of a person who looks outside: a call that may have had its effect has happened if that is in the file.
pub(crate) fn decision(folder: &Path, request: &Value) -> Value {
    let what = format!("{} ", request["arguments"]["what"].as_str().unwrap_or_default());
    match effects(folder).into_keys().find(|line| line.starts_with(&what)) {
        Some(line) if request["began"].is_string() => json!({ "decision": "happened", "result": line }),
        _ => json!({ "decision": "approve" }),
    }
}

/// Checks that the result of a run has all its effects, each performed under a number of its own, and those once that must not be made
/// twice; returns them.
pub(crate) fn checked<'a>(name: &str, outcome: &'a Value, effects: &BTreeMap<String, usize>) -> Vec<&'a str> {
    let results = outcome["result"].as_array().unwrap_or_else(|| panic!("{name}: {outcome}"));
    let results: Vec<_> = results.iter().map(|result| result.as_str().unwrap()).collect();
    let parts: Vec<_> = results.iter().map(|result| result.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(parts, PARTS.map(|part| format!("{name}-{part}")));
    for result in &results {
        assert_eq!(
            effects.get(*result),
            Some(&1),
            "{result} is an effect, and none is performed twice under one number"
        );
    }
    for part in ONCE {
        let what = format!("{name}-{part} ");
        let made: Vec<_> = effects.keys().filter(|effect| effect.starts_with(&what)).collect();
        assert_eq!(made.len(), 1, "made twice: {made:?}");
    }
    results
}

/// Returns how many effects of a run were interrupted before they were recorded, and then repeated: those that may be.
pub(crate) fn repeats(name: &str, effects: &BTreeMap<String, usize>) -> usize {
    effects.keys().filter(|effect| effect.starts_with(&format!("{name}-"))).count() - PARTS.len()
}
