//! Learns a decision in place of a worker from its recorded cases, without a model.

#[cfg(feature = "script")]
mod few;
mod report;

use std::sync::Arc;
use std::time::Instant;

use llm_do_learn::{Evidence, Example, Learned};
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

pub use self::report::{FewRules, LearnReport};
use super::signature::parameters;
use super::subject::identifier_of;
use super::{Cases, Gate, Judgment, Summary};
use crate::base::agreement::Agreement;
use crate::base::error::BoxError;
use crate::observe::event::{ItemKind, Outcome};
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// Learns a decision in place of a worker from its recorded cases, without a model.
///
/// The worker's results are choices: an enum, a flag, a small set of texts, an optional one of these, or an object of these, which is
/// answered as a whole or not at all. [The module](https://docs.rs/llm-do/latest/llm_do/harden/index.html#learned-decisions) describes what is learned, and how it is calibrated.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::harden::{Cases, Learner};
/// use llm_do::json;
/// use llm_do::prelude::*;
///
/// /// Say whether a message is urgent.
/// #[worker]
/// async fn urgent(message: String) -> bool;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// // Usually, cases are read from journals: see `Cases::add_file`.
/// let mut cases = Cases::of("urgent");
/// for at in 0..120 {
///     let (subject, when) = (["mail", "call", "form", "note"][at % 4], ["now", "soon", "today", "later"][at / 4 % 4]);
///     let message = format!("{subject} {at}: please answer {when}");
///     cases.label(json!({ "message": message }), json!(when == "now"));
/// }
/// let proposal = Learner::new("urgent").learn(Runtime::builder(), &cases).await?;
/// assert!(proposal.report.judgment.is_accepted());
/// println!("{}", proposal.report);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Learner {
    worker: String,
    name: Option<String>,
    gate: Gate,
}

/// A learned decision, with its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearnedProposal {
    /// The text of the file `NAME.learned.json`: see [`LearnedTool`](crate::plane::function_tool::LearnedTool).
    pub file: String,
    /// The text of a script that decides by few rules, if these are nearly as good; needs the feature `script`.
    pub script: Option<String>,
    /// The report.
    pub report: LearnReport,
}

/// Why nothing was learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The worker is not in the registry.
    #[error("unknown worker `{worker}`{hint}")]
    UnknownWorker {
        /// The name.
        worker: String,
        /// A suggestion that begins with `; `, or an empty text.
        hint: String,
    },
    /// The name is already the name of a tool or an entry.
    #[error("`{name}` is not a worker: only from the cases of a worker is learned")]
    NotAWorker {
        /// The name.
        name: String,
    },
    /// The cases do not show what the gate asks for, or the results are not choices.
    #[error("nothing was learned in place of `{worker}`")]
    Refused {
        /// The worker's name.
        worker: String,
        /// The reason, with what to do.
        source: BoxError,
    },
    /// The session cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// The cases of a worker, as they are learned from.
#[derive(Debug, Default)]
struct Labelled {
    examples: Vec<Example>,
    /// The number of inputs to which the worker gave results that do not agree.
    contradicting: usize,
    /// The number of inputs without a result, since the worker always failed.
    worker_failed: usize,
    /// The argument that names what cases are about.
    subject: Option<String>,
}

impl Learner {
    /// Creates a learner for the worker with this registered name.
    pub fn new(worker: impl Into<String>) -> Self {
        Self { worker: worker.into(), name: None, gate: Gate::new() }
    }

    /// Sets the name of the tool and of its file. Default: the name of the worker, for the tool with `_learned`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Sets what the evidence must show: the threshold of confidence is the lowest at which it does. Default: [`Gate::new`].
    pub fn gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// Learns, and returns what was learned with its report. It computes on all processors, for up to a minute.
    ///
    /// The builder has the worker; its journal and its shadows are not used.
    ///
    /// # Errors
    ///
    /// Returns why nothing was learned.
    pub async fn learn(&self, mut builder: RuntimeBuilder, cases: &Cases) -> Result<LearnedProposal, LearnError> {
        let registry = builder.collect()?;
        self.learn_on(builder, registry, cases).await
    }

