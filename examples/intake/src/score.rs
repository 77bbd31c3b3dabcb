//! How many records are right, where the answers are known.

use std::fmt;
use std::path::Path;

use llm_do::prelude::*;

use crate::Record;

/// How many of the known answers the records hit exactly.
#[derive(Debug, PartialEq)]
pub(crate) struct Score {
    right: usize,
    of: usize,
}

impl Score {
    /// Compares `records` with the answers in a CSV file of the same columns.
    pub(crate) fn of(records: &[Record], answers: &Path) -> Result<Self> {
        let unreadable = |error: csv::Error| format!("the answers in {} cannot be read: {error}", answers.display());
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(answers).map_err(unreadable)?;
        let mut score = Self { right: 0, of: 0 };
        for answer in reader.deserialize() {
            let answer: Record = answer.map_err(unreadable)?;
            score.right += usize::from(records.contains(&answer));
            score.of += 1;
        }
        Ok(score)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} records exactly right", self.right, self.of)
    }
}
