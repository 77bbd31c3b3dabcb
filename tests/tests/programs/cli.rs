//! The command line of an application, run as a process.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use llm_do::journal::FileJournal;
use serde_json::Value;

fn app(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_app"))
        .args(arguments)
        .env("LLM_DO_CONFIG", "")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Asserts the exit code, and that standard error contains `text`.
fn fails(arguments: &[&str], code: i32, text: &str) {
    let output = app(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    assert!(stderr(&output).contains(text), "`{text}` is not in: {}", stderr(&output));
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_result_goes_to_standard_output_alone() {
    let output = app(&["run", "--approve-all", "Ann"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "wrote Hello!\n"), "{}", stderr(&output));
}

#[test]
fn files_are_attached_to_a_prompt() {
    let output = app(&["run", "--tool", "look_at", "--attach", "Cargo.toml", "--attach", "src/bin/app.rs", "What?"]);
    assert_eq!(stdout(&output), "Hello!\n", "{}", stderr(&output));
    fails(&["run", "--tool", "look_at", "--attach", "missing.png", "What?"], 2, "attachment not found: missing.png");
    fails(
        &["run", "--attach", "Cargo.toml", "Ann"],
        2,
        "`main_entry` takes no files: only a tool, worker or entry with a single `Prompt`",
    );
}

#[test]
fn files_of_a_result_are_written_to_the_given_folder_without_overwriting() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in/side");
    for (times, expected) in
        [(1, vec!["dot.png", "file-2.png", "file.png"]), (2, vec!["dot-2.png", "dot.png", "file-2.png", "file-3.png"])]
    {
        let output = app(&["run", "--tool", "draw", "--files", inside.to_str().unwrap()]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "a dot\n"), "{}", stderr(&output));
        let mut found: Vec<_> =
            inside.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(found.len(), 3 * times);
        assert_eq!(found[..expected.len()], expected);
    }
    assert_eq!(std::fs::read(inside.join("file-4.png")).unwrap(), [1, 2, 3]);
    let output = app(&["run", "--tool", "draw"]);
    assert_eq!(stdout(&output), "a dot\n");
    assert!(stderr(&output).contains("not written: dot.png, 3 bytes; use --files DIR"), "{}", stderr(&output));
    fails_after_its_result(&["run", "--tool", "draw", "--files", inside.join("dot.png").to_str().unwrap()]);
}

/// Asserts that the result is printed although the command fails with exit code 1.
fn fails_after_its_result(arguments: &[&str]) {
    let output = app(arguments);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), "a dot\n"));
    assert!(stderr(&output).contains("cannot write "), "{}", stderr(&output));
}

