//! Refines the result of a worker: an evaluator scores it, its reasons go back to the model, and the best result stands.

use std::fmt::Write;
use std::sync::Arc;

use llm_do_providers::{Attachment, Transcript};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::turn::{Step, Turns};
use super::{SavedTurns, WorkerRun};
use crate::base::error::{CallError, chain};
use crate::declare::refine::Assessment;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::declared::Callee;

/// The argument of an evaluator that is the result.
pub(crate) const RESULT: &str = "result";
/// The score of a result about which the evaluator is unsure: it stands.
const STANDS: f64 = f64::INFINITY;

/// The evaluator of a worker.
#[derive(Debug)]
pub(crate) struct Refinement {
    pub(crate) evaluator: String,
    /// How many results there are at most.
    pub(crate) at_most: u32,
    /// The score from which on a result is accepted without another one.
    pub(crate) accept: f64,
    pub(crate) takes: Takes,
}

/// The arguments of an evaluator.
#[derive(Debug)]
pub(crate) enum Takes {
    /// A prompt: the arguments of the worker and the result, as JSON.
    Prompt,
    /// The result, and the arguments of the worker with these names.
    Arguments(Vec<String>),
}

/// A result, for its evaluator.
struct Scoring<'a> {
    value: &'a Value,
    /// Its 1-based number.
    number: u32,
    /// Whether the worker may give another one.
    may_repeat: bool,
}

/// The score of a result.
#[derive(Debug)]
struct Scored {
    score: f64,
    /// What the worker is asked, if it has to give another result.
    again: Option<String>,
}

/// A result that was scored.
#[derive(Clone, Debug)]
struct Best {
    score: f64,
    returned: ToolReturn,
    /// The messages up to it.
    messages: Arc<Transcript>,
}

/// The results of a call that were scored since a message to the run joined.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    count: u32,
    best: Option<Box<Best>>,
    /// The number of times that messages had joined.
    joined: u32,
    /// How many of the files that the model created are of earlier results.
    earlier_files: usize,
    /// The files of the last result.
    files: Vec<Attachment>,
}

/// An answer of code that was not accepted, from which the worker continues.
#[derive(Debug)]
pub(crate) struct AnswerOfCode {
    score: f64,
    returned: ToolReturn,
    /// The answer as the model would write it.
    text: String,
    /// What the worker is asked.
    again: String,
}

impl Refinement {
    /// Scores the answer of code; returns it with its score if the worker has to give another one.
    pub(crate) async fn score_code(
        &self,
        ctx: &CallContext,
        returned: &ToolReturn,
        text: &str,
    ) -> Result<Option<Box<AnswerOfCode>>, CallError> {
        let scoring = Scoring { value: returned.value(), number: 1, may_repeat: self.at_most > 1 };
        let Scored { score, again } = self.score(ctx, scoring).await?;
        let answer = |again| AnswerOfCode { score, returned: returned.clone(), text: text.to_owned(), again };
        Ok(again.map(answer).map(Box::new))
    }

    /// Has the evaluator score a result, as a call of the worker. An evaluator that is unsure lets the result stand.
    async fn score(&self, ctx: &CallContext, scoring: Scoring<'_>) -> Result<Scored, CallError> {
        let Scoring { value, number, may_repeat } = scoring;
        let given = GivenArguments::Value(self.arguments(ctx, value));
        let (score, reasons) = match ctx.dispatch(Callee::Implied(&self.evaluator), given, Caller::Code).await {
            Ok(returned) => {
                let Assessment { score, reasons } = self.read(returned.value())?;
                (Some(score), reasons)
            }
            // An evaluator that is planned in a dry run scores nothing either.
            Err(error) if error.is_unsure() || error.is_dry_run() => (None, vec![chain(&error)]),
            Err(error) => return Err(error),
        };
        let again = score.filter(|score| *score < self.accept && may_repeat).map(|score| self.asks(score, &reasons));
        ctx.emit(|| EventKind::Scored {
            evaluator: self.evaluator.clone(),
            result: number,
            score,
            reasons,
            again: again.is_some(),
        });
        Ok(Scored { score: score.unwrap_or(STANDS), again })
    }