    /// Returns the name of the file, without `.learned.json`.
    #[doc(hidden)]
    #[must_use]
    pub fn file_stem(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.worker)
    }

    fn tool_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{}_learned", self.worker))
    }

    /// Learns with a registry that was collected from the builder.
    #[doc(hidden)]
    #[cfg_attr(not(feature = "script"), expect(clippy::unused_async, reason = "with the feature, a script runs"))]
    pub async fn learn_on(
        &self,
        builder: RuntimeBuilder,
        registry: Registry,
        cases: &Cases,
    ) -> Result<LearnedProposal, LearnError> {
        let worker = Arc::clone(self.worker_in(&registry)?);
        let recorded = cases.calls(builder.price_table());
        let labelled = Labelled::new(cases);
        let began = Instant::now();
        let (search, learned) = self.decision(&worker, &labelled)?;
        let seconds = began.elapsed().as_secs_f64();
        #[cfg(feature = "script")]
        let few = self.few_rules(&search, &learned, &labelled, (&worker, &registry, builder)).await;
        #[cfg(not(feature = "script"))]
        let few = {
            drop((search, registry, builder));
            None::<(FewRules, String)>
        };
        let (few, script) = few.unzip();
        let name = self.tool_name();
        let report = LearnReport {
            worker: self.worker.clone(),
            file: format!("{}.learned.json", self.file_stem()),
            judgment: judgment(self.gate, learned.evidence()),
            notes: labelled.notes(learned.evidence()),
            contradicting: labelled.contradicting,
            worker_failed: labelled.worker_failed,
            seconds,
            few,
            recorded,
            next: report::next(&self.worker, self.file_stem(), &name),
            name,
        };
        Ok(LearnedProposal { file: learned.to_text(), script, report })
    }

    fn worker_in<'a>(&self, registry: &'a Registry) -> Result<&'a Arc<Registered>, LearnError> {
        let worker = registry.get(&self.worker).ok_or_else(|| {
            let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
            let hint = did_you_mean(&self.worker, workers.map(|item| item.name()));
            LearnError::UnknownWorker { worker: self.worker.clone(), hint }
        })?;
        match worker.kind() {
            ItemKind::Worker => Ok(worker),
            _ => Err(LearnError::NotAWorker { name: self.worker.clone() }),
        }
    }

    /// Learns from the cases; also returns with which settings.
    fn decision(
        &self,
        worker: &Registered,
        labelled: &Labelled,
    ) -> Result<(llm_do_learn::Learner, Learned), LearnError> {
        let [agreement, confidence, coverage] = self.gate.shares();
        // Of decimals, so that an agreement of 0.98 allows 0.02.
        let bound = ((1.0 - agreement) * 1e9).round() / 1e9;
        let mut search = llm_do_learn::Learner::new().bound(bound).confidence(confidence).minimum_share(coverage);
        if let Some(subject) = &labelled.subject {
            search = search.subject(subject);
        }
        let refused =
            |error: llm_do_learn::LearnError| LearnError::Refused { worker: self.worker.clone(), source: error.into() };
        let learned = search.learn(&self.tool_name(), &labelled.examples).map_err(refused)?;
        let signature = json!({
            "description": worker.description(),
            "parameters": parameters(worker),
            "output": worker.output(),
        });
        Ok((search, learned.with_signature(signature)))
    }
}

impl Labelled {
    fn new(cases: &Cases) -> Self {
        let mut labelled = Self { subject: identifier_of(cases), ..Self::default() };
        let agreement = Agreement::new();
        for case in cases {
            let mut results = case.answers.iter().filter_map(|answer| result(&answer.outcome));
            let Some(output) = case.answer().and_then(|answer| result(&answer.outcome)) else {
                labelled.worker_failed += 1;
                continue;
            };
            let is_contradicted = results.any(|other| !agreement.holds(&output, &other));
            labelled.contradicting += usize::from(is_contradicted);
            labelled.examples.push(Example { input: case.input.clone(), output, is_contradicted });
        }
        labelled
    }

    /// Returns the limits of the evidence.
    fn notes(&self, evidence: &Evidence) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(field) = &self.subject {
            notes.push(format!("each case was judged by what was learned without any case of the same `{field}`."));
        }
        for left_out in &evidence.left_out {
            notes.push(format!("nothing is learned from `{}`: {}.", left_out.field, left_out.reason));
        }
        if self.contradicting > 0 {
            let inputs =
                if self.contradicting == 1 { "1 input".to_owned() } else { format!("{} inputs", self.contradicting) };
            notes.push(format!(
                "the worker gave several results to {inputs}: an answer to one counts as a disagreement."
            ));
        }
        notes
    }
}

fn result(outcome: &Outcome) -> Option<Value> {
    match outcome {
        Outcome::Result(value) => Some(value.value().into_owned()),
        Outcome::Error(_) => None,
    }
}

/// Judges by the cases, each answered by what was learned without it.
fn judgment(gate: Gate, evidence: &Evidence) -> Judgment {
    let count = |cases: u64| usize::try_from(cases).unwrap_or(usize::MAX);
    let (agree, of) = (count(evidence.answered - evidence.wrong), count(evidence.cases));
    gate.judge(&Summary { agree, of, unsure: of - count(evidence.answered), ..Summary::default() })
}
