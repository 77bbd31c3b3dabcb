//! Runs an example by the command of its README, in a copy of its folder.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A copy of an example's folder.
#[derive(Debug)]
pub struct Example {
    folder: TempDir,
}

impl Example {
    /// Copies the example in this folder, without what earlier runs wrote: what its `.gitignore` lists.
    #[must_use]
    pub fn copy(folder: &str) -> Self {
        let folder = Path::new(folder);
        let ignored = fs::read_to_string(folder.join(".gitignore")).unwrap_or_default();
        let ignored: Vec<_> = ignored.lines().map(|line| line.trim_matches('/')).collect();
        let target = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if !ignored.iter().any(|ignored| entry.file_name() == *ignored) {
                copy(&entry.path(), &target.path().join(entry.file_name()));
            }
        }
        Self { folder: target }
    }

    /// Runs `program` as the README's first command does, with more arguments, and returns what it printed.
    #[must_use]
    pub fn run_readme(&self, program: &str, more: &[&str]) -> String {
        let (variables, arguments) = self.first_command();
        printed(self.command(program).envs(variables).args(arguments).args(more))
    }

    /// Runs `program` with these arguments, and returns what it printed.
    #[must_use]
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        printed(self.command(program).args(arguments))
    }

    /// Runs `program` with these arguments, which fails, and returns its error.
    #[must_use]
    pub fn fail(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Returns a command that runs in the copy, without a terminal.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null()).env_remove("LLM_DO_MODEL");
        command
    }

    /// Returns the variables and the arguments of the program in the first command of the README.
    fn first_command(&self) -> (Vec<(String, String)>, Vec<String>) {
        let readme = self.read("README.md");
        let (_, block) = readme.split_once("```sh\n").expect("the README has a command");
        let command = block.lines().find(|line| line.contains("cargo run ")).expect("the command is `cargo run`");
        let (before, arguments) = command.split_once(" -- ").expect("the command has arguments");
        let variables = before.split(' ').map_while(|word| word.split_once('='));
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        (variables, shlex::split(arguments).unwrap())
    }

    /// Returns the content of a file, or an empty text if it does not exist.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.path().join(path)).unwrap_or_default()
    }

    /// Returns the names of the files in a folder, sorted.
    #[must_use]
    pub fn list(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}
