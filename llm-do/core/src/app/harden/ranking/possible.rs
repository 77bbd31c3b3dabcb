//! Estimates the share of a worker's calls that code could answer: with the answer to the most similar earlier call.

use std::collections::VecDeque;

use serde_json::Value;

use super::super::{Gate, Summary};
use crate::observe::event::Outcome;
use crate::observe::journal::{digest, digest_of_text};

/// The number of latest calls of a worker that count.
const LATEST: usize = 1_000;
/// The maximum number of words of an input that count.
const WORDS: usize = 500;

/// The latest calls of a worker.
#[derive(Debug, Default)]
pub(super) struct Latest(VecDeque<Answered>);

/// A call with its result.
#[derive(Debug)]
struct Answered {
    /// The digests of the words of its input, sorted, each once.
    words: Vec<u64>,
    /// The digest of its result.
    answer: String,
}

impl Latest {
    /// Adds a call; one that failed has no answer.
    pub(super) fn add(&mut self, input: &Value, outcome: &Outcome) {
        let Outcome::Result(result) = outcome else { return };
        let mut words = Vec::new();
        add_words(input, &mut words);
        words.truncate(WORDS);
        words.sort_unstable();
        words.dedup();
        self.push(Answered { words, answer: digest(&result.value()) });
    }

    /// Adds the calls of another journal.
    pub(super) fn extend(&mut self, other: Self) {
        other.0.into_iter().for_each(|answered| self.push(answered));
    }

    fn push(&mut self, answered: Answered) {
        if self.0.len() == LATEST {
            self.0.pop_front();
        }
        self.0.push_back(answered);
    }

    /// Returns the share of calls for which the answer to the most similar earlier call passes the gate: those at least as similar as a
    /// threshold, the lowest that passes. A candidate may do better; it is an estimate, to compare workers.
    pub(super) fn share(&self, gate: &Gate) -> f64 {
        let mut guesses: Vec<_> = (1..self.0.len()).filter_map(|at| self.guess(at)).collect();
        guesses.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut best = 0.0;
        let mut summary = Summary { of: self.0.len(), unsure: self.0.len(), ..Summary::default() };
        for (at, (similarity, agrees)) in guesses.iter().enumerate() {
            summary.unsure -= 1;
            summary.agree += usize::from(*agrees);
            let is_last_of_equal = guesses.get(at + 1).is_none_or(|next| next.0 < *similarity);
            if is_last_of_equal {
                let judgment = gate.judge(&summary);
                best = if judgment.is_accepted() { judgment.coverage } else { best };
            }
        }
        best
    }

    /// Returns how similar the most similar earlier call is, and whether its answer is the same.
    fn guess(&self, at: usize) -> Option<(f64, bool)> {
        let own = self.0.get(at)?;
        let earlier = self.0.iter().take(at);
        let similar = earlier.map(|other| (similarity(&own.words, &other.words), other.answer == own.answer));
        // Of equally similar ones, the latest.
        similar.max_by(|one, other| one.0.total_cmp(&other.0))
    }
}

/// Returns the share of common words.
#[expect(clippy::cast_precision_loss, reason = "there are few words")]
fn similarity(one: &[u64], other: &[u64]) -> f64 {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    match one.len() + other.len() - common {
        0 => 1.0,
        all => common as f64 / all as f64,
    }
}

/// Adds the words of all texts in a value, and its other scalars.
fn add_words(value: &Value, words: &mut Vec<u64>) {
    match value {
        Value::String(text) => {
            let parts = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
            words.extend(parts.take(WORDS).map(|word| number(&digest_of_text(&word.to_lowercase()))));
        }
        Value::Array(items) => items.iter().for_each(|item| add_words(item, words)),
        Value::Object(fields) => fields.values().for_each(|field| add_words(field, words)),
        scalar => words.push(number(&digest(scalar))),
    }
}

/// Returns a digest as a number.
fn number(digest: &str) -> u64 {
    u64::from_str_radix(digest, 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Gate, Latest};
    use crate::observe::event::Outcome;

    fn share(calls: impl IntoIterator<Item = (Value, Value)>) -> f64 {
        let mut latest = Latest::default();
        calls.into_iter().for_each(|(input, answer)| latest.add(&input, &Outcome::Result(answer.into())));
        latest.share(&Gate::new())
    }

    #[test]
    fn inputs_like_earlier_ones_could_be_answered() {
        let topics = ["the invoice of march is wrong", "the page does not load", "please delete my account"];
        let call = |at: usize| (json!({ "text": format!("{} {at}", topics[at % 3]) }), json!(at % 3));
        assert!(share((0..300).map(call)) > 0.9);
    }

    #[test]
    fn answers_that_do_not_follow_from_the_input_could_not() {
        let call = |at: usize| (json!({ "text": format!("question number {at}") }), json!(at * 7919 % 5));
        assert!(share((0..300).map(call)) < f64::EPSILON);
        let call = |at: usize| (json!({ "text": "always the same" }), json!(format!("text {at}")));
        assert!(share((0..300).map(call)) < f64::EPSILON);
    }

    #[test]
    fn few_calls_show_nothing() {
        assert!(share((0..40).map(|_| (json!("same"), json!("same")))) < f64::EPSILON);
        assert!(share([]) < f64::EPSILON);
    }
}
