//! Reviews source files: a worker reads and searches them, and its findings are values.

mod demo;

use llm_do::approval::{Policy, Rule};
use llm_do::prelude::*;
use llm_do::toolsets::filesystem::filesystem_project_ro;
use llm_do::toolsets::shell::{Sandbox, Shell, shell};

/// How bad a finding is, the worst first.
#[data]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Bug,
    Risk,
    Style,
}

/// A finding of the review.
#[data]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    severity: Severity,
    /// The path of the file, relative to the project.
    file: String,
    /// The line, from 1 on.
    line: u32,
    /// What is wrong, and what to do, in one sentence.
    message: String,
}

/// Review the source files of a folder.
#[worker(
    toolsets = [filesystem_project_ro, shell],
    instructions = "You are a senior reviewer. Find the files with `list_files`, search them with `grep -n`, and read what you judge. \
                    Report what is wrong, and nothing that is a matter of taste.",
    max_turns = 40,
)]
async fn review(folder: String) -> Vec<Finding>;

/// Reviews a folder, and lists the findings, the worst first.
#[entry(toolsets = [review])]
async fn main_entry(
    ctx: &CallContext<main_entry>,
    /// The folder, relative to the current one.
    #[arg(default = "sample")]
    folder: String,
) -> Result<Vec<Finding>> {
    let mut findings = ctx.call(review { folder }).await?;
    findings.sort();
    Ok(findings)
}

fn main() -> ExitCode {
    // A review changes nothing: commands that are known to read run, and every other one is blocked. So no sandbox is needed.
    let configure = |builder: llm_do::runtime::RuntimeBuilder| {
        let policy = Policy::new().tool("shell_asked", Rule::blocked("a review only reads"));
        builder.state(Shell::new().sandbox(Sandbox::Off)).policy(policy)
    };
    llm_do::cli::Cli::new().configure(configure).main()
}
