//! Learning.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::answers::{Choice, choices, pointer, put};
use crate::case::Example;
use crate::crossfit::{FOLDS, Fitted, fit, folds};
use crate::error::LearnError;
use crate::evidence::{Evidence, LabelEvidence};
use crate::fields::{Kind, LeftOut, kinds};
use crate::file::{MAX_FILE, ROOM};
use crate::learned::Learned;
use crate::part::{Part, best, surprise};
use crate::short::Short;
use crate::threshold::{Judged, Promise, Threshold};

/// Learns decisions.
///
/// # Examples
///
/// ```
/// use llm_do_learn::{Example, Learner};
/// use serde_json::json;
///
/// let words = ["refund", "parcel"];
/// let case = |at: usize| Example {
///     input: json!({ "message": format!("a question {at} about my {}", words[at % 2]) }),
///     output: json!(words[at % 2]),
///     is_contradicted: false,
/// };
/// let cases: Vec<_> = (0..200).map(case).collect();
/// let learned = Learner::new().bound(0.05).learn("topic", &cases)?;
/// let decision = learned.decide(&json!({ "message": "a question about my refund" }));
/// assert_eq!(decision, Ok(json!("refund")));
/// assert!(learned.decide(&json!({ "message": "is it raining" })).is_err());
/// # Ok::<(), llm_do_learn::LearnError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Learner {
    promise: Promise,
    /// The argument that names what a case is about.
    subject: Option<String>,
}

impl Default for Learner {
    fn default() -> Self {
        Self { promise: Promise { bound: 0.05, confidence: 0.95, minimum_share: 0.3 }, subject: None }
    }
}

impl Learner {
    /// Returns a learner with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the share of answers that may be wrong. Default: 0.05.
    pub fn bound(mut self, share: f64) -> Self {
        self.promise.bound = share;
        self
    }

    /// Sets the confidence with which that holds. Default: 0.95.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.promise.confidence = confidence;
        self
    }

    /// Sets the share of cases that is to be answered at least. Default: 0.3.
    pub fn minimum_share(mut self, share: f64) -> Self {
        self.promise.minimum_share = share;
        self
    }

    /// Sets the argument that names what a case is about, such as a customer. Default: none.
    ///
    /// Nothing is learned from it, and a case is judged by a model that has not seen any case of its subject.
    pub fn subject(mut self, argument: impl Into<String>) -> Self {
        self.subject = Some(argument.into());
        self
    }

    /// Learns from cases, whose inputs are distinct, in the order in which they were recorded.
    ///
    /// The name is that of the file and of the tool.
    ///
    /// # Errors
    ///
    /// Returns why nothing was learned: see [`LearnError`].
    pub fn learn(&self, name: &str, cases: &[Example]) -> Result<Learned, LearnError> {
        self.check()?;
        self.promise.check_number(cases.len())?;
        let choices = choices(cases)?;
        let open: Vec<_> = choices.iter().filter(|choice| choice.values.len() > 1).collect();
        if open.is_empty() {
            return Err(LearnError::Same { cases: cases.len() as u64, output: cases[0].output.to_string() });
        }
        let kinds = self.kinds(cases);
        let left_out = left_out(&kinds);
        let folds = folds(&kinds, self.subject.as_deref(), cases);
        if folds.iter().all(|fold| *fold == folds[0]) {
            return Err(LearnError::NoFeatures { left_out });
        }
        let fitted = fit(&kinds, cases, &folds, &open, ROOM);
        let sharpness: Vec<_> = open.iter().zip(&fitted).map(|(choice, fitted)| sharpness(choice, fitted)).collect();
        let answers: Vec<_> = (0..cases.len()).map(|case| Answer::of(case, &open, &fitted, &sharpness)).collect();
        let judged: Vec<_> = cases.iter().zip(&answers).map(|(case, answer)| answer.judged(case)).collect();
        let threshold = self.promise.threshold(&judged)?;
        let evidence = self.evidence(cases, &open, &answers, threshold, left_out);
        let parts = open.iter().zip(fitted).zip(sharpness);
        let parts = parts.map(|((choice, fitted), sharpness)| part(choice, fitted, sharpness)).collect();
        let constant = constant(&choices);
        let (name, signature) = (name.to_owned(), Value::Null);
        let learned = Learned { name, signature, evidence, threshold: threshold.confidence, constant, parts };
        let bytes = learned.to_text().len();
        if bytes > MAX_FILE {
            return Err(LearnError::TooLarge { bytes, max: MAX_FILE });
        }
        Ok(learned)
    }

    /// Returns a decision of few rules that a person can read, if one answers nearly as much as what was learned from the same cases: a
    /// tree of depth 3, or a list of ten words or other conditions.
    ///
    /// `None` for outputs that are objects; its conditions are on values at the top of the inputs.
    #[must_use]
    pub fn short(&self, learned: &Learned, cases: &[Example]) -> Option<Short> {
        let choices = choices(cases).ok()?;
        let kinds = self.kinds(cases);
        let [choice] = &choices[..] else { return None };
        let folds = folds(&kinds, self.subject.as_deref(), cases);
        Short::find(self.promise, &kinds, (cases, &folds), choice, learned.evidence())
    }

    fn kinds(&self, cases: &[Example]) -> BTreeMap<String, Kind> {
        let mut kinds = kinds(cases.iter().map(|case| &case.input));
        let subject = self.subject.as_ref().and_then(|subject| kinds.get_mut(&format!("/{subject}")));
        if let Some(kind) = subject {
            *kind = Kind::LeftOut("it names what a case is about");
        }
        kinds
    }

    fn check(&self) -> Result<(), LearnError> {
        let Promise { bound, confidence, minimum_share } = self.promise;
        let settings = [("share of wrong answers", bound), ("confidence", confidence)];
        for (name, value) in settings {
            if !(value > 0.0 && value < 1.0) {
                return Err(LearnError::Setting(format!("the {name} is {value}; it lies between 0 and 1")));
            }
        }
        if !(0.0..=1.0).contains(&minimum_share) {
            let fault = format!("the minimum share of answered cases is {minimum_share}; it is from 0 to 1");
            return Err(LearnError::Setting(fault));
        }
        Ok(())
    }

    fn evidence(
        &self,
        cases: &[Example],
        open: &[&Choice],
        answers: &[Answer],
        threshold: Threshold,
        left_out: Vec<LeftOut>,
    ) -> Evidence {
        let labels =
            open.iter().enumerate().flat_map(|(part, choice)| label_evidence(part, choice, answers, threshold));
        Evidence {
            bound: self.promise.bound,
            confidence: self.promise.confidence,
            cases: cases.len() as u64,
            answered: threshold.answered,
            wrong: threshold.wrong,
            at_most: threshold.at_most,
            contradicted: cases.iter().filter(|case| case.is_contradicted).count() as u64,
            models: FOLDS as u64,
            labels: labels.collect(),
            left_out,
        }
    }
}