    /// Returns the arguments of the evaluator.
    fn arguments(&self, ctx: &CallContext, result: &Value) -> Value {
        let own = ctx.frame().arguments.get().map_or(&Value::Null, AsRef::as_ref);
        match &self.takes {
            Takes::Prompt => json!({ "input": json!({ "arguments": own, "result": result }).to_string() }),
            Takes::Arguments(names) => {
                let passed = names.iter().filter_map(|name| Some((name.clone(), own.get(name)?.clone())));
                let mut arguments: Map<_, _> = passed.collect();
                arguments.insert(RESULT.to_owned(), result.clone());
                arguments.into()
            }
        }
    }

    fn read(&self, value: &Value) -> Result<Assessment, CallError> {
        let failed = |text: String| CallError::Failed { tool: self.evaluator.clone(), source: text.into() };
        let read = Assessment::deserialize(value);
        let assessment = read.map_err(|error| {
            failed(format!("its result is not a `score` from 0 to 1 with a list of `reasons`: {error}"))
        })?;
        if (0.0..=1.0).contains(&assessment.score) {
            return Ok(assessment);
        }
        Err(failed(format!("its score is {}; expected one from 0 to 1", assessment.score)))
    }

    /// Returns what the worker is asked after a result that is not accepted.
    fn asks(&self, score: f64, reasons: &[String]) -> String {
        let mut text = format!("The result has the score {score} of 1, and needs at least {}.", self.accept);
        for reason in reasons {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n- {reason}");
        }
        text + "\nReturn a better result, as a whole."
    }
}

impl Attempts {
    /// Begins after the messages to the run that have joined: earlier results do not answer them.
    fn begin(&mut self, turns: &Turns) {
        if self.joined != turns.joined() {
            *self = Self { joined: turns.joined(), earlier_files: self.earlier_files, ..Self::default() };
        }
    }

    /// Adds a result; of several with the best score, the last counts.
    fn add(&mut self, score: f64, returned: ToolReturn, turns: &Turns) {
        self.count += 1;
        if self.best.as_ref().is_none_or(|best| score >= best.score) {
            self.best = Some(Box::new(Best { score, returned, messages: Arc::clone(turns.messages()) }));
        }
    }

    /// Returns the files of the last result: those that it created, or else those of the result before.
    fn files_of(&mut self, turns: &Turns) -> Vec<Attachment> {
        let new = turns.files().get(self.earlier_files..).unwrap_or_default();
        if !new.is_empty() {
            self.files = new.to_vec();
            self.earlier_files = turns.files().len();
        }
        self.files.clone()
    }
}

impl SavedTurns {
    /// Returns the best result, if any was scored since a message joined; the conversation then ends with it.
    pub(super) fn best(&mut self) -> Option<ToolReturn> {
        if self.attempts.joined != self.turns.joined() {
            return None;
        }
        let Best { returned, messages, .. } = *self.attempts.best.take()?;
        self.turns.return_to(&messages);
        Some(returned)
    }
}

impl WorkerRun {
    /// Continues from the answer of code, if there is one that was not accepted.
    pub(super) fn continue_from_code(&self, turns: &mut Turns, attempts: &mut Attempts) {
        let Some(AnswerOfCode { score, returned, text, again }) = self.answer_of_code.as_deref() else { return };
        turns.add_answer(text.clone());
        attempts.add(*score, returned.clone(), turns);
        turns.refine(again.clone());
    }

    /// Scores the result of the last answer; if it is not accepted, the model is asked for a better one.
    pub(super) async fn score(&self, turns: &mut Turns, attempts: &mut Attempts) -> Result<(), CallError> {
        let (Some(refinement), Step::Done(value)) = (&self.refinement, turns.step()) else { return Ok(()) };
        // The results of its calls in the background come first.
        if self.awaits_results() && turns.takes_messages() {
            return Ok(());
        }
        attempts.begin(turns);
        let (number, value) = (attempts.count + 1, value.clone());
        let may_repeat = number < refinement.at_most && turns.takes_messages();
        let scored = refinement.score(&self.ctx, Scoring { value: &value, number, may_repeat }).await?;
        let returned = ToolReturn { attachments: attempts.files_of(turns), ..value.into() };
        attempts.add(scored.score, returned, turns);
        if let Some(again) = scored.again {
            turns.refine(again);
        }
        Ok(())
    }
}
