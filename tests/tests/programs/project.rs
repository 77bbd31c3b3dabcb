//! Projects: folders of worker files, tool files, subagents, skills and settings.

mod aliases;
mod entries;
mod faults;
mod foreign;
mod formats;
mod front_matter;
mod left_out;
mod limits;
mod mutated;
mod precedence;
mod python;
mod servers;

use std::fs;
use std::path::Path;

use llm_do::prelude::*;
use llm_do::project::Project;
use llm_do::runtime::RuntimeBuilder;
use tempfile::TempDir;

/// Add two numbers.
#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Delete something.
#[tool(effect = destructive)]
fn erase(what: String, force: bool) -> String {
    format!("erased {what}, force: {force}")
}

/// Rename in one way.
#[worker]
async fn rename(input: String) -> String;

/// The builder of a runtime with the items of this program that tests use.
fn builder() -> RuntimeBuilder {
    Runtime::builder().only(["add", "erase", "rename", "project_files"])
}

/// Writes the files of a project into a new folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Opens a project without faults.
fn open(folder: &TempDir) -> Project {
    Project::open(folder.path()).unwrap()
}

/// Returns the warnings without the path of the folder.
fn warnings(folder: &TempDir, project: &Project) -> Vec<String> {
    let prefix = format!("{}/", folder.path().display());
    project.warnings().iter().map(|warning| warning.replace(&prefix, "")).collect()
}
