//! Settings from variables and files.

mod faults;
mod files;
mod trust;

use serde_json::{Value, json};

use super::{ASSISTANT, Answer, Place};

const GREETER: &str = "---\nname: greeter\n---\nYou greet.\n";

/// Settings of the user, in a file of another folder.
struct User {
    place: Place,
    file: String,
}

impl User {
    fn new(text: &str) -> Self {
        let place = Place::new(&[("config.yaml", text)]);
        let file = place.path().join("config.yaml").to_str().unwrap().to_owned();
        Self { place, file }
    }

    /// Runs the program with the file in another place.
    fn run(&self, place: &Place, arguments: &[&str]) -> Answer {
        place.run_in(&[("LLM_DO_CONFIG", &self.file)], arguments)
    }
}

/// Returns the value of a setting, and its source.
fn shown(answer: Answer, setting: &str) -> (Value, String) {
    let rows: Value = serde_json::from_str(&answer.output()).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["setting"] == setting).unwrap();
    (row["value"].clone(), row["source"].as_str().unwrap().to_owned())
}

const SHOW: [&str; 3] = ["config", "show", "--json"];

#[test]
fn an_option_comes_before_a_variable_and_that_before_the_project_and_the_user() {
    let place = Place::new(&[("main.worker", GREETER)]);
    assert_eq!(shown(place.run(&SHOW), "model"), (Value::Null, "default".to_owned()));
    let user = User::new("# mine\nmodel: echo:user\n");
    let run = |variables: &[(&str, &str)], options: &[&str]| {
        let variables = [variables, &[("LLM_DO_CONFIG", user.file.as_str())]].concat();
        shown(place.run_in(&variables, &[&SHOW, options].concat()), "model")
    };
    assert_eq!(run(&[], &[]), (json!("echo:user"), format!("{}:2", user.file)));
    place.write(".llm-do/config.yaml", "verbose: 0\nmodel: echo:project\n");
    assert_eq!(run(&[], &[]), (json!("echo:project"), ".llm-do/config.yaml:2".to_owned()));
    let variable = [("LLM_DO_MODEL", "echo:variable")];
    assert_eq!(run(&variable, &[]), (json!("echo:variable"), "LLM_DO_MODEL".to_owned()));
    assert_eq!(run(&[("LLM_DO_MODEL", " ")], &[]).1, ".llm-do/config.yaml:2", "a blank variable is not set");
    assert_eq!(run(&variable, &["--model", "echo:option"]), (json!("echo:option"), "--model".to_owned()));
}

#[test]
fn the_settings_of_files_apply_to_a_run() {
    let place = Place::new(&[("main.worker", GREETER)]);
    let user = User::new("model: echo:model\noutput: json\nverbose: 1\n");
    let answer = user.run(&place, &["run", "hello"]);
    assert!(answer.err.contains("greeter"), "`verbose` shows calls: {}", answer.err);
    let result: Value = serde_json::from_str(&answer.output()).unwrap();
    assert_eq!(result["result"], "echo 1: hello");
    let quiet = place.run_in(
        &[("LLM_DO_CONFIG", &user.file), ("LLM_DO_VERBOSE", "0"), ("LLM_DO_OUTPUT", "text")],
        &["run", "hello"],
    );
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("echo 1: hello\n", ""));
    let failing = User::new("model: echo:model\nlimit_requests: 0\n");
    failing.run(&place, &["run", "hello"]).fails(1, "`requests` is limited to 0");
    failing.run(&place, &["run", "--limit-requests", "1", "hello"]).output();
    place
        .run_in(&[("LLM_DO_MODEL", "echo:model"), ("LLM_DO_LIMIT_TOKENS", "0")], &["run", "hello"])
        .fails(1, "`total_tokens` is limited to 0");
}

/// Each setting with a value for a variable, and as it is shown.
fn settings(folder: &str) -> Vec<(&'static str, String, Value)> {
    let row = |key, text: &str, value| (key, text.to_owned(), value);
    vec![
        row("model", "echo:model", json!("echo:model")),
        row("approval_mode", "reject_all", json!("reject_all")),
        row("flow", "lenient", json!("lenient")),
        row("end_on_denial", "true", json!(true)),
        row("max_depth", "3", json!(3)),
        row("max_concurrent_calls", "4", json!(4)),
        row("limit_requests", "10", json!(10)),
        row("limit_tokens", "1000", json!(1000)),
        row("limit_cost", "0.5", json!("$0.50")),
        row("timeout", "2m", json!("120s")),
        row("policy", &format!("{folder}/allow.json"), json!(format!("{folder}/allow.json"))),
        row("worker_dir", &format!("{folder}/workers"), json!([format!("{folder}/workers")])),
        row("chats", &format!("{folder}/chats"), json!(format!("{folder}/chats"))),
        row("verbose", "2", json!(2)),
        row("output", "jsonl", json!("jsonl")),
        row("content", "true", json!(true)),
        row("batch", "true", json!(true)),
        row("compaction", "false", json!(false)),
    ]
}

