//! The records of runs, and the file from which an interrupted evaluation is resumed.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::open_file::{make_private, not_a_file, open_unlinked};
use llm_do_core::base::usage::RunUsage;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::evaluator::Scalar;

/// The first line of a file.
const HEADER: &str = "{\"llm_do_eval\":1}\n";

/// A finished run of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The name of the variant.
    pub variant: String,
    /// The name of the case; `Case 3` for the third if it has none.
    pub case: String,
    /// The 1-based number of the repetition.
    pub repetition: u32,
    /// The inputs of the case.
    pub inputs: Value,
    /// The expected output of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Value>,
    /// The result of the tool or worker; `None` if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub output: Option<Value>,
    /// The error of a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether that error is an abstention, [`Unsure`](llm_do_core::base::error::Unsure), which is neither right nor wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsure: bool,
    /// Wall-clock time, in seconds.
    pub seconds: f64,
    /// The usage of the run.
    pub usage: RunUsage,
    /// The usage of judges.
    pub judge_usage: RunUsage,
    /// The findings of the evaluators, in order.
    pub findings: Vec<NamedFinding>,
    /// The evaluators that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<EvaluatorFailure>,
}

/// A named value of an evaluator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NamedFinding {
    /// The name, unique in its run.
    pub name: String,
    /// The value.
    pub value: Scalar,
    /// The reason for the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An evaluator that could not judge an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EvaluatorFailure {
    /// The name.
    pub evaluator: String,
    /// The error.
    pub error: String,
}

impl RunRecord {
    /// Returns whether the run and its evaluators succeeded, and all assertions hold.
    #[must_use]
    pub fn passes(&self) -> bool {
        let holds = |finding: &NamedFinding| finding.value != Scalar::Assertion(false);
        self.error.is_none() && self.failures.is_empty() && self.findings.iter().all(holds)
    }
}

/// Deserializes a present field, in which `null` is a value.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A line of a file: a run with its key.
#[derive(Serialize, Deserialize)]
struct RunLine {
    key: String,
    #[serde(flatten)]
    run: RunRecord,
}

/// A line of a file: where the answer to a request of a run in a batch will be.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubmittedLine {
    key: String,
    /// The key of the step of the submission.
    step: String,
    submitted: Value,
}

/// The file of an evaluation, to which each finished run is appended, and each submission of a request to a batch.
#[derive(Debug)]
pub(super) struct RunFile {
    file: Mutex<File>,
    pub(super) path: PathBuf,
    /// The submissions of earlier processes, by the keys of the run and of the step.
    submitted: HashMap<(String, String), Value>,
}

/// What a file has.
#[derive(Default)]
struct Lines {
    runs: HashMap<String, RunRecord>,
    submitted: HashMap<(String, String), Value>,
}

impl RunFile {
    /// Opens or creates a file, which must be neither a link nor a pipe, and returns its runs by key. An incomplete
    /// last line is removed.
    pub(super) fn open(path: &Path) -> io::Result<(Self, HashMap<String, RunRecord>)> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = open_unlinked(&mut options, path)?;
        if !file.metadata()?.is_file() {
            return Err(not_a_file());
        }
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another evaluation uses this file"),
            TryLockError::Error(error) => error,
        })?;
        let (Lines { runs, submitted }, end) = read(&file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        if end == 0 {
            make_private(&file)?;
            file.write_all(HEADER.as_bytes())?;
        }
        Ok((Self { file: Mutex::new(file), path: path.to_owned(), submitted }, runs))
    }

    /// Returns where the answer to a request will be that an earlier process submitted.
    pub(super) fn submitted(&self, run: &str, step: &str) -> Option<&Value> {
        self.submitted.get(&(run.to_owned(), step.to_owned()))
    }

    /// Appends where the answer to a request will be; it is on disk when this returns.
    pub(super) fn add_submitted(&self, run: &str, step: &str, submitted: &Value) -> io::Result<()> {
        let line = SubmittedLine { key: run.to_owned(), step: step.to_owned(), submitted: submitted.clone() };
        self.append(&json!(line))
    }

    /// Appends a run; it is on disk when this returns.
    pub(super) fn add(&self, key: &str, run: &RunRecord) -> io::Result<()> {
        self.append(&json!(RunLine { key: key.to_owned(), run: run.clone() }))
    }

    fn append(&self, line: &Value) -> io::Result<()> {
        let mut text = line.to_string();
        text.push('\n');
        let mut file = self.file.lock().ignore_poison();
        file.write_all(text.as_bytes())?;
        file.sync_data()
    }
}

/// Reads the complete lines of a file, and returns their end.
fn read(file: &File) -> io::Result<(Lines, u64)> {
    let invalid = |number: usize, message: &str| {
        let text = format!("line {number} is not of an evaluation{message}: choose another file, or remove it");
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let (mut reader, mut lines, mut end) = (BufReader::new(file), Lines::default(), 0);
    for number in 1.. {
        let mut line = Vec::new();
        let length = reader.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            let is_torn = number > 1 || HEADER.as_bytes().starts_with(&line);
            return if is_torn { Ok((lines, end)) } else { Err(invalid(1, "")) };
        }
        if number == 1 {
            if line != HEADER.as_bytes() {
                return Err(invalid(1, ""));
            }
        } else if let Ok(SubmittedLine { key, step, submitted }) = serde_json::from_slice(&line) {
            lines.submitted.insert((key, step), submitted);
        } else {
            let parsed: RunLine =
                serde_json::from_slice(&line).map_err(|error| invalid(number, &format!(" ({error})")))?;
            lines.runs.insert(parsed.key, parsed.run);
        }
        end += length as u64;
    }
    Ok((lines, end))
}
