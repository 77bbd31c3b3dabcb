//! Compares records with known answers.

use std::fmt;
use std::path::Path;

use llm_do::prelude::*;

use crate::Record;

/// The number of records that equal the known answers.
#[derive(Debug, PartialEq)]
pub(crate) struct Score {
    correct: usize,
    total: usize,
}

impl Score {
    /// Compares `records` with the answers in a CSV file with the same columns.
    pub(crate) fn compare(records: &[Record], answers: &Path) -> Result<Self> {
        let unreadable = |error: csv::Error| format!("cannot read the answers in {}: {error}", answers.display());
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(answers).map_err(unreadable)?;
        let mut score = Self { correct: 0, total: 0 };
        for answer in reader.deserialize() {
            let answer: Record = answer.map_err(unreadable)?;
            score.correct += usize::from(records.contains(&answer));
            score.total += 1;
        }
        Ok(score)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} records are correct", self.correct, self.total)
    }
}
