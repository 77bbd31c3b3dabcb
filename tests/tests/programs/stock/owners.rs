//! Nothing of MCP servers is left when the program ends, also when it is killed.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{ASSISTANT, Place};

/// How long a server may be left after its owner: it is asked to end before it is killed.
const LEFT: Duration = Duration::from_secs(8);
/// How long a program may take to start its server, on a busy machine.
const START: Duration = Duration::from_secs(60);

/// How often the program is killed at any time.
fn kills() -> u64 {
    std::env::var("LLM_DO_KILLS").map_or(25, |kills| kills.parse().unwrap())
}

/// A project with a server that does not end by itself, and has children in groups and sessions of their own.
struct Family {
    place: Place,
    /// A variable that the server and all that it starts have.
    mark: String,
}

impl Family {
    fn new() -> Self {
        let worker = ASSISTANT.replace("[filesystem_project]", "[mcp__s]");
        let place = Place::new(&[("main.worker", &worker)]);
        let mark = format!("OWNER_OF_THIS_TEST={}", place.path().display());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/family.py");
        let (name, value) = mark.split_once('=').unwrap();
        let server =
            format!(r#"{{ "command": "python3", "args": ["{script}", "ready"], "env": {{ "{name}": "{value}" }} }}"#);
        place.write(".mcp.json", &format!(r#"{{ "mcpServers": {{ "s": {server} }} }}"#));
        Self { place, mark }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        // The file of the last start.
        let _ = fs::remove_file(self.ready());
        let stock = env!("CARGO_BIN_EXE_stock");
        // In the background of a shell, or under `nohup`, tests ignore some of these, and programs inherit that.
        let mut command = self.place.command("env");
        command.args(["--default-signal=HUP,INT,TERM", stock]);
        // Its input stays open.
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn ready(&self) -> std::path::PathBuf {
        self.place.path().join("ready")
    }

    /// Waits until the server has started its children.
    fn wait(&self) {
        assert!(within(START, || self.ready().exists()), "the server does not start");
    }

    /// Returns the command lines of processes with the mark.
    fn left(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let is_marked = |folder: &Path| {
            let variables = fs::read(folder.join("environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
        };
        let marked = processes.map(|entry| entry.path()).filter(|folder| is_marked(folder));
        marked.map(|folder| fs::read_to_string(folder.join("cmdline")).unwrap_or_default().replace('\0', " ")).collect()
    }

    fn assert_gone(&self, how: &str) {
        let is_gone = within(LEFT, || self.left().is_empty());
        assert!(is_gone, "{how}: {:?}", self.left());
    }

    /// Asserts that each signal ends the command, and leaves nothing of the server.
    fn assert_owned_by(&self, arguments: &[&str]) {
        for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::KILL] {
            let mut program = self.start(arguments);
            self.wait();
            assert!(self.left().len() >= 4, "{:?}", self.left());
            send(&program, signal);
            let has_ended = within(START, || program.try_wait().unwrap().is_some());
            assert!(has_ended, "{arguments:?} goes on after {signal:?}");
            self.assert_gone(&format!("{arguments:?} {signal:?}"));
        }
    }
}

fn send(program: &Child, signal: Signal) {
    kill_process(Pid::from_child(program), signal).unwrap();
}

fn within(time: Duration, is_met: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + time;
    let mut is_met = is_met;
    while Instant::now() < end {
        if is_met() {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    is_met()
}

#[test]
fn nothing_of_a_server_outlives_run() {
    Family::new().assert_owned_by(&["run", "--trust-project", "--approve-all", "call mcp__s__hang {}"]);
}

#[test]
fn nothing_of_a_server_outlives_chat() {
    Family::new().assert_owned_by(&["chat", "--trust-project"]);
}

#[test]
fn nothing_of_a_server_outlives_mcp() {
    Family::new().assert_owned_by(&["mcp", "--trust-project"]);
}

#[test]
fn nothing_of_a_server_outlives_serve() {
    let store = tempfile::tempdir().unwrap();
    let store = store.path().join("runs.db");
    let arguments = ["--listen", "127.0.0.1:0", "--unauthenticated", "--store", store.to_str().unwrap()];
    Family::new().assert_owned_by(&[&["serve", "--trust-project"], &arguments[..]].concat());
}

#[test]
fn nothing_of_a_server_is_left_by_a_program_that_is_killed_at_any_time() {
    let (family, mut random) = (Family::new(), fastrand::Rng::with_seed(43));
    for _ in 0..kills() {
        let mut program = family.start(&["mcp", "--trust-project"]);
        let time = Duration::from_millis(random.u64(0..400));
        sleep(time);
        program.kill().unwrap();
        program.wait().unwrap();
        family.assert_gone(&format!("killed after {time:?}"));
    }
}

#[test]
fn nothing_of_a_server_is_left_once_it_ended_by_itself() {
    let family = Family::new();
    let answer = family.place.run(&["run", "--trust-project", "--approve-all", "call mcp__s__die {}"]);
    assert!(answer.err.contains("ended") || answer.out.contains("ended"), "{answer:?}");
    family.assert_gone("died");
}

#[test]
fn a_server_that_cannot_be_started_is_reported_as_without_a_reaper() {
    let worker = ASSISTANT.replace("[filesystem_project]", "[mcp__s]");
    for (program, text) in [
        ("no-such-program", "`no-such-program`: No such file or directory"),
        ("./no/such/program", "/./no/such/program`: No such file or directory"),
        ("./plain", "/./plain`: Permission denied"),
        ("/", "`/`: Permission denied"),
    ] {
        let server = format!(r#"{{ "mcpServers": {{ "s": {{ "command": "{program}" }} }} }}"#);
        let place = Place::new(&[("main.worker", &worker), (".mcp.json", &server), ("plain", "")]);
        let answer = place.run(&["run", "--trust-project", "hello"]);
        assert!(answer.code != Some(0) && answer.err.contains(text), "{program}: {answer:?}");
    }
}
