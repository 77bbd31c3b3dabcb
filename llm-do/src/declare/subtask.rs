//! Which worker a task is for, by what they say they are good for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::declare::nesting;

/// What a word counts that is in a hint of the request and in one of the worker.
const HINT_IN_HINTS: u32 = 4;
/// What a word of the description counts that is in a hint of the worker.
const WORD_IN_HINTS: u32 = 3;
/// What a word of the request counts that is in the worker's name.
const WORD_IN_NAME: u32 = 2;
/// What a word of the request counts that is in the worker's description.
const WORD_IN_DESCRIPTION: u32 = 1;

/// Words that say nothing of a task.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "that",
    "the", "this", "to", "with",
];

/// A task for whichever worker is good for it: see [`CallContext::subtask`](crate::CallContext::subtask).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct SubtaskRequest {
    description: String,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    hints: Vec<String>,
    /// Why an input is not taken.
    #[serde(skip)]
    fault: Option<String>,
}

impl SubtaskRequest {
    /// Describes a task, in words that a worker for it would use of itself.
    pub fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), ..Self::default() }
    }

    /// Adds an input. Default: none.
    ///
    /// A subtask with an input that is nested deeper than 128 levels fails with
    /// [`CallError::NoWorker`](crate::CallError::NoWorker).
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let name = name.into();
        match nesting::shallow(value.into()) {
            Ok(value) => drop(self.inputs.insert(name, value)),
            Err(fault) => self.fault = Some(format!("the input `{name}`: {fault}")),
        }
        self
    }

    /// Returns why no worker can take it, if an input is not taken.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Says which worker is meant, in words of its `hints`. Default: nothing.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the arguments for a worker: the inputs, for one that takes them, or else one prompt of all.
    pub(crate) fn forms(&self) -> [Value; 2] {
        let inputs = Value::Object(self.inputs.clone());
        let mut input = self.description.clone();
        if !self.inputs.is_empty() {
            input = format!("{input}\n\n{inputs:#}");
        }
        [inputs, serde_json::json!({ "input": input })]
    }
}

/// A worker that may be good for a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) hints: &'a [&'a str],
}

/// Says how good a worker is for a task; 0 is not at all.
///
/// Each word of the task counts once for each of the ways below in which the worker has it.
pub(crate) fn score(request: &SubtaskRequest, worker: Candidate<'_>) -> u32 {
    let asked = words(&request.hints);
    let described = words([&request.description]);
    let all: BTreeSet<_> = asked.union(&described).cloned().collect();
    let good_for = words(worker.hints);
    let shared = |left: &BTreeSet<String>, right: &BTreeSet<String>| {
        u32::try_from(left.intersection(right).count()).unwrap_or(u32::MAX)
    };
    HINT_IN_HINTS * shared(&asked, &good_for)
        + WORD_IN_HINTS * shared(&described, &good_for)
        + WORD_IN_NAME * shared(&all, &words([worker.name]))
        + WORD_IN_DESCRIPTION * shared(&all, &words([worker.description]))
}

/// Returns the best of the scored, or says why there is none: nobody fits, or several fit as well.
pub(crate) fn best<'a>(scored: &[(&'a str, u32)]) -> Result<&'a str, String> {
    let top = scored.iter().map(|(_, score)| *score).max().unwrap_or(0);
    let best: Vec<_> = scored.iter().filter(|(_, score)| *score == top).map(|(name, _)| *name).collect();
    match best.as_slice() {
        [] => Err("there is no worker to call that takes its inputs".to_owned()),
        names if top == 0 => Err(format!("none of the workers has a word of it: {}", list(names))),
        [only] => Ok(only),
        names => Err(format!("{} fit equally well ({top} points each); add a hint that only one has", list(names))),
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the words of texts: letters and digits, in lower case, a plural `s` left out, without what says nothing.
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
    fn a_word_counts_for_each_way_in_which_a_worker_has_it() {
        let request = SubtaskRequest::new("Review this file").hint("code");
        // `review` and `file` in the description, `code` in the hints and in the name.
        assert_eq!(score(&request, REVIEWER), 2 * WORD_IN_DESCRIPTION + HINT_IN_HINTS + WORD_IN_NAME);
        assert_eq!(score(&request, WRITER), 0);
    }

    #[test]
    fn a_plural_is_the_same_word_and_a_stop_word_none() {
        assert_eq!(score(&SubtaskRequest::new("defect of the files"), REVIEWER), 2 * WORD_IN_DESCRIPTION);
    }

    #[test]
    fn workers_that_fit_equally_well_are_named() {
        let error = best(&[("a", 3), ("b", 1), ("c", 3)]).unwrap_err();
        assert!(error.contains("`a`, `c` fit equally well (3 points each)"), "{error}");
        assert_eq!(best(&[("a", 3), ("b", 1)]), Ok("a"));
        assert!(best(&[("a", 0), ("b", 0)]).unwrap_err().contains("none of the workers has a word of it"));
    }
}
