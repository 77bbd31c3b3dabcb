//! Recorded runs against a change, and rules from recorded decisions, on the command line.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

fn app(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    command.args(arguments).env("LLM_DO_CONFIG", "").stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns what a command prints that ends with this exit code, and its errors.
fn ends(arguments: &[&str], code: i32) -> (String, String) {
    let output = app(arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stdout}{stderr}");
    (stdout, stderr)
}

/// A folder with the journal of a run of `main_entry`, which greets and writes it down.
struct Folder(TempDir);

impl Folder {
    fn recorded(name: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        ends(&["run", "--journal", &folder.path("run.jsonl"), "--approve-all", name], 0);
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn file(&self, name: &str, content: &str) -> String {
        std::fs::write(self.0.path().join(name), content).unwrap();
        self.path(name)
    }

    fn journal(&self) -> String {
        std::fs::read_to_string(self.0.path().join("run.jsonl")).unwrap()
    }
}

#[test]
fn a_policy_decides_again_about_recorded_calls() {
    let folder = Folder::recorded("Ann");
    let journal = folder.path("run.jsonl");
    let same = folder.file("same.json", r#"{ "tools": { "write": "pre_approved" } }"#);
    let (report, _) = ends(&["check", "--replay", &journal, "--policy", &same], 0);
    assert!(report.starts_with("1 runs with 2 calls: 2 pass, 0 need approval, 0 are blocked\n"), "{report}");

    let blocks = folder.file("blocks.json", r#"{ "tools": { "write": "blocked" } }"#);
    let (report, error) = ends(&["check", "--replay", &journal, "--policy", &blocks], 1);
    assert!(report.contains("write: 1 calls ran without a question, and would be blocked"), "{report}");
    assert!(report.contains(r#"write(text="Hello!") by `main_entry`"#) && report.contains("blocks.json:1"), "{report}");
    assert_eq!(error, "error: 1 of 2 calls would be decided differently\n");
    let (json, _) = ends(&["check", "--replay", &journal, "--policy", &blocks, "--json"], 1);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["blocked"], &json["changes"][0]["now"]), (&json!(1), &json!("blocks")), "{json}");

    let unknown = folder.file("unknown.json", r#"{ "tools": { "wrote": "ask" } }"#);
    let (_, error) = ends(&["check", "--replay", &journal, "--policy", &unknown], 1);
    assert!(error.contains("unknown tool `wrote`"), "{error}");
    let (_, error) = ends(&["check", "--replay", &journal, "--policy", &same, "--model", "a:b"], 2);
    assert!(error.contains("--policy is a change of its own"), "{error}");
    let (_, error) = ends(&["check", "--replay", &journal, "--json"], 2);
    assert!(error.contains("--json has no effect"), "{error}");
}

#[test]
fn ten_thousand_runs_are_decided_about_within_a_minute() {
    let folder = Folder::recorded("Ann");
    let recorded = folder.journal();
    let (header, run) = recorded.split_once('\n').unwrap();
    let first: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let key = first["key"].as_str().unwrap();
    let mut journal = format!("{header}\n");
    for number in 0..10_000 {
        journal.push_str(&run.replace(key, &format!("{key}#{number}")));
    }
    let journal = folder.file("many.jsonl", &journal);
    let asks = json!({ "calls": [{ "tool": "write", "when": { "properties": { "text": { "maxLength": 30 } } }, "rule": "ask" }] });
    let policy = folder.file("policy.json", &asks.to_string());
    let begun = Instant::now();
    let (report, _) = ends(&["check", "--replay", &journal, "--policy", &policy], 1);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(report.starts_with("10000 runs with 20000 calls: 10000 pass, 10000 need approval"), "{report}");
}

#[test]
fn another_prompt_is_asked_and_the_first_difference_ends_the_replay() {
    let folder = Folder::recorded("Ann");
    let (journal, prompt) = (folder.path("run.jsonl"), folder.file("prompt.md", "Greet kindly."));
    let replay = ["check", "--replay", &journal, "--prompt", &prompt, "--worker", "greet"];
    let (report, _) = ends(&replay, 0);
    assert!(report.starts_with("1 runs replayed: 1 the same, 0 different; 2 calls agree\n1 requests for "), "{report}");
    let (_, error) = ends(&replay[..5], 2);
    assert!(error.contains("give --worker"), "{error}");
    let (_, error) = ends(&["check", "--replay", &journal, "--prompt", &prompt, "--worker", "greed"], 2);
    assert!(error.contains("unknown worker `greed`"), "{error}");

    // As if the run had written something else.
    let other = folder.journal().replace(r#""input":{"text":"Hello!"}"#, r#""input":{"text":"Bye!"}"#);
    folder.file("run.jsonl", &other);
    let (report, error) = ends(&replay, 1);
    let difference =
        r#"`main_entry`: tool `write` with {"text":"Hello!"} was made; `write` with {"text":"Bye!"} is recorded"#;
    assert!(report.contains(difference), "{report}");
    assert_eq!(error, "error: 1 of 1 runs differ, and 0 failed\n");
    let (json, _) = ends(&[&replay[..], &["--json"]].concat(), 1);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["differences"], json!({ "call": 1 }), "{json}");
    assert_eq!(folder.journal(), other, "nothing is recorded");
}

#[test]
fn a_model_whose_requests_are_recorded_is_not_asked() {
    let folder = Folder::recorded("Ann");
    let (report, _) = ends(&["check", "--replay", &folder.path("run.jsonl"), "--model", "test:any"], 0);
    assert!(report.starts_with("1 runs replayed: 1 the same") && report.contains("\n0 requests for "), "{report}");
}

#[test]
fn a_candidate_runs_in_place_of_a_worker_on_its_recorded_calls() {
    let replay = |name: &str, candidate: &str, code| {
        let folder = Folder::recorded(name);
        ends(&["check", "--replay", &folder.path("run.jsonl"), "--candidate", candidate, "--worker", "greet"], code)
    };
    let (report, _) = replay("Ann", "greet_by_rule", 0);
    assert!(report.starts_with("1 calls replayed: 1 the same, 0 different"), "{report}");
    let (report, error) = replay("Bob", "greet_by_rule", 1);
    assert!(
        report.contains(r#"the result is "Good day, Bob, who likes it formal."; "Hello!" is recorded"#),
        "{report}"
    );
    assert_eq!(error, "error: 1 of 1 calls differ, and 0 failed\n");
    let (_, error) = replay("Ann", "greet_in_writing", 2);
    assert!(error.contains("`greet_in_writing` is not `effect = read_only`"), "{error}");
}

/// Writes a journal with decisions of a person about `write`: greetings are approved, and other texts are denied.
fn decided(folder: &Path, header: &str) -> String {
    let mut journal = format!("{header}\n");
    for number in 0..120 {
        let (text, verdict) = match number % 2 {
            0 => ("Hello!".to_owned(), json!({ "approved": null })),
            _ => (format!("Bye {number}!"), json!({ "denied": "no" })),
        };
        let run = format!("main_entry:0f#{number}");
        let record = |key: String, parent: &str, kind: &str, name: &str, input: Value, value: Value| {
            json!({
                "key": key, "parent": parent, "place": 0, "overlapped": false, "kind": kind, "name": name, "input": input,
                "value": value, "time": "2026-01-31T12:00:00Z",
            })
        };
        let input = json!({ "name": "Ann" });
        let begun = record(run.clone(), "", "run", "main_entry", input.clone(), json!(format!("id-{number}")));
        let answer = json!({ "verdict": verdict, "by": "approver" });
        let decision =
            record(format!("{run}/write:17/approval"), &run, "approval", "write", json!({ "text": text }), answer);
        let end =
            record(format!("{run}/result"), "", "result", "main_entry", input, json!({ "result": { "value": "x" } }));
        writeln!(journal, "{begun}\n{decision}\n{end}").unwrap();
    }
    let path = folder.join("decided.jsonl");
    std::fs::write(&path, journal).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_policy_is_proposed_from_decisions_with_its_evidence() {
    let folder = Folder::recorded("Ann");
    let recorded = folder.journal();
    let journal = decided(folder.0.path(), recorded.lines().next().unwrap());
    let out = folder.path("rules.json");
    let (_, error) = ends(&["approvals", "--propose", &journal, "--out", &out], 1);
    assert_eq!(error, "error: no rule follows from 0 decisions; nothing is written\n", "a destructive tool");
    assert!(!Path::new(&out).exists());

    let propose = ["approvals", "--propose", &journal, "--out", &out, "--destructive"];
    let (summary, _) = ends(&propose, 0);
    assert!(summary.contains("`write` by `main_entry`: text: \"Hello!\" (60 questions)\n"), "{summary}");
    assert!(summary.contains("would have saved 60 of 60 questions"), "{summary}");
    let evidence = std::fs::read_to_string(folder.path("rules.evidence.md")).unwrap();
    assert!(evidence.contains("60 approved, 60 denied") && evidence.contains("Signature"), "{evidence}");
    let (_, error) = ends(&propose, 2);
    assert!(error.contains("rules.json exists"), "a signed policy is not replaced: {error}");

    let decides = |caller: &str| {
        let input = r#"{"text":"Hello!"}"#;
        ends(&["check", "--policy", &out, "--call", "write", "--caller", caller, "--input-json", input], 0).0
    };
    assert!(decides("main_entry").starts_with("write: runs without approval\n"), "{}", decides("main_entry"));
    assert!(decides("greet").starts_with("write: needs approval\n"));
    let (report, _) = ends(&["check", "--replay", &journal, "--policy", &out], 1);
    assert!(report.contains("write: 60 calls were approved, and would run without a question"), "{report}");
}

#[test]
fn options_of_a_proposal_are_checked() {
    let folder = Folder::recorded("Ann");
    let journal = folder.path("run.jsonl");
    let (_, error) = ends(&["approvals", "--propose", &journal, "--data", "write.txt"], 2);
    assert!(error.contains("`write` has no argument `txt`; did you mean `text`?"), "{error}");
    let (_, error) = ends(&["approvals", &journal], 2);
    assert!(error.contains("--propose"), "{error}");
    let (_, error) = ends(&["approvals", "--propose", &journal, "--data", "write"], 2);
    assert!(error.contains("expected `TOOL.ARGUMENT`"), "{error}");
}
