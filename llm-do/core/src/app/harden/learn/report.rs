//! The report of what was learned.

use std::fmt;

use serde::Serialize;

use super::super::{Judgment, RecordedCalls};

/// The report of what was learned; it prints as Markdown.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LearnReport {
    /// The worker's name.
    pub worker: String,
    /// The name of the tool.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The decision of the gate by all cases, each judged by what was learned without it.
    pub judgment: Judgment,
    /// The number of inputs to which the worker gave results that do not agree.
    pub contradicting: usize,
    /// The number of omitted inputs without a result.
    pub worker_failed: usize,
    /// How long learning took, in seconds.
    pub seconds: f64,
    /// The script of few rules; `None` if few rules answer less than about as much.
    pub few: Option<FewRules>,
    /// The usage of the worker's recorded calls.
    pub recorded: RecordedCalls,
    /// The limits of the evidence, one sentence each.
    pub notes: Vec<String>,
    /// How to use the tool, one sentence each.
    pub next: Vec<String>,
}

/// A script that decides by few rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FewRules {
    /// The name of its function, and of its file without `.py`.
    pub script: String,
    /// The decision of the gate by all cases, each judged by rules that were found without it.
    pub judgment: Judgment,
}

/// Formats the report as Markdown.
impl fmt::Display for LearnReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, name, file, judgment, seconds, .. } = self;
        writeln!(f, "# A decision learned from the cases of `{worker}`\n")?;
        writeln!(f, "`{file}`, the tool `{name}`: {judgment}. Each case was judged by what was learned without it.\n")?;
        writeln!(f, "Learned in {seconds:.1} s, without a model; an answer takes microseconds.")?;
        if let Some(FewRules { script, judgment }) = &self.few {
            writeln!(f, "\nFew rules are nearly as good, so that a person can read them: `{script}.py`: {judgment}.")?;
        }
        let RecordedCalls { calls, cost, .. } = self.recorded;
        if calls > 0 {
            writeln!(f, "\nRecorded calls of `{worker}` that asked its model: {calls}, cost {cost}.")?;
        }
        list(f, "The evidence", &self.notes)?;
        list(f, "To use it", &self.next)
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, items: &[String]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n## {title}\n")?;
    items.iter().try_for_each(|item| writeln!(f, "- {item}"))
}

/// Returns the ways to use the tool.
pub(super) fn next(worker: &str, file: &str, name: &str) -> Vec<String> {
    vec![
        format!(
            "Put `{file}.learned.json` into `tools/` of the project, and `hybrid: {name}` into the file of `{worker}`."
        ),
        format!(
            "In code: `Runtime::builder().tool(LearnedTool::open(\"{file}.learned.json\")?).hybrid(\"{worker}\", \"{name}\")`: it answers \
             where it is sure, and the worker answers the rest."
        ),
        format!("Keep comparing: `shadow: {{ with: {name}, every: 10 }}`, since messages change."),
        format!("See why: `harden --explain {name} INPUT` shows what speaks for which answer."),
    ]
}
