//! Chooses the worker for a task, by the words in their hints, names and descriptions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::declare::nesting;

/// The score of a word in the request's hints that is also in the worker's hints.
const HINT_IN_HINTS: u32 = 4;
/// The score of a word in the request's description that is also in the worker's hints.
const WORD_IN_HINTS: u32 = 3;
/// The score of a word in the request that is also in the worker's name.
const WORD_IN_NAME: u32 = 2;
/// The score of a word in the request that is also in the worker's description.
const WORD_IN_DESCRIPTION: u32 = 1;

/// Words that are ignored.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "that",
    "the", "this", "to", "with",
];

/// A task to delegate to the best worker: see [`CallContext::subtask`](crate::plane::context::CallContext::subtask).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct SubtaskRequest {
    description: String,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    hints: Vec<String>,
    /// Why an input is invalid, if one is.
    #[serde(skip)]
    fault: Option<String>,
}

impl SubtaskRequest {
    /// Describes a task, in words that a suitable worker would use in its description.
    pub fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), ..Self::default() }
    }

    /// Adds an input. Default: none.
    ///
    /// A subtask with an input that is nested deeper than 128 levels fails with
    /// [`CallError::NoWorker`](crate::base::error::CallError::NoWorker).
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        match nesting::shallow(value.into()) {
            Ok(value) => drop(self.inputs.insert(name, value)),
            Err(fault) => self.fault = Some(format!("the input `{name}`: {fault}")),
        }
        self
    }

    /// Returns why no worker can take the task, if an input is invalid.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Adds a hint, in words of a worker's `hints`. Default: none.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the two possible arguments for a worker: the inputs, or one prompt with everything.
    pub(crate) fn forms(&self) -> [Value; 2] {
        let inputs = Value::Object(self.inputs.clone());
        let mut input = self.description.clone();
        if !self.inputs.is_empty() {
            input = format!("{input}\n\n{inputs:#}");
        }
        [inputs, serde_json::json!({ "input": input })]
    }
}

/// A worker that a task may be delegated to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) hints: &'a [&'a str],
}

/// Returns the score of a worker for a task; 0 means unsuitable.
///
/// Each word counts once for each of the places where the worker has it.
pub(crate) fn score(request: &SubtaskRequest, worker: Candidate<'_>) -> u32 {
    let hints = words(&request.hints);
    let description = words([&request.description]);
    let all: BTreeSet<_> = hints.union(&description).cloned().collect();
    let worker_hints = words(worker.hints);
    let shared = |left: &BTreeSet<String>, right: &BTreeSet<String>| {
        u32::try_from(left.intersection(right).count()).unwrap_or(u32::MAX)
    };
    HINT_IN_HINTS * shared(&hints, &worker_hints)
        + WORD_IN_HINTS * shared(&description, &worker_hints)
        + WORD_IN_NAME * shared(&all, &words([worker.name]))
        + WORD_IN_DESCRIPTION * shared(&all, &words([worker.description]))
}

/// Returns the worker with the highest score, or an error if no worker scores or several share the highest score.
pub(crate) fn best<'a>(scored: &[(&'a str, u32)]) -> Result<&'a str, String> {
    let top = scored.iter().map(|(_, score)| *score).max().unwrap_or(0);
    let best: Vec<_> = scored.iter().filter(|(_, score)| *score == top).map(|(name, _)| *name).collect();
    match best.as_slice() {
        [] => Err("no available worker accepts the inputs of the subtask".to_owned()),
        names if top == 0 => Err(format!(
            "no word of the subtask is in the name, description or hints of a worker; add a hint that matches a worker: {}",
            list(names)
        )),
        [only] => Ok(only),
        names => {
            Err(format!("{} have the same score ({top} points each); add a hint that matches only one", list(names)))
        }
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the words of texts: letters and digits, in lower case, without a plural `s` and without ignored words.
fn words(texts: impl IntoIterator<Item: AsRef<str>>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for text in texts {
        let lower = text.as_ref().to_lowercase();
        let all = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.extend(all.filter(|word| !STOP_WORDS.contains(word)).map(|word| stem(word).to_owned()));
    }
    words
}

fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEWER: Candidate<'_> =
        Candidate { name: "code_reviewer", description: "Review source files for defects.", hints: &["rust code"] };
    const WRITER: Candidate<'_> = Candidate { name: "writer", description: "Write a text.", hints: &["prose"] };

    #[test]
    fn a_word_counts_for_each_place_where_a_worker_has_it() {
        let request = SubtaskRequest::new("Review this file").hint("code");
        // `review` and `file` in the description, `code` in the hints and in the name.
        assert_eq!(score(&request, REVIEWER), 2 * WORD_IN_DESCRIPTION + HINT_IN_HINTS + WORD_IN_NAME);
        assert_eq!(score(&request, WRITER), 0);
    }

    #[test]
    fn a_plural_is_the_same_word_and_stop_words_do_not_count() {
        assert_eq!(score(&SubtaskRequest::new("defect of the files"), REVIEWER), 2 * WORD_IN_DESCRIPTION);
    }

    #[test]
    fn an_error_names_workers_with_the_same_score() {
        let error = best(&[("a", 3), ("b", 1), ("c", 3)]).unwrap_err();
        assert!(error.contains("`a`, `c` have the same score (3 points each)"), "{error}");
        assert_eq!(best(&[("a", 3), ("b", 1)]), Ok("a"));
        assert!(best(&[("a", 0), ("b", 0)]).unwrap_err().contains("add a hint that matches a worker: `a`, `b`"));
    }
}
