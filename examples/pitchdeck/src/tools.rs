//! What the second and the third stage call: what never varies is code, and a worker judges one deck.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

use std::fs;
use std::path::Path;

use llm_do::prelude::*;

use crate::Evaluation;

/// List the decks.
#[tool(effect = read_only)]
pub fn list_decks() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir("decks")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Write the report about a deck.
#[tool(effect = idempotent, summary = "write the report about {deck}")]
pub fn write_report(deck: &str, evaluation: Evaluation) -> Result<String> {
    let path = Path::new("reports").join(file_name(deck)?);
    fs::create_dir_all("reports")?;
    fs::write(&path, evaluation.report())?;
    Ok(path.display().to_string())
}

/// Evaluate a pitch deck for an investor.
#[worker(instructions = "Judge the deck from 1, no, to 5, yes. Take strengths and risks from the deck alone.")]
pub async fn evaluate(deck: String) -> Evaluation {
    fs::read_to_string(Path::new("decks").join(file_name(&deck)?))?
}

/// The name of a deck may come from a model, so it must not lead to another folder.
fn file_name(deck: &str) -> Result<&Path> {
    Ok(Path::new(deck).file_name().ok_or("the name of the deck is empty")?.as_ref())
}
