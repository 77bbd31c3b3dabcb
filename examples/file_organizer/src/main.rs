//! Sorts messy files into folders. A worker decides what a file is; code lists, names and moves it.

mod demo;

use std::fs;
use std::path::Path;

use llm_do::prelude::*;
use llm_do::toolsets::filesystem::{filesystem_project, project};

/// The folders that files are sorted into.
#[data]
#[derive(Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
enum Category {
    Invoices,
    Letters,
    Minutes,
    Recipes,
    Other,
}

/// What a file is.
#[data]
struct Proposal {
    category: Category,
    /// Three to six words that describe the file: sender, subject, date.
    title: String,
}

/// Propose a folder and a title for a file.
#[worker(instructions = "You sort the files of a household. Judge by the content; the old name may be wrong.")]
async fn propose(file: String, content: String) -> Proposal;

/// Sorts the files of `inbox` into the folders of `sorted`.
#[entry(toolsets = [propose, filesystem_project])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    let mut report = Vec::new();
    for file in files("inbox")? {
        let from = format!("inbox/{file}");
        let content = beginning(&fs::read_to_string(&from)?);
        let proposal = ctx.call(propose { file: file.clone(), content }).await?;
        let to = target(&file, &proposal);
        // Needs approval, stays below the current folder, and replaces no file.
        report.push(match ctx.call(project::move_file { from: from.clone(), to: to.clone() }).await {
            Ok(_) => format!("{from} -> {to}"),
            Err(error @ (CallError::Denied { .. } | CallError::Failed { .. })) => {
                format!("{from} stays: {}", llm_do::error::chain(&error))
            }
            Err(error) => return Err(error.into()),
        });
    }
    Ok(report.join("\n"))
}

/// Lists the files of a folder by name.
fn files(folder: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The beginning shows what a file is.
fn beginning(content: &str) -> String {
    content.chars().take(1_000).collect()
}

/// Makes a path of a proposal: the title is a model's, so only its letters and digits are used.
fn target(file: &str, proposal: &Proposal) -> String {
    let words = proposal.title.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.take(8).collect::<Vec<_>>().join("-").to_lowercase();
    let folder = format!("{:?}", proposal.category).to_lowercase();
    let extension = Path::new(file).extension().map_or_else(String::new, |ext| format!(".{}", ext.display()));
    format!("sorted/{folder}/{name}{extension}")
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
