//! Every command that reads recorded runs reads each kind of journal, and every command that makes runs can record them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use llm_do::journal::{Journal, LocalOutcome, SqliteJournal, StepKind, StepSpec};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::serve::Serving;

fn app(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    let command = command.args(arguments).env("LLM_DO_CONFIG", "").env_remove("LLM_DO_SERVE_TOKEN");
    command.stdin(Stdio::null()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns what a command prints that succeeds.
fn printed(arguments: &[&str]) -> String {
    let output = app(arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

fn fails(arguments: &[&str], code: i32, text: &str) {
    let output = app(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    assert!(stderr(&output).contains(text), "`{text}` is not in: {}", stderr(&output));
}

/// A service whose worker has greeted Ann twice and Bob once, and in which a run waits for an answer.
struct Served {
    serving: Serving,
    folder: TempDir,
    asking: String,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ["--entries", "greet,add,ask_name"];
        let serving = Serving::start_with(&folder.path().join("runs.db"), &options);
        let start = |entry: &str, arguments: Value| {
            let body = json!({ "entry": entry, "arguments": arguments }).to_string();
            serving.request("POST /runs", &body).1["id"].as_str().unwrap().to_owned()
        };
        for name in ["Ann", "Ann", "Bob"] {
            let id = start("greet", json!({ "input": name }));
            until(|| serving.request(&format!("GET /runs/{id}"), "").1["state"] == "succeeded");
        }
        let asking = start("ask_name", json!({}));
        let asks = |run: &Value| run["waits"].as_array().is_some_and(|waits| !waits.is_empty());
        until(|| asks(&serving.request(&format!("GET /runs/{asking}"), "").1));
        Self { serving, folder, asking }
    }

    fn store(&self) -> String {
        self.folder.path().join("runs.db").to_str().unwrap().to_owned()
    }

    /// Returns the file and the address of the service.
    fn journals(&self) -> [String; 2] {
        [self.store(), format!("http://{}", self.serving.address)]
    }
}

fn until(mut is_reached: impl FnMut() -> bool) {
    while !is_reached() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn each_reader_takes_the_file_of_a_service_and_its_address() {
    let served = Served::start();
    for journal in served.journals() {
        let harden = app(&["harden", "greet", "--tool", "greet_by_rule", "--journal", &journal]);
        let compared = stdout(&harden);
        assert!(compared.contains("agrees        {\"input\":\"Ann\"} (2 times)\n"), "{compared}{}", stderr(&harden));
        assert!(compared.contains("\n1 of 2 agree (50 %)\nrefused: "), "{compared}");

        let report = printed(&["harden", "--report", "--json", "--journal", &journal]);
        let greet: Value = serde_json::from_str(report.lines().next().unwrap()).unwrap();
        assert_eq!((&greet["name"], &greet["calls"]), (&json!("greet"), &json!(3)), "{report}");

        let dataset = printed(&["eval", "import", "greet", "--journal", &journal]);
        assert!(dataset.contains("Ann") && dataset.contains("Bob") && dataset.contains("Hello!"), "{dataset}");

        let listed = printed(&["journal", &journal, "--entry", "greet"]);
        assert_eq!(listed.lines().filter(|line| line.starts_with("run ")).count(), 3, "{listed}");
        let lines = printed(&["journal", &journal, "--json", "--run", &served.asking]);
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_eq!((&first["run"], &first["kind"]), (&json!(served.asking), &json!("run")), "{lines}");
        assert_eq!(printed(&["journal", &journal, "--unknown"]), "the journal has no call with an unknown outcome\n");
    }
    assert!(served.serving.terminate());
}

#[test]
fn runs_are_chosen_by_entry_state_time_tenant_and_version() {
    let served = Served::start();
    for journal in served.journals() {
        let runs = |options: &[&str]| {
            let listed = printed(&[&["journal", &journal, "--json"][..], options].concat());
            let ids = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["run"].to_string());
            ids.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(runs(&[]), 4);
        assert_eq!(runs(&["--entry", "greet"]), 3);
        assert_eq!(runs(&["--state", "succeeded"]), 3);
        assert_eq!(runs(&["--state", "running,waiting"]), 1);
        assert_eq!((runs(&["--since", "1h"]), runs(&["--until", "1h"])), (4, 0));
        assert_eq!(runs(&["--since", "2999-01-01"]), 0);
        assert_eq!((runs(&["--tenant", "local"]), runs(&["--tenant", "web"])), (4, 0));
        assert_eq!(runs(&["--app-version", "0.0.0-other"]), 0);
        assert_eq!(runs(&["--run", &served.asking]), 1);
        fails(&["journal", &journal, "--run", "0000"], 1, "unknown run `0000`");
    }
    let version = served.serving.request(&format!("GET /runs/{}", served.asking), "").1["version"].clone();
    let journal = served.store();
    let listed = printed(&["journal", &journal, "--app-version", version.as_str().unwrap()]);
    assert_eq!(listed.lines().filter(|line| line.starts_with("run ")).count(), 4, "{listed}");
}

#[test]
fn a_deploy_is_checked_against_the_runs_in_flight() {
    let served = Served::start();
    for journal in served.journals() {
        let checked = printed(&["check", "--replay", &journal]);
        let expected = format!("ok: run {}: ", served.asking);
        assert!(checked.starts_with(&expected) && checked.lines().count() == 1, "{checked}");
        assert!(checked.contains("the run had not finished, and continues with "), "{checked}");
        assert_eq!(printed(&["check", "--replay", &journal, "--state", "succeeded"]).lines().count(), 3);
        let none = printed(&["check", "--replay", &journal, "--entry", "add"]);
        assert_eq!(none, "ok: no such run; by default, those in flight are checked\n");
    }
    fails(&["check", "--state", "waiting"], 2, "`--replay JOURNAL`, which is missing");
}

#[test]
fn a_journal_that_is_missing_or_refuses_is_an_error() {
    let served = Served::start();
    let folder = served.folder.path();
    let other = folder.join("other.db");
    std::fs::write(&other, b"SQLite format 3\0, but not really").unwrap();
    let harden =
        |journal: &str| ["harden", "greet", "--tool", "greet_by_rule", "--journal", journal].map(str::to_owned);
    let fails = |journal: &str, code, fault: &str| {
        let arguments = harden(journal);
        super::recorded::fails(&arguments.each_ref().map(String::as_str), code, fault);
    };
    fails(text(&other), 1, "not an");
    fails("http://127.0.0.1:1", 1, "error");
    fails("restate:not a name", 2, "not a name");
    let journal = served.store();
    super::recorded::fails(&["journal", &journal, "--settle", "a", "--not-done"], 2, "`runs settle ID STEP`");
}

/// Talks to the worker, and returns the answers.
fn chat(journal: &Path, events: &Path, input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    command.args(["chat", "greet", "--journal", text(journal), "--events", text(events)]);
    command.env("LLM_DO_CONFIG", "").env("LLM_DO_CHATS", journal.parent().unwrap().join("chats"));
    let mut chat = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    chat.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = chat.wait_with_output().unwrap();
    assert!(output.status.success());
    stdout(&output)
}

fn files(folder: &TempDir) -> (PathBuf, PathBuf) {
    (folder.path().join("journal.jsonl"), folder.path().join("events.jsonl"))
}

#[test]
fn a_chat_is_recorded_message_by_message_and_only_independent_answers_become_cases() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, events) = files(&folder);
    assert_eq!(chat(&journal, &events, "Ann\nAnn\n"), "Hello!\nHello!\n");
    // Another process adds to the file, and gets no recorded answer.
    assert_eq!(chat(&journal, &events, "Ann\n"), "Hello!\n");
    let written = std::fs::read_to_string(&events).unwrap();
    assert!(written.contains(r#""kind":"call_finished""#), "{written}");
    let lines = std::fs::read_to_string(&journal).unwrap();
    assert_eq!(lines.matches(r#""kind":"model""#).count(), 3, "the model was asked for each message: {lines}");

    let harden = ["harden", "greet", "--tool", "greet_by_rule", "--agreement", "0.01", "--journal", text(&journal)];
    let harden = printed(&harden);
    let expected = "agrees        {\"input\":\"Ann\"} (2 times)\n1 of 1 agree (100 %)\naccepted: ";
    assert!(harden.starts_with(expected), "not the second message: {harden}");
    let checked = printed(&["check", "--replay", text(&journal)]);
    assert_eq!(checked.matches("ok: ").count(), 2, "{checked}");
    assert!(checked.contains("not checked, since they continue a chat: 1"), "{checked}");
    let only = printed(&["journal", text(&journal), "--entry", "greet", "--state", "failed"]);
    assert_eq!(only, "the journal is empty\n");
}

#[test]
fn calls_of_mcp_clients_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, events) = files(&folder);
    for _ in 0..2 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        command.args(["mcp", "--expose", "greet", "--journal", text(&journal), "--events", text(&events)]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let call = json!({ "name": "greet", "arguments": { "input": "Ann" } });
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
        ] {
            writeln!(input, "{message}").unwrap();
        }
        let answer = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(r#""id":2"#))).unwrap().unwrap();
        assert!(answer.contains("Hello!"), "{answer}");
        drop(input);
        server.wait().unwrap();
    }
    let harden = ["harden", "greet", "--tool", "greet_by_rule", "--agreement", "0.01", "--journal", text(&journal)];
    let harden = printed(&harden);
    assert!(harden.starts_with("agrees        {\"input\":\"Ann\"} (2 times)\n"), "{harden}");
    assert!(std::fs::read_to_string(&events).unwrap().contains(r#""name":"greet""#));
}

#[test]
fn a_service_writes_its_events_to_a_file_and_its_journal_is_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let (_, events) = files(&folder);
    let store = folder.path().join("runs.db");
    let serving = Serving::start_with(&store, &["--entries", "add", "--events", text(&events)]);
    let run = serving.request("POST /runs", r#"{"entry":"add","arguments":{"a":2,"b":3}}"#).1;
    let path = format!("GET /runs/{}", run["id"].as_str().unwrap());
    until(|| serving.request(&path, "").1["result"] == 5);
    assert!(serving.terminate());
    assert!(std::fs::read_to_string(&events).unwrap().contains(r#""kind":"call_finished""#));

    let journal = folder.path().join("journal.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--entries", "add", "--journal", text(&journal)]);
    let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(line.starts_with(&format!("serving {}", text(&journal))), "{line}");
}

#[test]
#[ignore = "writes 600 MB, and takes minutes"]
fn a_million_records_are_read_in_bounded_memory_with_progress() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (folder.path().join("small.jsonl"), folder.path().join("large.jsonl"));
    printed(&["run", "--tool", "greet", "--journal", text(&small), "Ann"]);
    let recorded = std::fs::read_to_string(&small).unwrap();
    let (header, run) = recorded.split_once('\n').unwrap();
    let key = serde_json::from_str::<Value>(run.lines().next().unwrap()).unwrap()["key"].as_str().unwrap().to_owned();
    let mut file = std::io::BufWriter::new(std::fs::File::create(&large).unwrap());
    writeln!(file, "{header}").unwrap();
    let runs = 1_000_000 / run.lines().count() + 1;
    for number in 0..runs {
        let name = format!("Ann {number}");
        file.write_all(
            run.replace(&key, &format!("{key}#{number}")).replace("\"Ann\"", &json!(name).to_string()).as_bytes(),
        )
        .unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    for arguments in ["harden --report", "eval import greet --max-cases 1000"] {
        let program = env!("CARGO_BIN_EXE_app");
        // In KiB: a part of what the records take.
        let command = format!("ulimit -v 1000000; exec {program} {arguments} --journal {}", text(&large));
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("read 1000000 records in 1 runs and files"), "{}", stderr(&output));
    }
}

#[tokio::test]
async fn a_database_that_a_program_writes_by_itself_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.db");
    let runs = SqliteJournal::open(&path).unwrap();
    for (id, name) in [("order-17", "Ann"), ("order-18", "Bob")] {
        let run = runs.run(id).await.unwrap();
        let step = StepSpec::new("", 0, StepKind::Run, "greet", json!({ "input": name }));
        let result = step.within(StepKind::Result, "result");
        let record = |value: Value| Box::pin(async move { LocalOutcome::Record(value) });
        run.step(step, record(json!("0198"))).await.unwrap();
        run.step(result, record(json!({ "result": { "value": "Hello!" } }))).await.unwrap();
    }
    let journal = text(&path);
    let harden = app(&["harden", "greet", "--tool", "greet_by_rule", "--journal", journal]);
    assert!(stdout(&harden).contains("\n1 of 2 agree (50 %)\n"), "{}{}", stdout(&harden), stderr(&harden));
    let listed = printed(&["journal", journal, "--run", "order-18"]);
    assert!(listed.starts_with("run order-18\n") && !listed.contains("Ann"), "{listed}");
    assert_eq!(printed(&["journal", journal, "--state", "failed"]), "the journal is empty\n");
    fails(&["journal", journal, "--tenant", "web"], 2, "--tenant: only the runs of a service have it");
}
