//! The report of a run, with a score if the folder contains known answers.

use std::fmt;
use std::path::Path;

use llm_do::prelude::*;

use crate::{Finding, Record};

/// Lists the findings, and compares them with `answers.csv` if the folder contains it.
pub(crate) fn report(folder: &Path, findings: &[Finding], written: &str) -> String {
    let mut lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let accepted = findings.iter().filter(|finding| finding.doubts.is_empty()).count();
    lines.push(format!("{accepted} accepted, {} to review; {written}", findings.len() - accepted));
    let answers = folder.join("answers.csv");
    if answers.is_file() {
        lines.push(score(findings, &answers).unwrap_or_else(|error| error.to_string()));
    }
    lines.join("\n")
}

/// Compares the findings with the answers in a CSV file with the columns of a record.
fn score(findings: &[Finding], answers: &Path) -> Result<String> {
    let unreadable = |error: csv::Error| format!("cannot read the answers in {}: {error}", answers.display());
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(answers).map_err(unreadable)?;
    let answers: Vec<Record> = reader.deserialize().collect::<Result<_, _>>().map_err(unreadable)?;
    let (accepted, review): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.doubts.is_empty());
    let right = accepted.iter().filter(|finding| answers.contains(&finding.record)).count();
    let wrong = accepted.len() - right;
    Ok(format!(
        "compared with answers.csv: {right} accepted and right, {wrong} accepted and wrong, {} to review",
        review.len()
    ))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record: Record { file, name, age, city }, doubts } = self;
        let empty = "-";
        let age = age.map_or(empty.to_owned(), |age| age.to_string());
        let [name, city] = [name, city].map(|value| value.as_deref().unwrap_or(empty));
        write!(f, "{file}: {name}, {age}, {city}")?;
        if doubts.is_empty() { Ok(()) } else { write!(f, " (to review: {})", doubts.join("; ")) }
    }
}
