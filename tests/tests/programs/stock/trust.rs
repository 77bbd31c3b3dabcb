//! Approvals that the files of a project give in advance, which the user may not have written.

use super::{ASSISTANT, Place};

const WRITE: &str = r#"call write_file {"path":"b.txt","content":"b"}"#;

/// Projects whose files approve the call, and the text about each.
const PROJECTS: [(&str, &str, &str, &str); 6] = [
    ("project.json", "", r#"{ "approval_mode": "approve_all" }"#, "project.json:1: every call"),
    (
        "tools",
        r#"{ "tools": { "project_write_file": "pre_approved" } }"#,
        "{}",
        "project.json:1: every call of `project_write_file`",
    ),
    (
        "toolsets",
        r#"{ "toolsets": { "filesystem_project": "pre_approved" } }"#,
        "{}",
        "project.json:1: every call of the toolset `filesystem_project`",
    ),
    (
        "calls",
        r#"{ "calls": [{ "tool": "project_write_file", "arguments": { "path": "b.txt", "content": "b" }, "rule": "pre_approved" }] }"#,
        "{}",
        r#"project.json:1: calls of `project_write_file` with {"path":"b.txt","content":"b"}"#,
    ),
    (
        "conditions",
        r#"{ "calls": [{ "tool": "project_write_file", "when": { "properties": { "path": { "const": "b.txt" } } }, "rule": "pre_approved" }] }"#,
        "{}",
        r#"project.json:1: calls of `project_write_file` that match {"properties":{"path":{"const":"b.txt"}}}"#,
    ),
    (
        "effects",
        r#"{ "effects": { "project_write_file": "read_only" } }"#,
        "{}",
        "project.json:1: every call of `project_write_file`, which only reads by `effects`",
    ),
];

fn place(policy: &str, runtime: &str) -> Place {
    let policy = if policy.is_empty() { String::new() } else { format!(r#", "policy": {policy}"#) };
    let manifest = format!(r#"{{ "version": 1, "entry": {{ "agent": "assistant" }}, "runtime": {runtime}{policy} }}"#);
    Place::new(&[("main.worker", ASSISTANT), ("project.json", &manifest)])
}

#[test]
fn without_a_terminal_a_project_that_approves_calls_is_refused() {
    for (name, policy, runtime, text) in PROJECTS {
        let place = place(policy, runtime);
        let answer = place.run(&["run", WRITE]);
        assert!(
            answer.err.contains(&format!("approve calls in advance, and no user agreed to this, in .:\n  {text}\n")),
            "{answer:?}"
        );
        answer.fails(2, "give --trust-project to agree to it");
        assert!(!place.path().join("b.txt").exists(), "{name}");
        let trusted = place.run(&["run", "--trust-project", WRITE]);
        assert_eq!(trusted.err, "", "{name}");
        trusted.output();
        assert_eq!(place.read("b.txt"), "b");
    }
}

#[test]
fn a_tool_file_cannot_approve_its_own_calls() {
    let tool = "type: function\nfunction: project_write_file\napproval: pre_approved\n";
    let worker = ASSISTANT.replace("filesystem_project", "save");
    let place = Place::new(&[("main.worker", &worker), ("tools/save.tool", tool)]);
    let write = r#"call save {"path":"b.txt","content":"b"}"#;
    let answer = place.run(&["run", write]);
    let text = "tools/save.tool:3: every call of `save`, another name of `project_write_file`";
    assert!(answer.err.contains(text), "{answer:?}");
    answer.fails(2, "give --trust-project to agree to it");
    place.run(&["run", "--trust-project", write]).output();
}

#[test]
fn the_stricter_rules_of_a_project_hold_against_its_approvals() {
    let rules = r#"{ "toolsets": { "filesystem_project": "pre_approved" },
        "tools": { "project_write_file": { "blocked": { "reason": "never" } } } }"#;
    let place = place(rules, "{}");
    place.run(&["run", "--approve-all", "--end-on-denial", WRITE]).fails(1, "never");
    place.run(&["run", "--trust-project", "--end-on-denial", WRITE]).fails(1, "never");
}

#[test]
fn a_project_without_approvals_has_no_warning() {
    let place = place(r#"{ "tools": { "project_write_file": "ask" } }"#, r#"{ "approval_mode": "reject_all" }"#);
    assert_eq!(place.run(&["run", "hello"]).err, "");
}

#[test]
fn check_and_tools_show_the_approvals_and_do_not_ask() {
    let place = place(PROJECTS[1].1, "{}");
    for command in ["check", "tools"] {
        let answer = place.run(&[command]);
        assert!(answer.err.contains("`run` and `chat` ask about this:\n  project.json:1: every call of"), "{answer:?}");
        answer.output();
    }
}

#[test]
fn an_entry_that_is_a_tool_does_not_run_before_the_user_agreed() {
    let entry = r#"{ "function": "project_write_file", "args": { "path": "b.txt", "content": "b" } }"#;
    let place = Place::new(&[("project.json", &format!(r#"{{ "version": 1, "entry": {entry} }}"#))]);
    let answer = place.run(&["run"]);
    let text = r#"project.json:1: the entry is the call of `project_write_file` with {"path":"b.txt","content":"b"}"#;
    assert!(answer.err.contains(text), "{answer:?}");
    answer.fails(2, "give --trust-project to agree to it");
    assert!(!place.path().join("b.txt").exists());
    place.run(&["run", "--trust-project"]).output();
    assert_eq!(place.read("b.txt"), "b");
}

/// A project with a server that leaves a file behind when it is started.
fn with_server() -> Place {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py");
    let servers = format!(
        r#"{{ "mcpServers": {{ "s": {{ "command": "python3", "args": ["{script}", "starts=started"], "env": {{ "A": "b c" }} }} }} }}"#
    );
    let worker = ASSISTANT.replace("filesystem_project", "mcp__s__echo, filesystem_project");
    Place::new(&[("main.worker", &worker), (".mcp.json", &servers)])
}

const ECHO: &str = r#"call mcp__s__echo {"text":"hello"}"#;

#[test]
fn without_a_terminal_servers_of_project_files_are_not_started() {
    let place = with_server();
    for approve in [&["run", "hi"][..], &["run", "--approve-all", "hi"]] {
        let answer = place.run(approve);
        assert!(answer.err.contains("name MCP servers, which are not started here, and no user agreed"), "{answer:?}");
        assert!(answer.err.contains("\n  .mcp.json:1: `s` runs the program: \"A=b c\" python3 /"), "{answer:?}");
        answer.fails(2, "give --trust-project to agree to it");
    }
    for shows in [&["tools"][..], &["check"], &["config", "show"]] {
        place.run(shows);
    }
    assert!(!place.path().join("started").exists());
    let trusted = place.run(&["run", "--trust-project", "--approve-all", ECHO]);
    assert!(!trusted.err.contains("not started"), "{trusted:?}");
    assert!(trusted.output().contains("hello"));
    assert!(place.path().join("started").exists());
}

#[test]
fn a_snapshot_of_a_server_is_printed_once_the_user_trusts_the_project() {
    let place = with_server();
    let answer = place.run(&["mcp", "snapshot", "s", "--trust-project"]);
    let snapshot: llm_do::mcp::Snapshot = answer.output().parse().expect("the output is a snapshot");
    assert_eq!(snapshot.server(), "s");
    assert!(snapshot.tools().iter().any(|tool| tool.name == "echo"));
    let checked = place.run(&["mcp", "check", "--trust-project"]).output();
    assert_eq!(checked, "ok: MCP servers that match their snapshots: 0\n");
    place.run(&["mcp", "snapshot", "t", "--trust-project"]).fails(2, "unknown MCP server `t`");
    place.run(&["mcp", "snapshot", "s"]).fails(2, "give --trust-project to agree to it");
}

#[test]
fn a_program_that_runs_no_projects_takes_snapshots_of_the_servers_beside_it() {
    let place = with_server();
    std::fs::remove_file(place.path().join("main.worker")).unwrap();
    let run = |words: &[&str]| Place::answer(place.command(env!("CARGO_BIN_EXE_app")).args(words), "");
    let snapshot = run(&["mcp", "snapshot", "s", "--trust-project"]).output();
    let snapshot: llm_do::mcp::Snapshot = snapshot.parse().expect("the output is a snapshot");
    assert_eq!(snapshot.server(), "s");
    run(&["mcp", "snapshot", "s"]).fails(2, "give --trust-project to agree to it");
    std::fs::remove_file(place.path().join(".mcp.json")).unwrap();
    run(&["mcp", "snapshot", "s"])
        .fails(2, "servers: none; add one to `.mcp.json` in this folder, name another project");
}
