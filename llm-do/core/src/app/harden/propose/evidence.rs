//! What scripts are measured on: the cases of a worker, or the runs of one that orchestrates.

use std::sync::Arc;

use super::super::Verdict;
use super::super::paths::PastRun;
use super::candidate::{self, Scope};
use super::replay::{ChangedResults, Choices, Replay, Replayed, score_of, try_changed};
use super::report::{Parts, PathScore};
use super::request;
use super::score::Score;
use super::split::{RunSplit, Split};
use super::tape::Tape;
use super::{Proposer, Subject};
use crate::base::agreement::Agreement;
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::Runtime;

/// The evidence about a worker, by its purpose.
pub(super) enum Evidence<'a> {
    Cases(Split<'a>),
    Runs(Box<RunEvidence<'a>>),
}

/// Runs, and which texts in their results are choices.
pub(super) struct RunEvidence<'a> {
    split: RunSplit<'a>,
    choices: Choices,
}

/// A part of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Shown,
    Selecting,
    HeldBack,
}

/// A script that can run on the evidence.
pub(super) struct Stage {
    pub(super) runtime: Runtime,
    /// What answers its calls; `None` if its tools run.
    pub(super) tape: Option<Tape>,
}

/// How a script did on a part.
#[derive(Default)]
pub(super) struct Done {
    pub(super) score: Score,
    /// The cases or runs that it should answer and does not, described.
    pub(super) not_agreeing: Vec<String>,
    /// The same for changed results of calls.
    pub(super) changed: ChangedResults,
    /// The score on each path.
    pub(super) paths: Vec<PathScore>,
}

impl<'a> Evidence<'a> {
    /// Returns runs as evidence; the schemas of results are those of the worker's tools.
    pub(super) fn of_runs(split: RunSplit<'a>, worker: &Registered, registry: &Registry) -> Self {
        let tools = candidate::allowed(registry, worker, Scope::Calls);
        let outputs = tools.into_iter().filter_map(|tool| Some((Arc::clone(&tool.name), tool.output()?)));
        let choices = Choices::of(split.all(), outputs);
        Self::Runs(Box::new(RunEvidence { split, choices }))
    }

    pub(super) fn scope(&self) -> Scope {
        match self {
            Self::Cases(_) => Scope::Reads,
            Self::Runs(_) => Scope::Calls,
        }
    }

    pub(super) fn parts(&self) -> Parts {
        match self {
            Self::Cases(Split { shown, selecting, held_back, .. }) => {
                Parts { shown: shown.len(), selecting: selecting.len(), held_back: held_back.len() }
            }
            Self::Runs(runs) => {
                let RunSplit { shown, selecting, held_back, .. } = &runs.split;
                Parts { shown: shown.len(), selecting: selecting.len(), held_back: held_back.len() }
            }
        }
    }

    /// Writes the first request to the model.
    pub(super) fn request(&self, subject: &Subject<'_>) -> String {
        match self {
            Self::Cases(split) => request::first(subject, &split.shown),
            Self::Runs(runs) => request::first_of_runs(subject, &runs.split),
        }
    }

    /// Runs a script on a part. `slow` counts the failures by timeout.
    pub(super) async fn run(&self, stage: &Stage, proposer: &Proposer, part: Part, slow: &mut usize) -> Done {
        let Proposer { name, agreement, .. } = proposer;
        match (self, &stage.tape) {
            (Self::Runs(runs), Some(tape)) => {
                let replay = Replay { runtime: &stage.runtime, tape, name, agreement, split: &runs.split };
                runs.replay(&replay, part, slow).await
            }
            (Self::Cases(split), _) => {
                let cases = match part {
                    Part::Shown => &split.shown,
                    Part::Selecting => &split.selecting,
                    Part::HeldBack => &split.held_back,
                };
                let (score, not_agreeing) = candidate::run(&stage.runtime, name, cases, agreement, slow).await;
                Done { score, not_agreeing: not_agreeing.iter().map(request::describe).collect(), ..Done::default() }
            }
            // A script is built with a tape for runs.
            (Self::Runs(_), None) => Done::default(),
        }
    }

    /// Runs a script on the inputs that would be held back, but to which the worker gave several answers.
    pub(super) async fn run_contradicting(&self, stage: &Stage, name: &str, agreement: &Agreement) -> Score {
        let Self::Cases(split) = self else { return Score::default() };
        candidate::run(&stage.runtime, name, &split.contradicting_held_back, agreement, &mut 0).await.0
    }
}

impl<'a> RunEvidence<'a> {
    pub(super) fn split(&self) -> &RunSplit<'a> {
        &self.split
    }

    async fn replay(&self, replay: &Replay<'_>, part: Part, slow: &mut usize) -> Done {
        let runs = match part {
            Part::Shown => &self.split.shown,
            Part::Selecting => &self.split.selecting,
            Part::HeldBack => &self.split.held_back,
        };
        let replayed = replay.all(runs, slow).await;
        let answered: Vec<&PastRun> =
            replayed.iter().filter(|one| one.verdict == Verdict::Agrees).map(|one| one.run).collect();
        // Which of the selecting runs fail so is not shown to the model.
        let changed = match part {
            Part::Shown | Part::HeldBack => try_changed(replay, &answered, &self.choices).await,
            Part::Selecting => ChangedResults::default(),
        };
        let is_missed = |one: &&Replayed<'_>| match one.verdict {
            Verdict::Agrees => false,
            Verdict::Unsure => !self.split.is_rare(&one.run.path()),
            _ => true,
        };
        let mut not_agreeing: Vec<_> = replayed.iter().filter(is_missed).map(request::describe_run).collect();
        not_agreeing.extend(changed.examples.iter().map(|example| request::describe_changed(example)));
        Done { score: score_of(&replayed), not_agreeing, changed, paths: self.paths(&replayed) }
    }

    /// Returns the score on each path.
    fn paths(&self, replayed: &[Replayed<'_>]) -> Vec<PathScore> {
        let of_path = |calls: &[String]| {
            let verdicts = replayed.iter().filter(|one| one.run.path() == calls).map(|one| one.verdict);
            Score::from_verdicts(verdicts)
        };
        let scores = self.split.paths.iter().map(|path| PathScore {
            calls: path.calls.clone(),
            runs: path.runs,
            is_rare: self.split.is_rare(&path.calls),
            held_back: of_path(&path.calls),
        });
        scores.collect()
    }
}
