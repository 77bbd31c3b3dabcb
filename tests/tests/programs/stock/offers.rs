//! What the program offers to clients of MCP, and by which name it introduces itself.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::{ASSISTANT, Place};

/// Starts `mcp` with these options, and returns its answers to the handshake and to a request for its tools.
fn served(place: &Place, options: &[&str]) -> [Value; 2] {
    let mut program = place.start(&[&["mcp"], options].concat());
    let mut input = program.stdin.take().unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let mut ask = |id: u32, method: &str, params: Value| -> Value {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        loop {
            let line = lines.next().expect("an answer").unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    };
    let answers = [ask(1, "initialize", client), ask(2, "tools/list", json!({}))];
    drop(input);
    program.wait().unwrap();
    answers
}

fn offered(place: &Place, options: &[&str]) -> Vec<String> {
    let [_, list] = served(place, options);
    let tools = list["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A project with a worker and these keys in its manifest.
fn project(keys: &str) -> Place {
    let manifest = format!(r#"{{ "version": 1, "entry": {{ "agent": "assistant" }}{keys} }}"#);
    Place::new(&[("main.worker", ASSISTANT), ("project.json", &manifest)])
}

#[test]
fn mcp_offers_workers_and_none_of_the_tools_that_come_with_the_crate() {
    let place = Place::new(&[("main.worker", ASSISTANT), ("workers/other.worker", "---\nname: other\n---\nHelp.\n")]);
    assert_eq!(offered(&place, &[]), ["assistant", "other"]);
    assert_eq!(offered(&project(""), &[]), ["assistant"]);
}

#[test]
fn a_project_names_what_it_offers_besides_its_workers() {
    for (named, more) in [
        (r#"["project_read_file"]"#, vec!["project_read_file"]),
        (r#"["shell", "project_read_file"]"#, vec!["project_read_file", "shell"]),
    ] {
        let place = project(&format!(r#", "mcp": {{ "expose": {named} }}"#));
        assert_eq!(offered(&place, &[]), [vec!["assistant"], more].concat());
    }
    let place = project(r#", "mcp": { "expose": ["filesystem_project"] }"#);
    let all = offered(&place, &[]);
    assert!(all.len() > 3 && all[1..].iter().all(|name| name.starts_with("project_")), "{all:?}");
}

#[test]
fn an_option_names_all_that_is_offered() {
    let place = project(r#", "mcp": { "expose": ["shell"] }"#);
    for option in ["--expose", "--tools"] {
        assert_eq!(offered(&place, &[option, "project_read_file"]), ["project_read_file"]);
    }
    assert_eq!(offered(&place, &["--expose", "project_read_file,assistant"]), ["assistant", "project_read_file"]);
}

#[test]
fn an_unknown_name_to_offer_is_refused_with_where_it_is() {
    project("").run(&["mcp", "--expose", "shel"]).fails(2, "--expose: unknown tool, worker, entry or toolset `shel`");
    let place = project(r#", "mcp": { "expose": ["shel"] }"#);
    place
        .run(&["mcp"])
        .fails(2, "what the project or the program exposes: unknown tool, worker, entry or toolset `shel`");
    let place = project(r#", "mcp": { "exposed": [] }"#);
    assert!(place.run(&["mcp"]).err.contains("project.json:1: unknown key `exposed` in `mcp`"));
}

#[test]
fn the_program_introduces_itself_by_its_own_name() {
    let place = project("");
    let version = place.run(&["--version"]).output();
    assert!(version.starts_with("stock (llm-do ") && version.ends_with(")\n"), "{version}");
    assert_eq!(served(&place, &[])[0]["serverInfo"]["name"], "stock");
}
