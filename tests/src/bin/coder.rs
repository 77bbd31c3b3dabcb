//! A worker that edits a small project with the included tools, by a script; `tests/programs/terminal/coding.rs` runs it.

use llm_do::json;
use llm_do::prelude::*;
use llm_do::testing::ScriptedModel;
use llm_do::toolsets::filesystem::filesystem_project;
use llm_do::toolsets::shell::{Sandbox, Shell, shell};

/// Edit the project.
#[worker(toolsets = [filesystem_project, shell])]
async fn coder(input: String) -> String;

/// The script: reads, edits, runs a command twice, deletes, and writes.
fn model() -> ScriptedModel {
    let edit = json!({ "path": "src/greet.txt", "old_text": "Hello", "new_text": "Good day" });
    let touch = json!({ "command": "touch built" });
    ScriptedModel::new()
        .call("read_file", json!({ "path": "src/greet.txt" }))
        .call("edit_file", edit)
        .call("shell", touch.clone())
        .call("shell", touch)
        .call("delete_file", json!({ "path": "LICENSE" }))
        .call("write_file", json!({ "path": "notes.md", "content": "draft\n" }))
        .text("The project is edited.")
}

fn main() -> ExitCode {
    let cli = llm_do::cli::Cli::new().configure(|builder| {
        let shell = Shell::new().sandbox(Sandbox::Off);
        builder.force_model(model()).state(shell)
    });
    cli.main()
}