#[test]
fn every_setting_has_a_variable_and_a_key() {
    let place = Place::new(&[
        ("main.worker", GREETER),
        ("allow.json", "{}"),
        ("workers/other.worker", "---\nname: other\n---\nOther.\n"),
    ]);
    let rows = settings(place.path().to_str().unwrap());
    for (key, text, value) in &rows {
        let variable = format!("LLM_DO_{}", key.to_uppercase());
        let answer = place.run_in(&[(&variable, text)], &SHOW);
        assert_eq!(shown(answer, key), (value.clone(), variable), "{key}");
    }
    let lines: Vec<_> = rows.iter().map(|(key, text, _)| format!("{key}: {text}\n")).collect();
    let user = User::new(&lines.concat());
    let in_file = |key: &str| {
        let mut command = place.command(env!("CARGO_BIN_EXE_stock"));
        command.args(SHOW).env("LLM_DO_CONFIG", &user.file).env_remove("LLM_DO_CHATS");
        shown(Place::answer(&mut command, ""), key)
    };
    for (line, (key, _, value)) in (1..).zip(&rows) {
        assert_eq!(in_file(key), (value.clone(), format!("{}:{line}", user.file)), "{key}");
    }
    let names: Value = serde_json::from_str(&place.run(&SHOW).output()).unwrap();
    let names: Vec<_> = names.as_array().unwrap().iter().map(|row| row["setting"].as_str().unwrap()).collect();
    assert_eq!(names, rows.iter().map(|(key, ..)| *key).collect::<Vec<_>>(), "a setting is not tested");
}

#[test]
fn the_settings_are_shown_as_a_table() {
    let place = Place::new(&[("main.worker", GREETER)]);
    place.write(".llm-do/config.yaml", "# for all\ntimeout: 90\n");
    let show = ["config", "show", "--approve-all", "-v", "--max-depth", "2"];
    let out = place.run_in(&[("LLM_DO_MODEL", "echo:m"), ("LLM_DO_CHATS", "chats")], &show).output();
    let expected = "\
model                 echo:m       LLM_DO_MODEL
approval_mode         approve_all  --approve-all
flow                  by policy    default
end_on_denial         false        default
max_depth             2            --max-depth
max_concurrent_calls  16           default
limit_requests        unlimited    default
limit_tokens          unlimited    default
limit_cost            unlimited    default
timeout               90s          .llm-do/config.yaml:2
policy                none         default
worker_dir            none         default
chats                 chats        LLM_DO_CHATS
verbose               1            --verbose
output                text         default
content               false        default
batch                 false        default
compaction            true         default
";
    assert_eq!(out, expected);
}

#[test]
fn at_least_one_call_of_a_turn_runs() {
    let place = Place::new(&[("main.worker", GREETER)]);
    let variable = "LLM_DO_MAX_CONCURRENT_CALLS";
    let fault = format!("`{variable}`: expected a whole number from 1 to {}, found `0`", usize::MAX);
    place.run_in(&[(variable, "0")], &SHOW).fails(2, &fault);
    place.run(&["config", "show", "--max-concurrent-calls", "0"]).fails(2, "--max-concurrent-calls");
}

#[test]
fn an_option_can_turn_off_what_a_file_turns_on() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let user = User::new("approval_mode: approve_all\nend_on_denial: true\n");
    let write = r#"call write_file {"path":"b.txt","content":"b"}"#;
    let asks = ["run", "--approval-mode", "prompt", "--end-on-denial=false", write];
    user.run(&place, &asks).fails(1, "no terminal to ask the user");
    user.run(&place, &["run", "--reject-all", write]).fails(1, "the approval mode rejects every call");
    let returned = user.run(&place, &["run", "--reject-all", "--end-on-denial=false", write]).output();
    assert!(returned.starts_with("result: "), "{returned}");
    assert!(!place.path().join("b.txt").exists());
    user.run(&place, &["run", write]).output();
    assert_eq!(place.read("b.txt"), "b");
    place
        .run(&["run", "--approval-mode", "none", write])
        .fails(2, "[possible values: prompt, approve_all, reject_all]");
}
