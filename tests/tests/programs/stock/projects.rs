//! Projects that are run, called and checked.

use serde_json::Value;

use super::{ASSISTANT, Place};

const EDITOR: &str = "---\nname: editor\nmodel: echo:model\n---\nEdit.\n";

#[test]
fn the_project_of_the_current_folder_runs() {
    let place = Place::new(&[("main.worker", ASSISTANT), ("workers/editor.worker", EDITOR)]);
    assert_eq!(place.run(&["run", "hello"]).output(), "echo 1: hello\n");
    assert_eq!(place.run_with(&["run"], "from a pipe\n").output(), "echo 1: from a pipe\n");
    assert_eq!(place.run(&["run", "editor", "teh"]).output(), "echo 1: teh\n", "workers run by name");
    assert_eq!(place.run(&["check"]).output(), "ok (entries: 0, workers: 2, tools: 24)\n");
}

#[test]
fn an_empty_standard_input_is_refused() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let text = "`assistant` requires `input`: give a prompt, --input-json, or standard input, which is empty";
    for input in ["", "\n"] {
        place.run_with(&["run"], input).fails(2, text);
    }
    place.run_with(&["call", "assistant"], "").fails(2, text);
}

#[test]
fn a_misspelled_option_has_a_suggestion_also_without_a_project() {
    let place = Place::new(&[]);
    for words in [&["run", "--aprove-all"][..], &["run", "--aprove-all", "hello"], &["run", "hello", "--aprove-all"]] {
        let answer = place.run(words);
        assert!(answer.err.contains("this folder has no project"), "{answer:?}");
        answer.fails(2, "\nunknown option `--aprove-all`; did you mean `--approve-all`?");
    }
    place.run(&["call", "nothing", "--aprove-all"]).fails(2, "did you mean `--approve-all`?");
    let answer = place.run(&["run", "--zzz", "x"]);
    assert!(!answer.err.contains("unknown option"), "an argument of an item: {answer:?}");
}

#[test]
fn a_project_elsewhere_or_a_single_worker_file_runs() {
    let place =
        Place::new(&[("notes/main.worker", ASSISTANT), ("alone/editor.worker", EDITOR), ("alone/b.worker", "no")]);
    for words in
        [&["run", "--project", "notes", "hello"][..], &["run", "./notes", "hello"], &["run", "notes/", "hello"]]
    {
        assert_eq!(place.run(words).output(), "echo 1: hello\n");
    }
    assert_eq!(place.run(&["run", "alone/editor.worker", "teh"]).output(), "echo 1: teh\n");
    place.run(&["run", "--project", "alone", "teh"]).fails(1, "alone/b.worker:1: missing front matter");
}

#[test]
fn a_folder_without_a_project_is_an_error_that_names_the_next_step() {
    let text = "this folder has no project: create one with `init`, or name one with --project";
    let place = Place::new(&[]);
    place.run(&["run", "hello"]).fails(2, text);
    place.run(&["check"]).fails(2, text);
    place.run(&["run", "--project", "missing", "hello"]).fails(1, "missing: no such project");
}

#[test]
fn warnings_and_faults_of_files_go_to_standard_error() {
    let subagent = "---\nname: reviewer\ndescription: Reviews.\nmodel: echo:model\ncolor: red\n---\nReview.\n";
    let place = Place::new(&[(".claude/agents/reviewer.md", subagent)]);
    let answer = place.run(&["run", "reviewer", "look"]);
    assert_eq!(answer.err, "warning: .claude/agents/reviewer.md:5: `color` has no effect here\n");
    assert_eq!(answer.output(), "echo 1: look\n");
    place.write("main.worker", "---\nname: main\nmodle: x\n---\nDo it.\n");
    place.run(&["run", "look"]).fails(1, "main.worker:3: unknown key `modle`; did you mean `model`?");
}