#[test]
fn an_entry_may_be_named_and_its_input_given_as_json() {
    let output = app(&["run", "main_entry", "--approve-all", "--input-json", r#"{"name":"Ann"}"#]);
    assert_eq!(stdout(&output), "wrote Hello!\n", "{}", stderr(&output));
}

#[test]
fn any_tool_may_be_the_root() {
    let output = app(&["run", "--tool", "add", "--input-json", r#"{"a":2,"b":3}"#]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "5\n"));
    assert_eq!(stdout(&app(&["run", "--tool", "greet", "Ann"])), "Hello!\n");
}

#[test]
fn without_a_terminal_a_call_that_needs_approval_is_denied_with_advice() {
    let expected = "error: `main_entry` failed: call to `write` denied: no terminal to ask the user\n\
                    run with --approve-all to approve every call\n";
    assert_eq!(stderr(&app(&["run", "Ann"])), expected);
    let rejected = "error: `main_entry` failed: call to `write` denied: the approval mode rejects every call that needs approval\n";
    assert_eq!(stderr(&app(&["run", "--reject-all", "Ann"])), rejected);
}

#[test]
fn a_tools_name_as_the_only_word_is_an_error_with_advice() {
    let text = "error: `add` is a tool: use `--tool add`, or `run main_entry add` if it is the prompt\n";
    let output = app(&["run", "add"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(2), text));
    fails(&["run", "greet", "Ann"], 2, "error: `greet` is a worker: use `--tool greet`\n");
    assert_eq!(stdout(&app(&["run", "--approve-all", "main_entry", "add"])), "wrote Hello!\n");
}

#[test]
fn wrong_usage_exits_with_2_and_names_the_fault() {
    fails(&["run", "--input-json", "{"], 2, "invalid JSON in --input-json");
    fails(&["run", "--input-json", "[]"], 2, "--input-json must be a JSON object");
    fails(&["run", "main_entri", "Ann"], 2, "did you mean `main_entry`?");
    fails(&["run", "--tool", "ad"], 2, "did you mean `add`?");
    fails(&["run", "--tool", "add", "3"], 2, r#"takes several arguments: use --input-json '{"a":1,"b":1}'"#);
    fails(&["run", "--approve-all", "--reject-all", "Ann"], 2, "cannot be used with");
    fails(&["run", "--events", "/missing/events", "Ann"], 2, "cannot write --events");
    fails(&["run", "Ann", "--input-json", "{}"], 2, "a prompt cannot be combined with --input-json");
    fails(&["run", "main_entry", "Ann", "--input-json", "{}"], 2, "cannot be used with");
    fails(&["walk"], 2, "unrecognized subcommand");
}

#[test]
fn invalid_input_is_an_error_before_anything_runs_or_is_written() {
    let (folder, journal, text) = journal();
    let events = folder.path().join("events.jsonl");
    let files = ["--journal", &text, "--events", events.to_str().unwrap()];
    for input in [&["--tool", "add", "--a", "2"][..], &["--tool", "add", "--input-json", "{"], &["main_entri", "Ann"]] {
        fails(&[&["run"][..], &files, input].concat(), 2, "error: ");
        assert!(!journal.exists() && !events.exists(), "{input:?}");
    }
}

#[test]
fn wrong_input_exits_with_2_and_names_the_argument() {
    fails(&["run", "--tool", "add", "--input-json", r#"{"a":2,"b":"x"}"#], 2, "/b");
    fails(&["run", "--tool", "deeper", "x"], 2, "at `/times`; use --input-json");
}

#[test]
fn a_failure_exits_with_1_and_its_text_is_escaped() {
    fails(&["run", "--tool", "fail", "\u{1b}[2Jgone"], 1, "`fail` failed: \\u{1b}[2Jgone");
}

#[test]
fn a_limit_that_the_application_sets_stays_unless_an_option_changes_it() {
    let text = stderr(&app(&["run", "--tool", "deeper", "1"]));
    assert!(text.contains("the maximum depth is 2"), "{text}");
    assert_eq!(stdout(&app(&["run", "--max-depth", "3", "--tool", "deeper", "1"])), "Hello!\n");
}

#[test]
fn standard_input_is_the_prompt_if_input_is_required() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_app"))
        .args(["run", "--approve-all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"Ann\n").unwrap();
    assert_eq!(stdout(&child.wait_with_output().unwrap()), "wrote Hello!\n");
}

#[test]
fn tools_lists_names_kinds_effects_recoveries_approvals_and_descriptions() {
    let text = stdout(&app(&["tools"]));
    let row = |name: &str| text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    // The width of the columns depends on the longest name, and so on the toolsets that are linked.
    let (add, greet) = (row("add"), row("greet"));
    assert_eq!(add.find("pre_approved  Add two numbers."), greet.find("pre_approved  Greet a person."), "{text}");
    for (name, expected) in [
        ("add", "add tool read_only repeat pre_approved Add two numbers."),
        ("greet", "greet worker read_only steps pre_approved Greet a person."),
        ("write", "write tool destructive ask ask Write something down."),
        ("arithmetic", "arithmetic toolset Plain sums, by their own names."),
    ] {
        assert_eq!(row(name).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
    }
}

#[test]
fn tools_shows_what_a_policy_has_done_about_unknown_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.json");
    for setting in ["ask", "report", "rerun"] {
        std::fs::write(&policy, format!(r#"{{"on_unknown": {{"write": "{setting}"}}}}"#)).unwrap();
        let text = stdout(&app(&["tools", "--policy", policy.to_str().unwrap()]));
        let row = text.lines().find(|line| line.starts_with("write ")).unwrap();
        assert_eq!(row.split_whitespace().nth(3), Some(setting), "{text}");
    }
}

#[test]
fn tools_as_json_has_the_schemas() {
    let items: Value = serde_json::from_str(&stdout(&app(&["tools", "--json"]))).unwrap();
    let add = items.as_array().unwrap().iter().find(|item| item["name"] == "add").unwrap();
    assert_eq!(add["parameters"]["required"], serde_json::json!(["a", "b"]));
    assert_eq!((&add["effect"], &add["output"]["type"]), (&"read_only".into(), &"integer".into()));
    assert_eq!((&add["approval"], &add["recovery"]), (&"pre_approved".into(), &"repeat".into()));
    let write = items.as_array().unwrap().iter().find(|item| item["name"] == "write").unwrap();
    assert_eq!((&write["approval"], &write["recovery"]), (&"ask".into(), &"ask".into()));
    let greet = items.as_array().unwrap().iter().find(|item| item["name"] == "greet").unwrap();
    assert_eq!(greet["hints"], serde_json::json!(["politeness"]));
    assert_eq!((&greet["effect"], &greet["recovery"]), (&"read_only".into(), &"steps".into()));
}

#[test]
fn tools_as_json_has_the_names_that_callers_see() {
    let items: Value = serde_json::from_str(&stdout(&app(&["tools", "--json"]))).unwrap();
    let named = |name: &str| items.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap();
    let add = serde_json::json!({ "name": "math_add", "tool": "add" });
    assert_eq!(named("arithmetic")["members"], serde_json::json!([add]));
    assert_eq!(named("main_entry")["toolsets"][2], add);
}

#[test]
fn check_counts_entries_workers_and_tools() {
    assert_eq!(stdout(&app(&["check"])), "ok (entries: 1, workers: 3, tools: 33)\n");
}

#[test]
fn check_shows_which_rule_decides_about_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.json");
    let condition = r#"{"properties":{"text":{"minLength":5}}}"#;
    let rules = format!(
        "{{\n\"tools\": {{ \"write\": \"pre_approved\" }},\n\"calls\": [\n{{ \"tool\": \"write\", \"when\": {condition}, \"rule\": \"ask\" }}\n]\n}}\n"
    );
    std::fs::write(&file, rules).unwrap();
    let path = file.to_str().unwrap();
    let of = |arguments: &str| stdout(&app(&["check", "--policy", path, "--call", "write", "--input-json", arguments]));
    let effect = "needs approval: its effect is destructive, by its declaration";
    let by_tool = format!("{path}:2: the policy, for `write`");
    let expected = format!("write: runs without approval\n  by {by_tool}\nother rules that match:\n  {effect}\n");
    assert_eq!(of(r#"{"text":"hi"}"#), expected);
    let by_condition = format!("{path}:4: calls of `write` that match {condition}");
    let expected = format!(
        "write: needs approval\n  by {by_condition}\nother rules that match:\n  runs without approval: {by_tool}\n  {effect}\n"
    );
    assert_eq!(of(r#"{"text":"hello"}"#), expected);
    fails(&["check", "--call", "write"], 1, "no call of `write` is possible: ");
    fails(&["check", "--call", "wirte"], 2, "unknown tool, worker or entry `wirte`; did you mean `write`?");
}

/// Runs `check` in an application with faulty models, in an environment that sets no model.
fn check_models(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_models"));
    for variable in ["LLM_DO_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"] {
        command.env_remove(variable);
    }
    command.env("LLM_DO_CONFIG", "");
    command.arg("check").args(arguments).envs(environment.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn check_fails_where_an_entry_declares_a_worker_without_a_model() {
    let output = check_models(&[], &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    let text = stderr(&output);
    let place = "tests/src/bin/models.rs";
    let set = "set `LLM_DO_MODEL` or the option `--model` to `provider:model`, or `model` of the runtime or the worker";
    let fault = format!(
        "error: the entry `main_entry` ({place}:20) may call the worker `poet` ({place}:8), which has no model: {set}\n"
    );
    assert!(text.ends_with(&fault), "{text}");
    let warning = format!("warning: the worker `lonely` ({place}:12) has no model: {set}\n");
    assert!(text.contains(&warning) && !text.contains("warning: the worker `poet`"), "{text}");
}

#[test]
fn check_warns_about_an_unknown_model_and_a_missing_key_and_succeeds() {
    let output = check_models(&["--model", "test:any"], &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "ok (entries: 1, workers: 3, tools: 24)\n"));
    let text = stderr(&output);
    let warnings: Vec<_> = text.lines().collect();
    let typist = "warning: the worker `typist` (tests/src/bin/models.rs:16): ";
    assert_eq!(warnings.len(), 2, "{text}");
    assert!(warnings[0].starts_with(&format!("{typist}`openai` has no known model `gpt-5-minni`, as of ")), "{text}");
    assert!(warnings[0].ends_with("; did you mean `openai:gpt-5-mini`?"), "{text}");
    assert!(warnings[1].starts_with(typist) && warnings[1].contains("OPENAI_API_KEY"), "{text}");
    let other_server = [("OPENAI_BASE_URL", "http://localhost:1"), ("OPENAI_API_KEY", "k"), ("LLM_DO_MODEL", "test:a")];
    assert_eq!(stderr(&check_models(&[], &other_server)), "");
}

#[test]
fn check_names_the_tools_whose_schemas_a_model_gets_in_words_or_not_at_all() {
    let worker = |name: &str, keys: &str| (format!("{name}.worker"), format!("---\nname: {name}\n{keys}---\nWork.\n"));
    let schema = |part: &str| format!("input_schema: {{ type: object, required: [n], properties: {{ n: {part} }} }}\n");
    let files = [
        worker("sorter", &schema("{ type: array, contains: { const: 1 } }")),
        worker("never", &schema("false")),
        worker("asker", "model: gemini:gemini-3-flash\ntoolsets: [sorter, never]\n"),
        worker("other", "model: openai:gpt-5\ntoolsets: [sorter, never]\n"),
    ];
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (_folder, path) = folder_of_workers(&files);
    let keys = [("GEMINI_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    let output = check_models(&["--model", "test:any", "--worker-dir", &path], &keys);
    let text = stderr(&output);
    let weaker = "warning: `gemini:gemini-3-flash` gets a part of the schema of the tool `sorter` in words, and arguments are \
                  validated afterwards: `#/properties/n` uses `contains`";
    assert!(text.contains(weaker), "{text}");
    assert!(text.contains("warning: requests to `gemini:gemini-3-flash` leave out the tool `never`: "), "{text}");
    assert!(!text.contains("`openai:gpt-5` gets"), "{text}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn check_fails_on_an_invalid_model_and_names_its_setting() {
    let output = check_models(&["--model", "opnai:gpt-5"], &[]);
    let text = stderr(&output);
    assert!(text.contains("`--model`: unknown provider `opnai` of the model `opnai:gpt-5`"), "{text}");
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&check_models(&[], &[("LLM_DO_MODEL", "gpt-5")]));
    assert!(text.contains("`LLM_DO_MODEL`: invalid model name `gpt-5`: expected `provider:model`"), "{text}");
}

/// Writes worker files into a temporary folder; returns the folder and its path.
fn folder_of_workers(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn worker_files_of_a_folder_are_listed_checked_and_run() {
    let (_folder, path) = folder_of_workers(&[("a.worker", "---\nname: helper\ndescription: Help.\n---\n")]);
    let (_other, second) = folder_of_workers(&[("b.agent", "---\nname: more\ntoolsets: [helper]\n---\nMore.\n")]);
    let text = stdout(&app(&["tools", "--worker-dir", &path, "--worker-dir", &second]));
    let rows: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(rows.contains(&"helper worker read_only steps pre_approved Help.".into()), "{text}");
    assert!(rows.contains(&"more worker read_only steps pre_approved More.".into()), "{text}");
    assert_eq!(stdout(&app(&["check", "--worker-dir", &path])), "ok (entries: 1, workers: 4, tools: 33)\n");
    assert_eq!(stdout(&app(&["run", "--worker-dir", &path, "--tool", "helper", "now"])), "Hello!\n");
    fails(&["run", "--worker-dir", "no/folder", "x"], 1, "the folder of worker files `no/folder` cannot be read");
    fails(&["tools", "--worker-dir", &second], 1, "b.agent:3): unknown tool or toolset `helper`");
}

#[test]
fn a_worker_named_main_runs_where_nothing_is_named() {
    let (_folder, path) = folder_of_workers(&[("main.worker", "---\nname: main\n---\nGreet.\n")]);
    assert_eq!(stdout(&app(&["run", "--worker-dir", &path, "Ann"])), "Hello!\n");
    assert_eq!(stdout(&app(&["run", "--worker-dir", &path, "main", "Ann"])), "Hello!\n");
    // The entry can still be run by its name.
    let entry = app(&["run", "--worker-dir", &path, "--approve-all", "main_entry", "Ann"]);
    assert_eq!(stdout(&entry), "wrote Hello!\n");
}

#[test]
fn an_entry_and_a_worker_file_of_one_name_are_an_error_that_names_both() {
    let (_folder, path) = folder_of_workers(&[("main.worker", "---\nname: main_entry\n---\nGreet.\n")]);
    let output = app(&["run", "--worker-dir", &path, "Ann"]);
    let text = stderr(&output);
    assert!(text.contains("`main_entry` is registered 2 times: entry at ") && text.contains("app.rs:"), "{text}");
    assert!(text.contains(&format!("worker at {path}/main.worker")), "{text}");
}

#[test]
fn verbose_shows_calls_on_standard_error_and_events_go_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    let output = app(&["run", "-v", "--approve-all", "--events", file.to_str().unwrap(), "Ann"]);
    assert!(stderr(&output).contains("→ tool write"), "{}", stderr(&output));
    assert!(std::fs::read_to_string(&file).unwrap().lines().count() > 10);
}

#[test]
fn verbose_ends_with_the_usage_by_call() {
    let text = stderr(&app(&["run", "-v", "--approve-all", "Ann"]));
    let rows: Vec<_> = text.lines().map(|line| line.split_whitespace().take(3).collect::<Vec<_>>()).collect();
    assert!(rows.contains(&vec!["call", "calls", "requests"]) && rows.contains(&vec!["greet", "1", "1"]), "{text}");
    assert!(!stderr(&app(&["run", "--approve-all", "Ann"])).contains("requests"), "without -v it is quiet");
}

#[test]
fn a_limit_on_the_command_line_ends_the_run_and_is_named() {
    fails(&["run", "--tool", "greet", "--limit-requests", "0", "Ann"], 1, "`requests` is limited to 0");
    fails(&["run", "--tool", "greet", "--limit-tokens", "0", "Ann"], 1, "`total_tokens` is limited to 0");
    fails(&["run", "--tool", "greet", "--limit-cost", "0", "Ann"], 1, "`cost` is limited to $0.00");
    fails(&["run", "--tool", "wait", "--timeout", "0.05"], 1, "50ms");
    fails(
        &["run", "--tool", "wait", "--timeout", "soon"],
        2,
        "expected a positive number of seconds, such as 90 or 0.5",
    );
    fails(&["run", "--tool", "wait", "--timeout", "0"], 2, "expected a positive number of seconds, such as 90 or 0.5");
}

#[test]
fn without_a_terminal_the_user_cannot_be_asked() {
    fails(&["run", "--tool", "ask_name"], 1, "no terminal to ask the user");
}

/// A path for a journal, in a temporary folder.
fn journal() -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let text = path.to_str().unwrap().to_owned();
    (folder, path, text)
}

#[test]
fn a_run_with_a_journal_is_resumed_with_a_notice() {
    let (folder, path, journal) = journal();
    let events = folder.path().join("events.jsonl");
    let denied = app(&["run", "--journal", &journal, "Ann"]);
    assert_eq!(denied.status.code(), Some(1));
    assert!(!stderr(&denied).contains("resuming"), "{}", stderr(&denied));
    let recorded = FileJournal::read(&path).unwrap().count();

    let again = ["run", "--journal", &journal, "--approve-all", "--events", events.to_str().unwrap(), "Ann"];
    let resumed = app(&again);
    assert_eq!(stdout(&resumed), "wrote Hello!\n", "{}", stderr(&resumed));
    let notice = format!("resuming {journal}: {recorded} effects are recorded\n");
    assert!(recorded > 1 && stderr(&resumed).contains(&notice), "{}", stderr(&resumed));
    let events = std::fs::read_to_string(events).unwrap();
    assert!(events.contains(r#""name":"greet""#) && !events.contains("model_request"), "the model was asked again");

    let finished = app(&["run", "--journal", &journal, "Ann"]);
    assert_eq!(stdout(&finished), "wrote Hello!\n", "an approved call needs no second approval: {}", stderr(&finished));
}

#[test]
fn a_recorded_run_is_checked_against_the_code_without_running_anything() {
    let (_folder, path, journal) = journal();
    fails(&["run", "--journal", &journal, "Ann"], 1, "call to `write` denied");
    let unfinished = stdout(&app(&["check", "--replay", &journal]));
    assert!(unfinished.contains("steps of `main_entry` are the same"), "{unfinished}");
    assert_eq!(stdout(&app(&["run", "--journal", &journal, "--approve-all", "Ann"])), "wrote Hello!\n");
    let records = std::fs::read_to_string(&path).unwrap();
    let same = app(&["check", "--replay", &journal]);
    assert!(stdout(&same).starts_with("ok: ") && same.status.success(), "{}", stderr(&same));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), records, "nothing is recorded");

    // As if the code had written something else when the run was recorded.
    let other = records.replace(r#""input":{"text":"Hello!"}"#, r#""input":{"text":"Bye!"}"#);
    assert_ne!(other, records);
    std::fs::write(&path, other).unwrap();
    let difference = stderr(&app(&["check", "--replay", &journal]));
    assert!(difference.contains("`main_entry` → 2nd call: expected tool `write`"), "{difference}");
    assert!(difference.contains("`main_entry` at tests/src/bin/app.rs:"), "{difference}");
    assert!(difference.contains("found tool `write`"), "{difference}");
}

#[test]
fn a_failed_run_explains_how_to_resume_it() {
    let (_folder, _, journal) = journal();
    let hint = "run the same command again to resume: effects recorded in";
    fails(&["run", "--journal", &journal, "Ann"], 1, hint);
    fails(&["run", "--journal", &journal, "--reject-all", "Ann"], 1, "the final failure is retried");
    let other = stderr(&app(&["run", "--journal", &journal, "--approve-all", "Bob"]));
    assert!(other.contains("diverged from its journal") && !other.contains(hint), "resuming would fail again: {other}");
    assert!(!stderr(&app(&["run", "Ann"])).contains(hint), "there is nothing to resume");
}

#[test]
fn verbose_marks_replayed_calls() {
    let (_folder, _, journal) = journal();
    let run = || stderr(&app(&["run", "-v", "--journal", &journal, "--approve-all", "Ann"]));
    assert!(!run().contains("replayed"));
    let again = run();
    assert!(again.contains("← main_entry \"wrote Hello!\" (replayed)"), "{again}");
}

#[test]
fn a_journal_is_listed_as_the_tree_of_its_calls() {
    let (_folder, path, journal) = journal();
    assert_eq!(stdout(&app(&["run", "--journal", &journal, "--approve-all", "A\u{1b}\u{200b}\nnn"])), "wrote Hello!\n");
    let text = stdout(&app(&["journal", &journal]));
    let without_time: Vec<_> = text.lines().map(|line| line[22..].to_owned()).collect();
    let place = |start: &str| without_time.iter().position(|line| line.starts_with(start));
    let expected = [
        "run main_entry {\"name\":\"A\\u001b\\u{200b}\\nnn\"} (run ",
        "  call greet {\"input\":",
        "    model test:",
        "  tool write {\"text\":\"Hello!\"} → \"wrote Hello!\"",
        "result main_entry → \"wrote Hello!\"",
    ];
    let places: Vec<_> = expected.iter().map(|start| place(start)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in\n{text}");
    assert!(text.lines().all(|line| line.as_bytes()[19] == b'Z'), "{text}");

    let lines = stdout(&app(&["journal", "--json", &journal]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<_> = FileJournal::read(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(lines.len(), records.len());
    for (line, record) in lines.iter().zip(&records) {
        assert_eq!((line["key"].as_str(), line["name"].as_str()), (Some(&*record.key), Some(&*record.name)));
        assert_eq!((&line["value"], &line["input"]), (&record.value, &*record.input));
    }
    assert!(lines.iter().any(|line| line["depth"] == 2 && line["kind"] == "model"), "{lines:?}");
}

#[test]
fn a_call_that_may_have_happened_is_listed_and_settled_in_a_journal() {
    for (outcome, result) in
        [(&["--result", "\"written by hand\""][..], "written by hand\n"), (&["--not-done"][..], "wrote Hello!\n")]
    {
        let (_folder, path, journal) = journal();
        let run = || app(&["run", "--journal", &journal, "--approve-all", "Ann"]);
        assert_eq!(stdout(&run()), "wrote Hello!\n");
        let whole = std::fs::read_to_string(&path).unwrap();
        // As if the process had died in the call.
        let begun = whole.lines().position(|line| line.contains(r#""kind":"begun""#)).unwrap();
        std::fs::write(&path, whole.split_inclusive('\n').take(begun + 1).collect::<String>()).unwrap();
        fails(&["run", "--journal", &journal, "--approve-all", "Ann"], 1, "the outcome of `write` is unknown");
        let text = stdout(&app(&["journal", &journal, "--unknown"]));
        let line = stdout(&app(&["journal", &journal, "--unknown", "--json"]));
        let call: Value = serde_json::from_str(&line).unwrap();
        let step = call["step"].as_str().unwrap();
        assert!(
            text.starts_with("`write` began at ") && text.ends_with(&format!("may have had its effect: {step}\n")),
            "{text}"
        );
        let settle = |step: &str| app(&[&["journal", &journal, "--settle", step][..], outcome].concat());
        assert!(stderr(&settle("no/such")).contains("the key `no/such` has no call with an unknown outcome"));
        fails(&["journal", &journal, "--settle", step], 2, "what became of the call is missing");
        assert_eq!(stdout(&settle(step)), "settled; run the same command again to resume\n");
        assert_eq!(stdout(&run()), result);
        let after = stdout(&app(&["journal", &journal, "--unknown"]));
        assert_eq!(after, "the journal has no call with an unknown outcome\n");
    }
}

#[test]
fn a_journal_of_an_interrupted_run_lists_the_recorded_calls() {
    let (_folder, path, journal) = journal();
    assert_eq!(app(&["run", "--journal", &journal, "--approve-all", "Ann"]).status.code(), Some(0));
    let whole = std::fs::read_to_string(&path).unwrap();
    // The header, the run and the model's answer, without the result of the worker call.
    let cut: String = whole.split_inclusive('\n').take(3).collect();
    std::fs::write(&path, cut).unwrap();
    let text = stdout(&app(&["journal", &journal]));
    assert!(text.contains("  call greet (not finished)\n"), "{text}");
    std::fs::write(&path, whole.replacen("{\"key\"", "{\"kex\"", 3).replacen("{\"kex\"", "{\"key\"", 1)).unwrap();
    let output = app(&["journal", &journal]);
    assert!(stdout(&output).contains("run main_entry") && stderr(&output).contains("line 3 of the journal"));
    assert_eq!(output.status.code(), Some(1));
    fails(&["journal", "/missing/journal"], 1, "cannot read or write the journal");
    std::fs::write(&path, "").unwrap();
    assert_eq!(stdout(&app(&["journal", &journal])), "the journal is empty\n");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_events_and_journals() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    for is_there in [false, true] {
        let [events, journal] = ["events", "journal"].map(|name| folder.path().join(format!("{name}-{is_there}")));
        if is_there {
            for path in [&events, &journal] {
                std::fs::write(path, "").unwrap();
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o664)).unwrap();
            }
        }
        let paths = [events.to_str().unwrap(), journal.to_str().unwrap()];
        let arguments = ["run", "--tool", "greet", "--events", paths[0], "--journal", paths[1], "Ann"];
        assert_eq!(app(&arguments).status.code(), Some(0));
        for path in paths {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{path}");
        }
    }
}

#[cfg(unix)]
#[test]
fn events_may_go_to_standard_error() {
    let output = app(&["run", "--tool", "greet", "--events", "/dev/stderr", "Ann"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "Hello!\n"));
    assert!(stderr(&output).contains("call_finished"), "{}", stderr(&output));
}

#[test]
fn a_journal_that_cannot_be_resumed_is_an_error_with_advice() {
    let (_folder, path, journal) = journal();
    assert_eq!(app(&["run", "--journal", &journal, "--approve-all", "Ann"]).status.code(), Some(0));
    fails(&["run", "--journal", &journal, "--approve-all", "Bob"], 1, "the run diverged from its journal at 1st call");

    let open = FileJournal::open(&path).unwrap();
    fails(&["run", "--journal", &journal, "Ann"], 1, "is in use by another run: stop that run, or choose another file");
    drop(open);

    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, whole.replacen("{\"key\"", "{\"kex\"", 1)).unwrap();
    fails(&["run", "--journal", &journal, "Ann"], 1, "line 2 of the journal");
    std::fs::write(&path, "Dear diary\n").unwrap();
    fails(&["run", "--journal", &journal, "Ann"], 1, "not an llm-do journal, nothing was written; choose another file");
    fails(&["run", "--journal", "/missing/journal", "Ann"], 1, "cannot read or write the journal");
}

#[test]
fn the_events_file_truncates_neither_a_journal_nor_the_events_of_a_running_command() {
    let (folder, path, journal) = journal();
    let run = |journal: &str, events: &str| {
        app(&["run", "--journal", journal, "--events", events, "--approve-all", "Ann"]).status.code()
    };
    assert_eq!(app(&["run", "--journal", &journal, "--approve-all", "Ann"]).status.code(), Some(0));
    let recorded = std::fs::read(&path).unwrap();
    let other = folder.path().join(".").join(path.file_name().unwrap());
    assert_eq!(run(&journal, other.to_str().unwrap()), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), recorded);

    let events = folder.path().join("events");
    assert_eq!(run(&journal, events.to_str().unwrap()), Some(0));
    let written = std::fs::read(&events).unwrap();
    let _held = FileJournal::open(&path).unwrap();
    assert_eq!(run(&journal, events.to_str().unwrap()), Some(1));
    assert_eq!(std::fs::read(&events).unwrap(), written);

    let fresh = folder.path().join("fresh");
    let both = ["run", "--journal", fresh.to_str().unwrap(), "--events", fresh.to_str().unwrap(), "Ann"];
    fails(&both, 2, "--events and --journal are both ");
}

/// Records a journal of the worker `greet` for each name.
fn greetings(journal: &str, names: &[&str]) {
    for name in names {
        std::fs::remove_file(journal).ok();
        let output = app(&["run", "--tool", "greet", "--journal", journal, name]);
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::rename(journal, format!("{journal}-{name}")).unwrap();
    }
}

#[test]
fn harden_prints_each_case_and_exits_with_1_unless_all_agree() {
    let (_folder, _, journal) = journal();
    greetings(&journal, &["Ann", "Bob", "Eve"]);
    let [ann, bob, eve] = ["Ann", "Bob", "Eve"].map(|name| format!("{journal}-{name}"));
    let one = ["harden", "greet", "--tool", "greet_by_rule", "--journal", &ann, &ann];
    let output = app(&one);
    assert_eq!(output.status.code(), Some(1), "one case is too few");
    let expected = "error: `greet_by_rule` is refused: too few cases: 1 of 1 answers agree, which shows at least 5 % with 95 % \
                    confidence, less than 95 %; needs at least 59 answers\n";
    assert_eq!(stderr(&output), expected);
    let output = app(&[&one[..], &["--agreement", "0.04"]].concat());
    let expected = "agrees        {\"input\":\"Ann\"} (2 times)\n1 of 1 agree (100 %)\naccepted: it answers 1 of 1 cases (100 %), and where \
                    it answers, at least 5 % agree with 95 % confidence (the gate: 30 % and 4 %)\n";
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), expected), "{}", stderr(&output));

    let all = ["harden", "greet", "--tool", "greet_by_rule", "--journal", &ann, &bob, "--journal", &eve];
    let output = app(&all);
    assert_eq!(output.status.code(), Some(1));
    let expected = r#"agrees        {"input":"Ann"}
differs       {"input":"Bob"}
    worker    "Hello!"
    candidate "Good day, Bob, who likes it formal."
failed        {"input":"Eve"}
    worker    "Hello!"
    candidate `greet_by_rule` failed: who is that?
1 of 3 agree (33 %)
refused: it answers 3 of 3 cases (100 %), and where it answers, at least 1.6 % agree with 95 % confidence (the gate: 30 % and 95 %)
"#;
    assert_eq!(stdout(&output), expected);
    let expected = "error: `greet_by_rule` is refused: it disagrees too often: 1 of 3 answers agree, which shows at least 1.6 % with 95 % \
                    confidence, less than 95 %\n";
    assert_eq!(stderr(&output), expected);

    let output = app(&[&all[..], &["--json"]].concat());
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let differs = serde_json::json!({
        "verdict": "differs", "input": { "input": "Bob" }, "times": 1, "answers": 1,
        "worker": { "result": "Hello!" }, "candidate": { "result": "Good day, Bob, who likes it formal." },
    });
    assert_eq!((lines.len(), &lines[1]), (4, &differs));
    assert_eq!((&lines[3]["agree"], &lines[3]["of"], &lines[3]["worker_failed"]), (&1.into(), &3.into(), &0.into()));
    assert_eq!((&lines[3]["gate"]["needed"], &lines[3]["gate"]["answered"]), (&124.into(), &3.into()));
}

#[test]
fn evidence_of_a_guarantee_is_kept_between_runs_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evidence.json");
    let file = path.to_str().unwrap();
    let status = ["harden", "--status", "--journal", file];
    fails(&status, 2, "the file does not exist");
    let hybrid = ["--hybrid", "greet=greet_by_rule", "--guarantee", "greet=0.1@0.9", "--evidence", file];
    for name in ["Ann", "Bob", "Cid"] {
        let output = app(&[&["run", "--tool", "greet"][..], &hybrid, &[name]].concat());
        assert_eq!(stdout(&output), "Hello!\n", "{}", stderr(&output));
    }
    let shown = stdout(&app(&status));
    let row = shown.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("greet   greet_by_rule  worker"), "{shown}");
    assert!(row.contains("0 of 3 (0 %)") && row.contains("10 % at 90 %") && row.contains("1 of 3"), "{shown}");
    let json: Value = serde_json::from_str(&stdout(&app(&[&status[..], &["--json"]].concat()))).unwrap();
    assert_eq!((&json["holds"], &json["comparisons"]), (&false.into(), &3.into()));
    fails(&["run", "--tool", "greet", "--guarantee", "greet=2", "Ann"], 2, "invalid disagreement 2");
    fails(&["harden", "--status", "--journal", "http://127.0.0.1:1"], 2, "at `/hybrids`");
}

#[test]
fn harden_needs_approve_all_for_a_candidate_with_effects() {
    let (_folder, _, journal) = journal();
    greetings(&journal, &["Ann"]);
    let journal = format!("{journal}-Ann");
    let harden = ["harden", "greet", "--journal", &journal, "--tool"];
    fails(&[&harden[..], &["greet_in_writing"]].concat(), 2, "is not `effect = read_only`");
    let output = app(&[&harden[..], &["greet_in_writing", "--approve-all", "--agreement", "0.04"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn harden_names_what_is_missing() {
    let (_folder, _, journal) = journal();
    greetings(&journal, &["Ann"]);
    let journal = format!("{journal}-Ann");
    fails(&["harden", "great", "--tool", "greet_by_rule", "--journal", &journal], 1, "did you mean `greet`?");
    fails(&["harden", "greet", "--tool", "greet_by_rul", "--journal", &journal], 2, "did you mean `greet_by_rule`?");
    fails(
        &["harden", "greet", "--tool", "greet_by_rule", "--journal", "/missing"],
        1,
        "cannot read or write the journal",
    );
    fails(&["harden", "greet", "--tool", "greet_by_rule"], 2, "--journal");
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_the_run_and_exits_with_1() {
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_app")).args(["run", "--tool", "wait"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "│ waiting");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(lines.next().unwrap().unwrap(), "error: aborted by user");
}

#[test]
fn a_dry_run_prints_its_plan_after_the_result_and_changes_nothing() {
    let output = app(&["run", "--dry-run", "Ann"]);
    let plan =
        "plan: 1 call\n  1. write(text=\"Hello!\") (tool, destructive) would ask for approval; called by main_entry\n";
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), plan), "{}", stderr(&output));
    let ended =
        "the run ended at a planned call, since its caller needs the result: `main_entry` failed: `write` did not run";
    assert!(stderr(&output).contains(ended), "{}", stderr(&output));
    let output = app(&["call", "add", "--a", "2", "--b", "3", "--dry-run"]);
    assert_eq!(stdout(&output), "5\nplan: no call would change anything\n", "{}", stderr(&output));
    let output = app(&["call", "write", "Hello", "--dry-run"]);
    assert!(stdout(&output).ends_with("needs no approval; called by the user\n"), "{}", stdout(&output));
    let output = app(&["call", "fail", "--with", "this", "--dry-run"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("`fail` failed: this"), "{}", stderr(&output));
}

#[test]
fn a_dry_run_prints_its_plan_as_json() {
    let output = app(&["run", "--dry-run", "--approve-all", "--output", "json", "Ann"]);
    let object: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let call = &object["plan"]["calls"][0];
    assert_eq!((&call["name"], &call["approval"]), (&Value::from("write"), &Value::from("by_mode")), "{object}");
    assert_eq!(call["arguments"], serde_json::json!({ "text": "Hello!" }));
    assert!(object["error"].as_str().unwrap().contains("dry run"), "{object}");
    let output = app(&["run", "--output", "json", "--approve-all", "Ann"]);
    let object: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(object.get("plan"), None);
}

#[test]
fn a_dry_run_is_not_recorded_and_writes_no_files() {
    fails(&["run", "--dry-run", "--journal", "run.jsonl", "Ann"], 2, "cannot be used with");
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("files");
    let output = app(&["run", "--tool", "draw", "--dry-run", "--files", inside.to_str().unwrap()]);
    assert!(stdout(&output).starts_with("a dot\n"), "{}", stderr(&output));
    assert!(!inside.exists());
}

#[test]
fn a_worker_file_has_a_tool_answer_first_and_an_option_takes_precedence() {
    let folder = tempfile::tempdir().unwrap();
    let note =
        "{ type: object, properties: { input: { type: string } }, required: [input], additionalProperties: false }";
    let file = format!("---\nname: greeter\nhybrid: greet_by_rule\ninput_schema: {note}\n---\nGreet.\n");
    std::fs::write(folder.path().join("greeter.worker"), file).unwrap();
    let run = ["run", "--tool", "greeter", "--worker-dir", folder.path().to_str().unwrap(), "Bob"];
    assert_eq!(stdout(&app(&run)), "Good day, Bob, who likes it formal.\n");
    assert_eq!(stdout(&app(&[&run[..], &["--hybrid", "greeter="]].concat())), "Hello!\n");
    assert_eq!(
        stdout(&app(&[&run[..], &["--hybrid", "greeter=greet_in_writing", "--approve-all"]].concat())),
        "Hello!\n"
    );
    let text = "their arguments and results differ: `greeter(input: string) -> string`, and `add(a: integer, b: integer) -> integer`";
    fails(&[&run[..], &["--hybrid", "greeter=add"]].concat(), 1, text);
    fails(&[&run[..], &["--hybrid", "greeter"]].concat(), 2, "expected `WORKER=TOOL`");
}
