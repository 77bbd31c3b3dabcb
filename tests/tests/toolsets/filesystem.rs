//! The filesystem tools: what they do, and what they refuse.

mod approval;
mod bounds;
mod edit;
#[cfg(unix)]
mod escapes;
mod list;
mod names;
mod paths;
mod plane;
#[cfg(unix)]
mod races;
mod read;
mod search;
mod settings;
#[cfg(unix)]
mod swapped;
mod transfer;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use llm_do::toolsets::filesystem::Filesystem;
use llm_do::{Runtime, Value, error};
use serde_json::json;
use tempfile::TempDir;

/// A project folder with a secret beside it, and a runtime for it.
struct Project {
    /// Holds the project, and `outside`, which no tool may reach.
    outer: TempDir,
    runtime: Runtime,
}

/// The content of every file outside the project.
const SECRET: &str = "the secret of another project";

impl Project {
    fn new() -> Self {
        Self::with(Filesystem::new())
    }

    fn with(settings: Filesystem) -> Self {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir_all(outer.path().join("outside/deeper")).unwrap();
        fs::write(outer.path().join("outside/secret.txt"), SECRET).unwrap();
        fs::write(outer.path().join("outside/deeper/secret.txt"), SECRET).unwrap();
        let root = outer.path().join("project");
        fs::create_dir(&root).unwrap();
        let runtime = Runtime::builder().project_root(&root).state(settings).build().unwrap();
        Self { outer, runtime }
    }

    fn root(&self) -> PathBuf {
        self.outer.path().join("project")
    }

    fn outside(&self) -> PathBuf {
        self.outer.path().join("outside")
    }

    /// Puts a file into the project.
    fn put(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn content(&self, path: impl AsRef<Path>) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn has(&self, path: impl AsRef<Path>) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }

    /// Calls a tool of the project; an error is returned as a caller reads it.
    async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let returned = self.runtime.run_named(&format!("project_{tool}"), arguments).await;
        returned.map(|value| value.as_str().unwrap().to_owned()).map_err(|error| error::chain(&error))
    }

    async fn read(&self, path: &str) -> Result<String, String> {
        self.call("read_file", json!({ "path": path })).await
    }

    async fn write(&self, path: &str, content: &str) -> Result<String, String> {
        self.call("write_file", json!({ "path": path, "content": content })).await
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        self.call("edit_file", json!({ "path": path, "old_text": old, "new_text": new })).await
    }

    async fn list(&self, path: &str) -> Result<String, String> {
        self.call("list_files", json!({ "path": path })).await
    }

    async fn search(&self, regex: &str) -> Result<String, String> {
        self.call("search_files", json!({ "regex": regex })).await
    }

    async fn rename(&self, from: &str, to: &str) -> Result<String, String> {
        self.call("move_file", json!({ "from": from, "to": to })).await
    }

    async fn delete(&self, path: &str) -> Result<String, String> {
        self.call("delete_file", json!({ "path": path })).await
    }

    /// Returns the files outside the project that exist, with their content, to find any change.
    fn outside_state(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut state = Vec::new();
        let mut folders = vec![self.outer.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.root() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path.clone());
                }
                state.push((path.clone(), fs::read(&path).unwrap_or_default()));
            }
        }
        state.sort();
        state
    }
}

/// Returns the error without the tool's name in front.
fn fault(result: Result<String, String>) -> String {
    let text = result.expect_err("the call must fail");
    text.split_once("failed: ").map_or(text.clone(), |(_, fault)| fault.to_owned())
}
