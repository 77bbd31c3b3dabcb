//! Extracts records of name, age and city from a folder of short notes (`*.txt`).
//!
//! A model proposes a record for each note, and code confirms it by what the note states. Records that code cannot
//! confirm are listed for review with the reason. The model runs in the process, unless `LLM_DO_MODEL` names another.

mod confirm;
mod report;
#[cfg(test)]
mod tests;

use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use llm_do::prelude::*;
use walkdir::WalkDir;

use crate::confirm::{confirm, prepared};
use crate::report::report;

/// A person as the model reads a note; it may guess what the note does not state.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Person {
    /// Full name, without title.
    #[schemars(length(max = 60))]
    name: String,
    /// Age in years.
    #[schemars(range(max = 120))]
    age: u8,
    /// City where the person lives now.
    #[schemars(length(max = 40))]
    city: String,
}

/// The record of a note: fields that the note does not state are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Record {
    file: String,
    name: Option<String>,
    age: Option<u8>,
    city: Option<String>,
}

/// What was found in a note. The record is accepted if code has no doubts about it; otherwise it is a suggestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Finding {
    record: Record,
    doubts: Vec<String>,
}

/// List the notes in a folder: the paths of all `*.txt` files, relative to the folder.
#[tool(effect = read_only)]
fn list_notes(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut notes = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let path = entry?.into_path();
        let is_text = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("txt"));
        if is_text && path.is_file() {
            notes.push(path.strip_prefix(folder)?.to_owned());
        }
    }
    Ok(notes)
}

/// Read one note of a folder.
#[tool(effect = read_only)]
fn read_note(
    folder: &Path,
    /// Path relative to the folder.
    file: &Path,
) -> std::io::Result<String> {
    Dir::open_ambient_dir(folder, ambient_authority())?.read_to_string(file)
}

/// Extract the person that a note is about.
#[worker(
    instructions = "You are a helpful assistant that extracts the name, age and city of a person from a note as JSON."
)]
async fn extract_person(input: String) -> Person;

/// Write accepted records to `records.csv` and those to review to `review.csv` in a folder; replaces existing files.
#[tool(effect = idempotent)]
fn write_records(folder: &Path, findings: &[Finding]) -> Result<()> {
    let mut records = csv::Writer::from_path(folder.join("records.csv"))?;
    let mut review = csv::WriterBuilder::new().has_headers(false).from_path(folder.join("review.csv"))?;
    review.write_record(["file", "name", "age", "city", "reason"])?;
    for Finding { record, doubts } in findings {
        if doubts.is_empty() {
            records.serialize(record)?;
        } else {
            review.serialize((record, doubts.join("; ")))?;
        }
    }
    records.flush()?;
    Ok(review.flush()?)
}

/// Extract a record from every note of a folder, and write the records and those to review to that folder.
#[entry(toolsets = [list_notes, read_note, extract_person, write_records])]
async fn intake(
    ctx: &CallContext<intake>,
    /// The folder; default: the notes of this example.
    #[arg(default = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/notes")))]
    folder: PathBuf,
) -> Result<String> {
    let notes = ctx.call(list_notes { folder: folder.clone() }).await?;
    if notes.is_empty() {
        return Err(format!("no notes (*.txt) in {}", folder.display()).into());
    }
    let mut findings = Vec::with_capacity(notes.len());
    for (index, file) in notes.iter().enumerate() {
        ctx.progress(format!("{} of {}: {}", index + 1, notes.len(), file.display()));
        findings.push(finding(ctx, &folder, file).await?);
    }
    let written = match ctx.call(write_records { folder: folder.clone(), findings: findings.clone() }).await {
        Ok(()) => format!("written to records.csv and review.csv in {}", folder.display()),
        // A user who denies the files still sees the records.
        Err(CallError::Denied { reason, .. }) => format!("not written to {}: {reason}", folder.display()),
        Err(error) => {
            ctx.progress(report(&folder, &findings, "not written"));
            return Err(error.into());
        }
    };
    Ok(report(&folder, &findings, &written))
}

/// Returns what was found in one note. A note that cannot be read is one to review, so that the run continues.
async fn finding(ctx: &CallContext<intake>, folder: &Path, file: &Path) -> Result<Finding, CallError> {
    let mut finding = match read(ctx, folder, file).await {
        Ok(finding) => finding,
        Err(error @ (CallError::Failed { .. } | CallError::GaveUp { .. })) if error.is_recoverable() => {
            Finding { record: Record::default(), doubts: vec![llm_do::error::chain(&error)] }
        }
        Err(error) => return Err(error),
    };
    finding.record.file = file.display().to_string();
    Ok(finding)
}

/// Lets the model read a note, and confirms each field by what the note states.
async fn read(ctx: &CallContext<intake>, folder: &Path, file: &Path) -> Result<Finding, CallError> {
    let text = ctx.call(read_note { folder: folder.to_owned(), file: file.to_owned() }).await?;
    let note = prepared(&text);
    let person = ctx.call(extract_person { input: note.clone() }).await?;
    Ok(confirm(&note, person))
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().default_model("local:smollm2-135m-instruct").main()
}