/// The answer to a case by models that have not seen it.
struct Answer {
    /// The lowest confidence of a part; `None` if it is unlike all cases.
    confidence: Option<f64>,
    /// Whether each part is right.
    right: Vec<bool>,
}

impl Answer {
    fn of(case: usize, open: &[&Choice], fitted: &[Fitted], sharpness: &[f64]) -> Self {
        let mut answer = Self { confidence: Some(1.0), right: Vec::new() };
        for ((choice, fitted), sharpness) in open.iter().zip(fitted).zip(sharpness) {
            let best = fitted.scores[case].as_ref().map(|scores| best(scores, *sharpness));
            answer.right.push(best.is_some_and(|best| best.label == choice.labels[case] as usize));
            let lower = |confidence: f64| best.map(|best| best.confidence.min(confidence));
            answer.confidence = answer.confidence.and_then(lower);
        }
        answer
    }

    fn judged(&self, case: &Example) -> Judged {
        let is_right = !case.is_contradicted && self.right.iter().all(|right| *right);
        Judged { confidence: self.confidence, is_right }
    }

    fn is_given(&self, threshold: Threshold) -> bool {
        self.confidence.is_some_and(|confidence| confidence >= threshold.confidence)
    }
}

/// Returns how fast confidence rises with the score, so that it is the chance to be right.
fn sharpness(choice: &Choice, fitted: &Fitted) -> f64 {
    let surprise = |sharpness: f64| -> f64 {
        let judged = fitted.scores.iter().zip(&choice.labels);
        judged.filter_map(|(scores, label)| Some(surprise(scores.as_ref()?, *label as usize, sharpness))).sum()
    };
    let tried = (2..=20).map(|half| f64::from(half) / 2.0).map(|sharpness| (sharpness, surprise(sharpness)));
    tried.min_by(|left, right| left.1.total_cmp(&right.1)).map_or(1.0, |(sharpness, _)| sharpness)
}

fn left_out(kinds: &BTreeMap<String, Kind>) -> Vec<LeftOut> {
    let left_out = |(field, kind): (&String, &Kind)| match kind {
        Kind::LeftOut(reason) => Some(LeftOut { field: field.clone(), reason: (*reason).to_owned() }),
        _ => None,
    };
    kinds.iter().filter_map(left_out).collect()
}

fn label_evidence(part: usize, choice: &Choice, answers: &[Answer], threshold: Threshold) -> Vec<LabelEvidence> {
    let path = pointer(&choice.path);
    let new = |value: &Option<Value>| LabelEvidence {
        part: path.clone(),
        value: value.clone().unwrap_or_default(),
        cases: 0,
        answered: 0,
        wrong: 0,
    };
    let mut labels: Vec<_> = choice.values.iter().map(new).collect();
    for (answer, label) in answers.iter().zip(&choice.labels) {
        let label = &mut labels[*label as usize];
        label.cases += 1;
        label.answered += u64::from(answer.is_given(threshold));
        label.wrong += u64::from(answer.is_given(threshold) && !answer.right[part]);
    }
    labels
}

fn part(choice: &Choice, fitted: Fitted, sharpness: f64) -> Part {
    let model = fitted.model;
    let (encoder, weights) = (model.encoder, model.weights);
    Part { path: choice.path.clone(), values: choice.values.clone(), encoder, weights, sharpness }
}

/// Returns the output without the parts that differ between cases.
fn constant(choices: &[Choice]) -> Value {
    let mut constant = Value::Null;
    for choice in choices {
        match &choice.values[..] {
            [value] => put(&mut constant, &choice.path, value.clone()),
            _ => put_object(&mut constant, &choice.path),
        }
    }
    constant
}

/// Puts the object in place that a part will be in.
fn put_object(constant: &mut Value, path: &[String]) {
    if let Some((_, object)) = path.split_last() {
        let mut at = &mut *constant;
        for name in object {
            if !at.is_object() {
                *at = Value::Object(serde_json::Map::new());
            }
            at = &mut at[name.as_str()];
        }
        if !at.is_object() {
            *at = Value::Object(serde_json::Map::new());
        }
    }
}
