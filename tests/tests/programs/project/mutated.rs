//! Damaged files: nothing panics, and each fault names a file of the project.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use llm_do::project::{Project, WithProject};
use proptest::prelude::*;
use proptest::sample::select;

use super::{builder, folder};

/// A project with a file of each format and nearly all keys.
const FILES: [(&str, &str); 9] = [
    (
        "project.json",
        r#"{ "version": 1, "entry": { "agent": "main", "args": { "input": "Go." } }, "policy": "policy.json",
  "runtime": { "approval_mode": "prompt", "max_depth": 3, "agent_approval_overrides": { "main": { "calls_require_approval": null } } },
  "allow_cli_input": true, "generated_agents_dir": "made" }
"#,
    ),
    (
        "policy.json",
        r#"{ "tools": { "add": "ask", "erase": { "blocked": { "reason": "no" } } }, "workers": { "calls": true },
  "calls": [{ "tool": "add", "arguments": { "a": 1, "b": -2.5e3 }, "rule": "pre_approved" }], "server_side_tools": "ask" }
"#,
    ),
    (
        "main.worker",
        "---\nname: main\ndescription: \"Greets: \\u00e9\"\ntools: [add]\nskills: all\ncontext: agents_md\nmax_turns: 3\n\
         settings: { temperature: 0.5 }\ntimeout: 90s\noutput_schema: { type: object, properties: { a: { type: string } } }\n---\nGreet.\n",
    ),
    ("AGENTS.md", "Use tabs.\n"),
    (
        "tools/next.tool",
        "type: function\nfunction: add\ndescription: |\n  The next.\narguments: { b: 1 }\napproval: ask\n",
    ),
    ("tools/editor.tool", "---\ntype: agent\nname: editor\n---\nEdit.\n"),
    (
        ".claude/agents/a.md",
        "---\nname: a\ndescription: >-\n  Reviews\n  code.\ntools: Read, Bash(git a,b), add\ndisallowedTools: [Write]\nmodel: haiku\nmaxTurns: 2\n\
         effort: low\nskills:\n  - pdf\n---\nReview.\n",
    ),
    (
        "skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads.\nmetadata: { author: ann }\nallowed-tools: Bash(git:*) Read\n---\nBody.\n",
    ),
    (
        ".mcp.json",
        r#"{ "mcpServers": { "db": { "command": "db", "args": ["-v"], "env": { "URL": "${URL:-x}" } },
  "web": { "type": "http", "url": "https://example.org", "headers": { "A": "b" } } } }
"#,
    ),
];

/// Texts that mean something to a format.
const PIECES: [&str; 34] = [
    "---\n",
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{0}",
    "\u{1b}[2J",
    "\u{2028}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ":",
    ": ",
    ",",
    "- ",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "null",
    "~",
    "-1",
    "1e999",
    "99999999999999999999",
    "${",
    "../../..",
    "/",
    "name",
    "name: ",
    "é",
    "(",
    "\\ud800",
];

#[derive(Clone, Debug)]
enum Damage {
    Insert(&'static str),
    Delete(usize),
    Repeat(usize),
    Byte(u8),
}

fn damages() -> impl Strategy<Value = Vec<(usize, Damage)>> {
    let damage = prop_oneof![
        select(&PIECES[..]).prop_map(Damage::Insert),
        (1..40_usize).prop_map(Damage::Delete),
        (1..40_usize).prop_map(Damage::Repeat),
        any::<u8>().prop_map(Damage::Byte),
    ];
    proptest::collection::vec((0..2000_usize, damage), 1..4)
}

fn damaged(text: &str, damages: &[(usize, Damage)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, damage) in damages {
        let at = at % (bytes.len() + 1);
        let end = |count: usize| (at + count).min(bytes.len());
        match damage {
            Damage::Insert(piece) => drop(bytes.splice(at..at, piece.bytes())),
            Damage::Delete(count) => drop(bytes.drain(at..end(*count))),
            Damage::Repeat(count) => {
                let piece = bytes[at..end(*count)].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            Damage::Byte(byte) => bytes.insert(at, *byte),
        }
    }
    bytes
}

/// Returns the faults of a project; empty if it has none.
pub(super) fn faults(root: &Path) -> Vec<String> {
    match Project::open(root) {
        Err(error) => error.faults().to_vec(),
        Ok(project) => match builder().project(project.without_servers()).build() {
            Ok(_) => Vec::new(),
            Err(error) => error.to_string().lines().skip(1).map(str::to_owned).collect(),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_of_a_file_panics_and_each_fault_names_a_file(file in 0..FILES.len(), damages in damages()) {
        let folder = folder(&FILES);
        let (path, text) = FILES[file];
        let bytes = damaged(text, &damages);
        fs::write(folder.path().join(path), &bytes).unwrap();
        let found = catch_unwind(AssertUnwindSafe(|| faults(folder.path())));
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(found.is_ok(), "panicked at {path}: {text:?}");
        let found = found.unwrap();
        let is_placed = |fault: &String| FILES.iter().any(|(path, _)| fault.contains(path));
        let mentions_file = found.is_empty() || found.iter().any(is_placed);
        prop_assert!(mentions_file && found.first().is_none_or(is_placed), "{path}: {text:?}: {found:?}");
    }
}

#[test]
fn the_project_that_is_damaged_has_no_faults() {
    assert_eq!(faults(folder(&FILES).path()), Vec::<String>::new());
}

#[test]
fn a_large_file_is_read_in_time_that_grows_with_its_size() {
    let numbers = "{},".repeat(200_000) + "{}";
    let servers = format!(r#"{{ "mcpServers": {{ "a": {{ "command": "a", "args": [{numbers}] }} }} }}"#);
    let keys: Vec<_> = (0..30_000).map(|number| format!("\"k{number}\": 1")).collect();
    let map = format!(r#"{{ {}, "mcpServers": {{}} }}"#, keys.join(","));
    let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", &servers)]);
    let project = Project::open(folder.path()).unwrap();
    // The first ones, and how many more there are: numbers are arguments, so the maps are faults.
    assert_eq!(project.warnings().len(), 21);
    fs::write(folder.path().join(".mcp.json"), map).unwrap();
    assert_eq!(Project::open(folder.path()).unwrap().warnings().len(), 30_000);
}
