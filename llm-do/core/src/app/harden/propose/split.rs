//! Splits cases by a fixed rule into shown, selecting and held-back ones.

mod runs;

use serde::Serialize;
use serde_json::Value;

pub(super) use self::runs::RunSplit;
use super::super::subject::identifier_of;
use super::super::{Answer, Case, Cases};
use crate::base::agreement::Agreement;
use crate::observe::event::Outcome;
use crate::observe::journal::digest;

/// The number of cases of ten that the model sees.
const SHOWN: u32 = 4;
/// The number of cases of ten that select among scripts.
const SELECTING: u32 = 3;

/// The cases of a worker, by their purpose.
#[derive(Debug, Default)]
pub(super) struct Split<'a> {
    /// The cases that the model sees.
    pub(super) shown: Vec<&'a Case>,
    /// The cases that select among scripts; the model does not see them.
    pub(super) selecting: Vec<&'a Case>,
    /// The unseen cases that measure the chosen script.
    pub(super) held_back: Vec<&'a Case>,
    pub(super) contradicting: Vec<Contradiction>,
    /// Those of the contradicting inputs that would be held back: no answer to them can agree.
    pub(super) contradicting_held_back: Vec<&'a Case>,
    /// The field of the inputs that names what they are about: cases with the same value are in one part.
    pub(super) identifier: Option<String>,
    /// The number of cases without a result, since the worker always failed.
    pub(super) worker_failed: usize,
}

/// An input with contradicting results of the worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Contradiction {
    /// The arguments.
    pub input: Value,
    /// The answers.
    pub answers: Vec<Answer>,
}

impl<'a> Split<'a> {
    pub(super) fn new(cases: &'a Cases, agreement: &Agreement) -> Self {
        let identifier = identifier_of(cases);
        let mut split = Self { identifier: identifier.clone(), ..Self::default() };
        for case in cases {
            let place = tenth(identifier.as_ref().and_then(|field| case.input.get(field)).unwrap_or(&case.input));
            let results: Vec<_> = case.answers.iter().filter_map(|answer| result(&answer.outcome)).collect();
            let Some((first, rest)) = results.split_first() else {
                split.worker_failed += 1;
                continue;
            };
            if !rest.iter().all(|other| agreement.holds(first, other)) {
                split.contradicting.push(Contradiction { input: case.input.clone(), answers: case.answers.clone() });
                if place >= SHOWN + SELECTING {
                    split.contradicting_held_back.push(case);
                }
                continue;
            }
            match place {
                place if place < SHOWN => split.shown.push(case),
                place if place < SHOWN + SELECTING => split.selecting.push(case),
                _ => split.held_back.push(case),
            }
        }
        split
    }
}

fn result(outcome: &Outcome) -> Option<Value> {
    match outcome {
        Outcome::Result(value) => Some(value.value().into_owned()),
        Outcome::Error(_) => None,
    }
}

/// Returns the place of a case among ten, from the digest of its input or of its identifier, so that it does not change when cases are
/// added.
fn tenth(input: &Value) -> u32 {
    digest(input).chars().filter_map(|letter| letter.to_digit(16)).fold(0, |rest, digit| (rest * 16 + digit) % 10)
}
