//! The report of a proposal.

use std::fmt;

use serde::Serialize;

use super::super::{Judgment, RecordedCalls};
use super::replay::ChangedResults;
use super::score::Score;
use super::split::Contradiction;
use crate::base::usage::RunUsage;
use crate::observe::event::Outcome;

/// The report of a proposal; it prints as Markdown.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ProposalReport {
    /// The worker's name.
    pub worker: String,
    /// The name of the script's function, and of its file without `.py`.
    pub script: String,
    /// The reason that no further script was requested.
    pub end: ProposalEnd,
    /// The split of the cases.
    pub parts: Parts,
    /// The omitted inputs with results that do not agree.
    pub contradicting: Vec<Contradiction>,
    /// The number of omitted inputs without a result.
    pub worker_failed: usize,
    /// Each script that the model wrote, in order.
    pub attempts: Vec<Attempt>,
    /// The best script; `None` if none had more agreements than disagreements.
    pub chosen: Option<Chosen>,
    /// The text of the best script, if the gate refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The usage of the worker's recorded calls.
    pub recorded: RecordedCalls,
    /// The usage of the requests to the model.
    pub usage: RunUsage,
    /// The limits of the evidence, one sentence each.
    pub notes: Vec<String>,
    /// How to use the script, one sentence each.
    pub next: Vec<String>,
}

/// The reason that no further script was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProposalEnd {
    /// A script agreed in all shown and selecting cases.
    Agrees,
    /// The maximum number of attempts was reached.
    Attempts,
    /// The budget was spent.
    Budget,
    /// A request to the model failed, with this error.
    ModelFailed(String),
}

/// The number of cases in each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parts {
    /// Cases that the model sees.
    pub shown: usize,
    /// Cases that select among scripts.
    pub selecting: usize,
    /// Cases that measure the chosen script.
    pub held_back: usize,
}

/// One script that the model wrote.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attempt {
    /// The faults because of which it did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// The score on the shown cases; `None` if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<Score>,
    /// The score on the selecting cases; `None` if it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selecting: Option<Score>,
    /// The usage of the request.
    pub usage: RunUsage,
}

/// The best script.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chosen {
    /// The 1-based number of its attempt.
    pub attempt: usize,
    /// The score on the shown cases.
    pub shown: Score,
    /// The score on the selecting cases.
    pub selecting: Score,
    /// The score on the cases that were used neither by the model nor for the selection.
    pub held_back: Score,
    /// The score on the inputs that would be held back, but to which the worker gave several answers: each answer counts as a disagreement.
    pub contradicting: Score,
    /// How it does when results of calls are changed, in held-back runs; of proposals for [runs](super::super::Runs).
    #[serde(skip_serializing_if = "is_empty")]
    pub changed: ChangedResults,
    /// The score on each path; of proposals for [runs](super::super::Runs).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathScore>,
    /// The decision of the gate.
    pub judgment: Judgment,
    /// The mean time of a call on the held-back cases, in milliseconds.
    pub milliseconds: f64,
}

/// How a script does on one path of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PathScore {
    /// The names of what was called, in order; a name with `+` was called several times in a row.
    pub calls: Vec<String>,
    /// The number of runs, in all parts.
    pub runs: usize,
    /// Whether the path is so rare that a script may leave it to the worker.
    pub is_rare: bool,
    /// The score on the held-back runs.
    pub held_back: Score,
}

fn is_empty(changed: &ChangedResults) -> bool {
    changed.tries == 0
}

/// Formats the report as Markdown.
impl fmt::Display for ProposalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, script, parts, usage, .. } = self;
        writeln!(f, "# A script for `{worker}`\n")?;
        match &self.chosen {
            Some(chosen) => {
                self.write_gate(f, chosen)?;
                self.write_chosen(f, chosen)?;
            }
            None => writeln!(f, "No script was good enough, so `{script}.py` was not written. {}\n", self.reason())?,
        }
        for note in &self.notes {
            writeln!(f, "**Note:** {note}\n")?;
        }
        let Parts { shown, selecting, held_back } = parts;
        writeln!(
            f,
            "## Cases\n\nShown to the model: {shown}; choosing among scripts: {selecting}; held back: {held_back}."
        )?;
        if self.worker_failed > 0 {
            writeln!(f, "Left out, since the worker failed: {}.", self.worker_failed)?;
        }
        self.write_contradictions(f)?;
        writeln!(f, "\n## Attempts\n")?;
        for (number, attempt) in (1..).zip(&self.attempts) {
            write_attempt(f, number, attempt)?;
        }
        let (requests, tokens, cost) = (usage.model.requests, usage.model.total_tokens(), usage.cost);
        self.write_refused(f)?;
        writeln!(f, "\n{} Used: {requests} requests, {tokens} tokens, cost {cost}.", self.reason())?;
        if self.next.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n## To use it\n")?;
        self.next.iter().try_for_each(|next| writeln!(f, "- {next}"))
    }
}

impl ProposalReport {
    fn reason(&self) -> String {
        match &self.end {
            ProposalEnd::Agrees => "A script agreed in all shown and selecting cases.".to_owned(),
            ProposalEnd::Attempts => "All attempts were made.".to_owned(),
            ProposalEnd::Budget => "The budget was spent.".to_owned(),
            ProposalEnd::ModelFailed(error) => format!("A request to the model failed: {}.", line(error)),
        }
    }

