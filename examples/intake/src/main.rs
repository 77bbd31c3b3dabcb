//! Extracts records of name, age and city from a folder of short notes (`*.txt`).
//!
//! A worker extracts a record from a note. Code checks the record, corrects what it can, and otherwise asks the model once
//! more with hints about the errors. The model runs in the process, unless `LLM_DO_MODEL` names another.
//!
//! A record is correct if `name` is as written in the note, without title, `age` is the current age in years, and `city` is
//! where the person lives now, as written. Each note is in plain English and about one person.

mod check;
mod score;

use std::fmt;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use llm_do::prelude::*;
use walkdir::WalkDir;

use crate::score::Score;

/// A person as a note describes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// The record of one file; the fields are `None` if the note could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Record {
    file: String,
    name: Option<String>,
    age: Option<u8>,
    city: Option<String>,
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

/// Write records to a CSV file; replaces an existing file.
#[tool(effect = idempotent)]
fn write_records(path: &Path, records: &[Record]) -> Result<()> {
    let mut writer = csv::Writer::from_path(path)?;
    for record in records {
        writer.serialize(record)?;
    }
    Ok(writer.flush()?)
}

/// Extract a record from every note of a folder, and write the records to `records.csv` in that folder.
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
    let mut records = Vec::with_capacity(notes.len());
    for (index, file) in notes.iter().enumerate() {
        ctx.progress(format!("{} of {}: {}", index + 1, notes.len(), file.display()));
        records.push(record(ctx, &folder, file).await?);
    }
    let path = folder.join("records.csv");
    let written = match ctx.call(write_records { path: path.clone(), records: records.clone() }).await {
        Ok(()) => format!("written to {}", path.display()),
        // A user who denies the file still sees the records.
        Err(CallError::Denied { reason, .. }) => format!("not written to {}: {reason}", path.display()),
        Err(error) => {
            ctx.progress(report(&folder, "not written".to_owned(), &records));
            return Err(error.into());
        }
    };
    Ok(report(&folder, written, &records))
}

/// Returns the record of one note. If a note cannot be read, reports that and returns an empty record, so that the run continues.
async fn record(ctx: &CallContext<intake>, folder: &Path, file: &Path) -> Result<Record, CallError> {
    let person = match person(ctx, folder, file).await {
        Ok(person) => Some(person),
        Err(error @ (CallError::Failed { .. } | CallError::GaveUp { .. })) if error.is_recoverable() => {
            ctx.progress(format!("{}: empty record, because {}", file.display(), llm_do::error::chain(&error)));
            None
        }
        Err(error) => return Err(error),
    };
    let (name, age, city) =
        person.map_or((None, None, None), |Person { name, age, city }| (Some(name), Some(age), Some(city)));
    Ok(Record { file: file.display().to_string(), name, age, city })
}

/// Extracts the person from a note; corrects errors in code where possible, else asks the model once more.
async fn person(ctx: &CallContext<intake>, folder: &Path, file: &Path) -> Result<Person, CallError> {
    let note = ctx.call(read_note { folder: folder.to_owned(), file: file.to_owned() }).await?;
    let note = note.trim();
    let reply = ctx.call(extract_person { input: check::digits(note) }).await?;
    let first = check::repair(note, &reply);
    let faults = check::faults(note, &first);
    if faults.is_empty() {
        return Ok(first);
    }
    let reply = ctx.call(extract_person { input: check::retry_prompt(note, &faults) }).await?;
    let second = check::repair(note, &reply);
    Ok(check::replace_invalid(note, check::merge(note, first, second)))
}

/// Lists the records, and counts the correct ones if the folder contains `answers.csv`.
fn report(folder: &Path, written: String, records: &[Record]) -> String {
    let mut lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    lines.push(written);
    let answers = folder.join("answers.csv");
    if answers.is_file() {
        lines.push(Score::compare(records, &answers).map_or_else(|error| error.to_string(), |score| score.to_string()));
    }
    lines.join("\n")
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { file, name: Some(name), age: Some(age), city: Some(city) } => {
                write!(f, "{file}: {name}, {age}, {city}")
            }
            Self { file, .. } => write!(f, "{file}: could not be read"),
        }
    }
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().default_model("local:smollm2-135m-instruct").main()
}
