//! The program `llm-do`: projects, chats, and new projects, run as a process.

mod chat;
mod config;
mod gate;
mod handbook;
mod init;
mod learned;
mod login;
mod offers;
#[cfg(target_os = "linux")]
mod owners;
mod projects;
#[cfg(target_os = "linux")]
mod shell;
mod trust;
mod web_searcher;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A worker with the model for tests.
const ASSISTANT: &str = "---\nname: assistant\nmodel: echo:model\ntools: [filesystem_project]\n---\nYou help.\n";
/// The same with the tools of the server `s`, which starts only for the runs that can use it.
const USES_SERVER: &str =
    "---\nname: assistant\nmodel: echo:model\ntools: [filesystem_project, mcp__s]\n---\nYou help.\n";

/// What a command returned.
#[derive(Debug)]
struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Answer {
    /// Asserts that the command succeeded, and returns its output.
    fn output(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }

    /// Asserts that the command failed with this exit code and a text that contains `text`.
    fn fails(self, code: i32, text: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.err.contains(text), "`{text}` is not in: {}", self.err);
        assert_eq!(self.out, "");
    }
}

/// A folder in which the program runs, with a folder for chats.
struct Place {
    folder: TempDir,
    chats: TempDir,
    /// The user's folder for state.
    state: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let [folder, chats, state] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let place = Self { folder, chats, state };
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// Starts the program, with pipes.
    fn start(&self, arguments: &[&str]) -> Child {
        self.command(env!("CARGO_BIN_EXE_stock")).args(arguments).spawn().unwrap()
    }

    /// Runs the program without input.
    fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(arguments, "")
    }

    /// Runs the program with this standard input.
    fn run_with(&self, arguments: &[&str], input: &str) -> Answer {
        Self::answer(self.command(env!("CARGO_BIN_EXE_stock")).args(arguments), input)
    }

    /// Runs the program with these variables.
    fn run_in(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Answer {
        let mut command = self.command(env!("CARGO_BIN_EXE_stock"));
        Self::answer(command.args(arguments).envs(variables.iter().copied()), "")
    }

    /// Returns a command in the folder, with pipes, and without settings of the user who runs the tests.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LLM_DO_")) {
            command.env_remove(name);
        }
        command.current_dir(self.path()).env("LLM_DO_CONFIG", "").env("LLM_DO_CHATS", self.chats.path());
        command.env("XDG_STATE_HOME", self.state.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn answer(command: &mut Command, input: &str) -> Answer {
        let mut child = command.spawn().unwrap();
        // Ignored: the program may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Answer { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}