    /// Writes the decision of the gate, and why it refuses.
    fn write_gate(&self, f: &mut fmt::Formatter<'_>, chosen: &Chosen) -> fmt::Result {
        let (script, judgment) = (&self.script, &chosen.judgment);
        writeln!(f, "Gate: {judgment}.\n")?;
        if judgment.is_accepted() {
            return Ok(());
        }
        writeln!(f, "So `{script}.py` was not written:\n")?;
        judgment.faults.iter().try_for_each(|fault| writeln!(f, "- {fault}"))?;
        if let Some(needed) = judgment.needed.filter(|needed| *needed > judgment.answered as u64) {
            let (held_back, what) = if chosen.paths.is_empty() { (3, "cases") } else { (5, "runs") };
            let recorded = needed.saturating_mul(10).div_ceil(held_back);
            writeln!(
                f,
                "- {held_back} of 10 {what} are held back: {needed} answers are those of at least about {recorded} {what}"
            )?;
        }
        writeln!(f)
    }

    fn write_refused(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(script) = &self.refused else { return Ok(()) };
        let fence = fence(script, 3);
        writeln!(f, "\n## The refused script\n\n{fence}python\n{}\n{fence}", script.trim_end())
    }

    fn write_chosen(&self, f: &mut fmt::Formatter<'_>, chosen: &Chosen) -> fmt::Result {
        let Self { worker, script, .. } = self;
        let Chosen { attempt, shown, selecting, held_back, milliseconds, .. } = chosen;
        writeln!(f, "`{script}.py` (attempt {attempt}) compared with the recorded answers of `{worker}`:\n")?;
        writeln!(f, "| cases | agreement |\n|---|---|")?;
        let interval = held_back.interval().map(|(low, high)| {
            format!("; where it answers, {:.0} to {:.0} % with 95 % confidence", low * 100.0, high * 100.0)
        });
        let contradicting = chosen.contradicting.agree + chosen.contradicting.disagree;
        writeln!(f, "| **held back**, which nothing has seen | **{held_back}**{} |", interval.unwrap_or_default())?;
        if contradicting > 0 {
            writeln!(
                f,
                "| held back, with several answers of the worker | {contradicting} answered, which count as disagreements |"
            )?;
        }
        writeln!(f, "| choosing among scripts | {selecting} |\n| shown to the model | {shown} |\n")?;
        if held_back.cases() > 0 {
            writeln!(f, "A call takes {milliseconds:.2} ms, and asks no model.\n")?;
        }
        write_paths(f, chosen)?;
        self.write_recorded(f)
    }

    /// Writes the usage of the worker's recorded calls.
    fn write_recorded(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (worker, RecordedCalls { calls, usage, cost, milliseconds }) = (&self.worker, self.recorded);
        if calls == 0 {
            return Ok(());
        }
        let (requests, tokens) = (usage.requests, usage.total_tokens());
        write!(
            f,
            "Recorded calls of `{worker}` that asked its model: {calls}, with {requests} requests, {tokens} tokens, cost {cost}"
        )?;
        match milliseconds {
            Some(median) => writeln!(f, "; the median of their times is {median:.0} ms.\n"),
            None => writeln!(f, ".\n"),
        }
    }

    fn write_contradictions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.contradicting.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nLeft out, since the worker gave one input several results:\n")?;
        for Contradiction { input, answers } in &self.contradicting {
            let answer = |outcome: &Outcome| match outcome {
                Outcome::Result(value) => code(&value.to_string()),
                Outcome::Error(error) => code(error),
            };
            let answers: Vec<_> =
                answers.iter().map(|given| format!("{} ({} times)", answer(&given.outcome), given.times)).collect();
            writeln!(f, "- {}: {}", code(&input.to_string()), answers.join(", "))?;
        }
        Ok(())
    }
}

/// Writes how the script does on each path, and with changed results.
fn write_paths(f: &mut fmt::Formatter<'_>, chosen: &Chosen) -> fmt::Result {
    if chosen.paths.is_empty() {
        return Ok(());
    }
    writeln!(f, "| path | runs | held back |\n|---|---|---|")?;
    for PathScore { calls, runs, is_rare, held_back } in &chosen.paths {
        let calls = if calls.is_empty() { "no calls".to_owned() } else { code(&calls.join(" → ").replace('|', "/")) };
        let rare = if *is_rare { " (rare)" } else { "" };
        writeln!(f, "| {calls}{rare} | {runs} | {held_back} |")?;
    }
    let ChangedResults { tries, misled, examples, .. } = &chosen.changed;
    writeln!(f, "\nWith a changed result of a call, it was misled in {misled} of {tries} tries.\n")?;
    examples.iter().try_for_each(|example| writeln!(f, "- {}", code(example)))?;
    if examples.is_empty() { Ok(()) } else { writeln!(f) }
}

fn write_attempt(f: &mut fmt::Formatter<'_>, number: usize, attempt: &Attempt) -> fmt::Result {
    if let (Some(shown), Some(selecting)) = (attempt.shown, attempt.selecting) {
        return writeln!(f, "{number}. shown: {shown}; choosing: {selecting}");
    }
    writeln!(f, "{number}. refused before it ran:")?;
    attempt.faults.iter().try_for_each(|fault| writeln!(f, "   - {}", line(fault)))
}

/// Returns text as inline code, delimited by more backticks than it contains.
fn code(text: &str) -> String {
    let text = line(text);
    let fence = fence(&text, 1);
    let space = if fence.len() > 1 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns more backticks than the text has in a row, and at least some.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(least.max(longest + 1))
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
