//! The shell tool: what runs, what needs approval, and what a sandboxed command cannot do.
#![cfg(unix)]

#[cfg(target_os = "linux")]
mod asked;
mod commands;
#[cfg(target_os = "linux")]
mod counted;
mod dry_run;
#[cfg(target_os = "linux")]
mod git;
#[cfg(target_os = "linux")]
mod guarded;
mod limits;
mod rules;
#[cfg(target_os = "linux")]
mod sandboxed;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::toolsets::shell::{Sandbox, Shell};
use llm_do::{Runtime, error};
use serde_json::json;
use tempfile::TempDir;

/// A project folder, and a runtime for it.
struct Project {
    outer: TempDir,
    settings: Shell,
}

impl Project {
    fn new(settings: Shell) -> Self {
        Self::with_folder(tempfile::tempdir().unwrap(), settings)
    }

    fn with_folder(outer: TempDir, settings: Shell) -> Self {
        fs::create_dir_all(outer.path().join("project/.git")).unwrap();
        fs::write(outer.path().join("project/a.txt"), "two\none\n").unwrap();
        fs::write(outer.path().join("project/.git/config"), "[core]\n").unwrap();
        fs::write(outer.path().join("secret.txt"), "the secret of another project").unwrap();
        Self { outer, settings }
    }

    /// Without a sandbox, where the rules decide.
    fn plain() -> Self {
        Self::new(Shell::new().sandbox(Sandbox::Off))
    }

    fn root(&self) -> PathBuf {
        self.outer.path().join("project")
    }

    async fn run(&self, mode: ApprovalMode, command: &str) -> Result<String, String> {
        let builder = Runtime::builder().project_root(self.root()).state(self.settings.clone());
        let runtime = builder.approval_mode(mode).build().unwrap();
        let returned = runtime.run_named("shell", json!({ "command": command })).await;
        returned.map(|value| value.as_str().unwrap().to_owned()).map_err(|error| error::chain(&error))
    }

    /// Runs a command that is approved if it needs approval.
    async fn approved(&self, command: &str) -> Result<String, String> {
        self.run(ApprovalMode::ApproveAll, command).await
    }

    /// Runs a command that is denied if it needs approval.
    async fn unasked(&self, command: &str) -> Result<String, String> {
        self.run(ApprovalMode::RejectAll, command).await
    }

    /// Returns what the approver is shown.
    async fn preview(&self, command: &str) -> String {
        let shown = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&shown);
        let builder = Runtime::builder().project_root(self.root()).state(self.settings.clone());
        let builder = builder.approve_with(move |request| {
            *seen.lock().unwrap() = request.preview.unwrap_or_default();
            async { Decision::deny("only shown") }
        });
        builder.build().unwrap().run_named("shell", json!({ "command": command })).await.unwrap_err();
        shown.lock().unwrap().clone()
    }

    async fn needs_approval(&self, command: &str) -> bool {
        self.unasked(command).await.is_err_and(|error| error.contains("denied"))
    }
}

/// What runs the system calls of the tests: in a place that every sandbox can read.
#[cfg(target_os = "linux")]
const PYTHON: &str = "/usr/bin/python3";

/// Returns whether there is Python; a test without it is skipped, or fails where it is required.
#[cfg(target_os = "linux")]
fn has_python() -> bool {
    let exists = fs::exists(PYTHON).unwrap();
    if !exists {
        crate::required::missing("python", &format!("`{PYTHON}` does not exist"));
    }
    exists
}

/// Returns the sandboxes that work on this machine, which hold the same claims.
async fn sandboxes() -> Vec<Sandbox> {
    let mut found = Vec::new();
    for (sandbox, name) in [(Sandbox::Bwrap, "bwrap"), (Sandbox::Landlock, "landlock")] {
        match Project::new(Shell::new().sandbox(sandbox)).approved("true").await {
            Ok(_) => found.push(sandbox),
            Err(error) => crate::required::missing(name, &format!("the sandbox `{name}` does not work here: {error}")),
        }
    }
    found
}