#[test]
fn a_strict_check_fails_if_a_file_of_another_program_is_left_out() {
    let place = Place::new(&[("main.worker", ASSISTANT), (".claude/agents/README.md", "# Agents\n")]);
    place.write(".claude/agents/odd.md", "---\nname: odd\ndescription: Odd.\ncolor: red\n---\nDo it.\n");
    assert_eq!(place.run(&["check", "--strict"]).code, Some(0), "keys without effect are not counted");
    place.write(".claude/agents/odd.md", "---\nname: odd\n---\nDo it.\n");
    place.write(".mcp.json", r#"{ "mcpServers": { "gone": { "command": "no-such-program-7" } } }"#);
    assert_eq!(place.run(&["run", "--trust-project", "hello"]).output(), "echo 1: hello\n");
    let answer = place.run(&["check", "--trust-project"]);
    assert!(answer.err.contains(".claude/agents/odd.md:1: left out: missing `description`"), "{}", answer.err);
    assert!(!answer.err.contains("cannot start"), "nothing uses the server: {}", answer.err);
    assert_eq!(answer.code, Some(0));
    place.run(&["check", "--strict", "--trust-project"]).fails(1, "left out: 1; the warnings above name each");
    place.run(&["run", "--trust-project", "odd", "look"]).fails(2, "odd.md:1: left out: missing `description`");
}

#[test]
fn a_check_shows_what_workers_may_read_and_send() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    assert!(place.run(&["check", "--flow"]).output().starts_with("no labels: no source of untrusted"));
    let policy = r#"{ "flow": { "sources": { "project_read_file": "untrusted" }, "private": ["project_read_file"],
        "sinks": { "project_edit_file": { "data": ["new_text"] }, "project_write_file": { "reach": "own" } } } }"#;
    place.write("policy.json", policy);
    let shown = place.run(&["check", "--flow", "--policy", "policy.json"]).output();
    for line in [
        "flow: strict",
        "assistant: reads what is untrusted and private, returns what is untrusted and private",
        "  project_read_file returns what is untrusted and private",
        "  project_edit_file needs approval if untrusted text is in its arguments besides `new_text`, or if untrusted text would \
         leave, or if private values would leave",
        "  project_write_file needs approval if untrusted text is in its arguments",
        "  it reads untrusted text and private values, and sends: give these tools to several workers",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "`{line}` is not in: {shown}");
    }
    let json = place.run(&["check", "--flow", "--json", "--policy", "policy.json"]).output();
    let worker = &serde_json::from_str::<Value>(&json).unwrap()["workers"][0];
    assert_eq!((&worker["name"], &worker["has_all"]), (&"assistant".into(), &true.into()));
    assert_eq!(worker["reads"], serde_json::json!({ "label": "untrusted", "is_private": true }));
    let off = place.run(&["check", "--flow", "--policy", "policy.json", "--strict"]);
    assert_eq!(off.code, Some(2), "the options exclude each other: {off:?}");
}

#[test]
fn arguments_may_be_options_of_their_names() {
    let tool = "type: function\nfunction: project_edit_file\n";
    let place = Place::new(&[("main.worker", ASSISTANT), ("a.txt", "one two one\n"), ("tools/edit.tool", tool)]);
    let read = place.run(&["call", "project_read_file", "--path", "a.txt"]).output();
    assert!(read.contains("one two one"), "{read}");
    let edit =
        ["call", "edit", "--approve-all", "--path=a.txt", "--old-text", "one", "--new-text", "1", "--replace-all"];
    place.run(&edit).output();
    assert_eq!(place.read("a.txt"), "1 two 1\n");
    place.run(&["call", "edit", "--pth", "a.txt"]).fails(2, "unknown option `--pth`; did you mean `--path`?");
    place.run(&["call", "edit", "--path", "a.txt"]).fails(2, "`old_text` is missing; `new_text` is missing");
    place.run(&["call", "edit", "--path"]).fails(2, "`--path` needs a value");
    place
        .run(&["call", "project_read_file", "--path", "a.txt", "--offset", "two"])
        .fails(2, "\"integer\" at `/offset`");
}

#[test]
fn the_arguments_of_the_manifest_are_the_default_input() {
    let manifest = r#"{ "version": 1, "entry": { "agent": "assistant", "args": { "input": "daily" } } }"#;
    let place = Place::new(&[("main.worker", ASSISTANT), ("project.json", manifest)]);
    assert_eq!(place.run_with(&["run"], "ignored").output(), "echo 1: daily\n");
    assert_eq!(place.run(&["run", "mine"]).output(), "echo 1: mine\n", "a prompt comes first");
    assert_eq!(place.run(&["run", "--input", "mine"]).output(), "echo 1: mine\n");
}

#[test]
fn a_project_may_refuse_input() {
    let manifest = |entry: &str| format!(r#"{{ "version": 1, "allow_cli_input": false, "entry": {entry} }}"#);
    let with_arguments = manifest(r#"{ "agent": "assistant", "args": { "input": "daily" } }"#);
    let place = Place::new(&[("main.worker", ASSISTANT), ("project.json", &with_arguments)]);
    assert_eq!(place.run_with(&["run"], "ignored").output(), "echo 1: daily\n");
    for words in [&["run", "mine"][..], &["run", "--input-json", "{}"], &["run", "--input", "mine"]] {
        place.run(words).fails(2, "the project takes no input: `allow_cli_input` is false in its `project.json`");
    }
    place.write("project.json", &manifest(r#"{ "agent": "assistant" }"#));
    place.run_with(&["run"], "from a pipe").fails(2, "must give the arguments as `entry.args`");
}

#[test]
fn a_policy_file_decides_before_that_of_the_project() {
    let manifest = r#"{ "version": 1, "entry": { "agent": "assistant" },
        "policy": { "tools": { "project_write_file": { "blocked": { "reason": "not here" } } } } }"#;
    let policy = r#"{ "tools": { "project_write_file": "pre_approved" } }"#;
    let place = Place::new(&[("main.worker", ASSISTANT), ("project.json", manifest), ("allow.json", policy)]);
    let write = r#"call write_file {"path":"b.txt","content":"b"}"#;
    let told = place.run(&["run", write]).output();
    assert!(told.contains("`write_file` is blocked: not here"), "{told}");
    assert!(!place.path().join("b.txt").exists());
    place.run(&["run", "--policy", "allow.json", write]).output();
    assert_eq!(place.read("b.txt"), "b");
    place.write("allow.json", r#"{ "tool": {} }"#);
    place.run(&["run", "--policy", "allow.json", write]).fails(1, "allow.json:1: `tool`: unknown field `tool`");
}

#[test]
fn programs_read_the_result_with_its_usage_or_after_the_events() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let json: Value = serde_json::from_str(&place.run(&["run", "--output", "json", "hello"]).output()).unwrap();
    assert_eq!(json["result"], "echo 1: hello");
    assert_eq!(json["usage"]["input_tokens"], 10, "{json}");
    assert_eq!(json["run"].as_str().map(str::len), Some(36));

    let lines = place.run(&["run", "--output", "jsonl", "hello"]).output();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!(last["result"], "echo 1: hello");
    assert!(events.len() > 3 && events.iter().all(|event| event["seq"].is_number()), "{events:?}");

    let write = r#"call write_file {"path":"b.txt","content":"b"}"#;
    let failed = place.run(&["run", "--output", "json", "--reject-all", "--end-on-denial", write]);
    let json: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(failed.code, Some(1));
    assert!(json["error"].as_str().unwrap().contains("denied"), "{json}");
}

#[test]
fn a_run_that_ends_in_an_error_lists_the_effects_that_it_made() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let write = r#"call write_file {"path":"b.txt","content":"b"}"#;
    // The request after the call is refused.
    let limited = ["run", "--approve-all", "--limit-requests", "1"];
    let failed = place.run(&[&limited[..], &["--output", "json", write]].concat());
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let json: Value = serde_json::from_str(&failed.out).unwrap();
    let [effect] = json["effects"].as_array().unwrap().as_slice() else { panic!("{json}") };
    assert_eq!(effect["tool"], "project_write_file");
    assert_eq!((&effect["arguments"]["path"], effect["result"].is_null()), (&Value::from("b.txt"), false), "{effect}");
    let answer = place.run(&[&limited[..], &[write]].concat());
    let listed = "effects that the run made:\n  project_write_file {\"path\":\"b.txt\",\"content\":\"b\"} → ";
    assert!(answer.err.contains(listed), "{answer:?}");
    answer.fails(1, "`requests` is limited to 1");
    let read = place.run(&["run", "--limit-requests", "1", "--output", "json", "call list_files {}"]);
    assert_eq!(serde_json::from_str::<Value>(&read.out).unwrap()["effects"], serde_json::json!([]));
    let done = place.run(&["run", "--output", "json", "hello"]).output();
    assert_eq!(serde_json::from_str::<Value>(&done).unwrap().get("effects"), None);
}

#[test]
fn a_model_that_cannot_be_used_fails_the_run_with_1_and_the_reason() {
    let place = Place::new(&[("main.worker", "---\nname: main\n---\nHelp.\n")]);
    let model = ["run", "--model", "openai:gpt-5-mini", "hello"];
    place.run_in(&[("OPENAI_API_KEY", "")], &model).fails(1, "OPENAI_API_KEY");
    place.run(&["run", "hello"]).fails(1, "no model for the worker `main`: set `LLM_DO_MODEL` or the option `--model`");
}

#[test]
fn a_write_without_a_rule_is_denied_without_a_terminal() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let write = r#"call write_file {"path":"b.txt","content":"b"}"#;
    place.run(&["run", write]).fails(1, "run with --approve-all to approve every call");
    assert!(!place.path().join("b.txt").exists());
}

#[test]
fn a_worker_file_of_the_current_folder_finds_its_agents_md() {
    let worker = ASSISTANT.replace("tools:", "context: agents_md\ntools:");
    let place = Place::new(&[("main.worker", &worker), ("AGENTS.md", "Use tabs.")]);
    for path in ["main.worker", "./main.worker"] {
        assert_eq!(place.run(&["run", path, "hello"]).output(), "echo 1: hello\n");
    }
    assert_eq!(place.run(&["run", "--project", "main.worker", "hello"]).output(), "echo 1: hello\n");
}

#[test]
fn an_argument_that_is_given_twice_is_an_error() {
    let place = Place::new(&[("main.worker", ASSISTANT), ("a.txt", "one")]);
    let text = "`--input` and the prompt or --input-json give the same argument: give it once";
    place.run(&["run", "hello", "--input", "bye"]).fails(2, text);
    place.run(&["run", "--input-json", r#"{"input":"a"}"#, "--input", "b"]).fails(2, text);
    let twice =
        ["call", "project_edit_file", "--path", "a.txt", "--old-text", "a", "--old_text", "b", "--new-text", "c"];
    place.run(&twice).fails(2, "at `/old_text`");
}

#[test]
fn a_file_of_another_kind_is_an_error_that_names_what_is_expected() {
    let place = Place::new(&[("notes.txt", "hello")]);
    let text = "notes.txt: not a project: expected a folder, a file `project.json`, or a worker file `*.worker`";
    place.run(&["run", "--project", "notes.txt", "hello"]).fails(1, text);
}

#[test]
fn a_project_without_workers_is_an_error_that_names_the_next_step() {
    let place = Place::new(&[("notes/a.txt", "")]);
    let text = "the project in notes has no worker: add a file such as `main.worker`";
    place.run(&["run", "--project", "notes", "hello"]).fails(2, text);
}

#[test]
fn a_folder_of_tool_files_is_a_project() {
    let place = Place::new(&[("next.tool", "type: function\nfunction: project_list_files\n")]);
    assert_eq!(place.run(&["check"]).output(), "ok (entries: 0, workers: 0, tools: 25)\n");
    assert_eq!(place.run(&["call", "next"]).output(), "next.tool\n");
}

#[test]
fn an_unknown_name_is_an_error_without_advice_about_rust() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    let text = "error: unknown tool or worker `nothing_like_it`; `tools` lists all\n";
    place.run(&["call", "nothing_like_it"]).fails(2, text);
    place.run(&["chat", "asistant"]).fails(2, "unknown tool or worker `asistant`; did you mean `assistant`?");
}

/// A project of two workers, of which one uses a server whose program does not exist.
fn with_absent_server(more: &str) -> Place {
    let servers = format!(r#"{{ "mcpServers": {{ "gone": {{ "command": "no-such-program"{more} }} }} }}"#);
    let other = ASSISTANT.replace("assistant", "other").replace("filesystem_project", "mcp__gone__run");
    Place::new(&[("assistant.worker", ASSISTANT), ("other.worker", &other), (".mcp.json", &servers)])
}

#[test]
fn a_server_is_connected_only_for_runs_that_can_use_it() {
    let place = with_absent_server("");
    for command in [
        &["run", "assistant", "hello", "--trust-project"][..],
        &["run", "--tool", "assistant", "hello", "--trust-project"],
    ] {
        assert!(place.run(command).output().contains("hello"));
    }
    place.run(&["run", "other", "hello", "--trust-project"]).fails(1, "cannot start the MCP server `gone`");
}

#[test]
fn an_optional_server_that_cannot_be_used_is_a_warning() {
    let place = with_absent_server(r#", "optional": true"#);
    let answer = place.run(&["run", "other", "hello", "--trust-project"]);
    assert!(answer.err.contains("it is optional, so its tools are missing"), "{answer:?}");
    assert!(answer.output().contains("hello"));
}

#[test]
fn a_server_that_starts_slowly_is_named_while_it_is_waited_for() {
    let servers = r#"{ "mcpServers": { "slow": { "command": "sh", "args": ["-c", "sleep 2; echo no >&2; exit 9"], "optional": true } } }"#;
    let worker = ASSISTANT.replace("filesystem_project", "mcp__slow");
    let place = Place::new(&[("assistant.worker", &worker), (".mcp.json", servers)]);
    let answer = place.run(&["run", "assistant", "hello", "--trust-project"]);
    assert!(answer.err.contains("waiting for the MCP server `slow`, at most 30s"), "{answer:?}");
    assert!(answer.output().contains("hello"));
}
