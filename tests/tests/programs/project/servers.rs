//! MCP servers that the files of a project name.

use llm_do::json;
use llm_do::project::Project;
use llm_do::runtime::BuildError;
use llm_do::testing::ScriptedModel;
use tempfile::TempDir;

use super::foreign::{run, tools};
use super::{builder, folder, open, warnings};

/// How many tools the server has.
const ALL: usize = 25;

/// Returns a `.mcp.json` with the server of the tests, with more keys.
fn servers(more: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py");
    format!(r#"{{ "mcpServers": {{ "s": {{ "command": "python3", "args": ["{script}"]{more} }} }} }}"#)
}

fn with_worker(keys: &str) -> TempDir {
    let worker = format!("---\nname: main\n{keys}---\nDo it.\n");
    folder(&[("main.worker", &worker), (".mcp.json", &servers(""))])
}

#[tokio::test]
async fn workers_name_a_server_or_one_of_its_tools() {
    for (keys, count) in [("tools: [mcp__s__echo]\n", 1), ("toolsets: [mcp__s]\n", ALL)] {
        let folder = with_worker(keys);
        let (result, requests) = run(&folder, "main", ScriptedModel::new().text("done")).await;
        assert_eq!(result.unwrap(), "done");
        assert!(tools(&requests[0]).contains(&"mcp__s__echo"));
        assert_eq!(tools(&requests[0]).len(), count);
    }
}

#[tokio::test]
async fn subagents_name_a_server_or_one_of_its_tools() {
    let cases = [
        ("tools: mcp__s__echo\n", 1),
        ("tools: mcp__s\n", ALL),
        ("tools: mcp__s__*\n", ALL),
        ("tools: mcp__s__echo, Read\nmcpServers: [s]\n", ALL + 1),
        ("tools: mcp__s__echo, mcp__s__fail\ndisallowedTools: mcp__s__fail\n", 1),
        ("disallowedTools: mcp__s__*\n", 0),
    ];
    for (keys, count) in cases {
        let text = format!("---\nname: agent\ndescription: Does it.\n{keys}---\nDo it.\n");
        let folder = folder(&[(".claude/agents/agent.md", &text), (".mcp.json", &servers(""))]);
        assert_eq!(warnings(&folder, &open(&folder)), Vec::<String>::new(), "{keys}");
        let (result, requests) = run(&folder, "agent", ScriptedModel::new().text("done")).await;
        assert_eq!(result.unwrap(), "done");
        let all = tools(&requests[0]);
        let of_server = all.iter().filter(|tool| tool.starts_with("mcp__s__")).count();
        assert_eq!(of_server, count.min(ALL), "{keys}: {all:?}");
    }
}

#[tokio::test]
async fn a_project_without_its_servers_runs_without_their_tools() {
    let folder = with_worker("tools: [mcp__s__echo, mcp__s, filesystem_project]\n");
    let runtime = builder().project(open(&folder).without_servers());
    let runtime = runtime.force_model(ScriptedModel::new().text("done")).build().unwrap();
    assert_eq!(runtime.run_named("main", json!({ "input": "go" })).await.unwrap(), "done");
    assert!(runtime.registry().iter().all(|item| !item.name().starts_with("mcp__")));
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_with_its_place() {
    let file = r#"{ "mcpServers": {
        "gone": { "command": "no-such-program" },
        "key": { "type": "http", "url": "https://example.org/mcp", "headers": { "A": "${NO_SUCH_VARIABLE}" } }
    } }"#;
    let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", file)]);
    let error = builder().project(open(&folder)).build().unwrap_err();
    let BuildError::Sources(faults) = &error else { panic!("{error}") };
    assert!(
        faults[0].contains("cannot start the MCP server `gone`") && faults[0].ends_with(".mcp.json:2)"),
        "{faults:?}"
    );
    let text = "invalid settings of the MCP server `key`: the variable `NO_SUCH_VARIABLE` is not set";
    assert!(faults[1].contains(text) && faults[1].ends_with(".mcp.json:3)"), "{faults:?}");
}

#[tokio::test]
async fn a_server_runs_in_the_folder_of_the_project_with_its_variables() {
    let more = r#", "env": { "GIVEN": "${NO_SUCH_VARIABLE:-a b}" }, "timeout": 60000"#;
    let worker = "---\nname: main\n---\nDo it.\n";
    let folder = folder(&[("main.worker", worker), (".mcp.json", &servers(more))]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    let given = runtime.run_named("mcp__s__variable", json!({ "text": "GIVEN" })).await.unwrap();
    assert_eq!(given, "a b");
    let place = runtime.run_named("mcp__s__where", json!({})).await.unwrap();
    assert_eq!(std::path::Path::new(place.as_str().unwrap()), folder.path().canonicalize().unwrap());
}

#[test]
fn faults_of_servers_have_their_line_and_field() {
    let file = r#"{ "mcpServers": {
        "a": { "args": [] },
        "b": { "command": "", "timeout": 0 },
        "c": { "url": "https://example.org" },
        "d": { "type": "http", "url": 7 },
        "e": { "type": "carrier pigeon" }
    } }"#;
    let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", file)]);
    let error = Project::open(folder.path()).unwrap_err();
    let expected = [
        ":2: `mcpServers.a`: missing `command`",
        ":3: `mcpServers.b.timeout`: expected a number of milliseconds of at least 1",
        ":3: `mcpServers.b.command` is blank: write a value, or remove the key",
        ":4: missing `mcpServers.c.type`: a server with a `url` needs the type `http`",
        ":5: `mcpServers.d.url`: expected a string, found a number",
        ":6: `mcpServers.e.type`: expected `stdio` or `http`, found `carrier pigeon`",
    ];
    assert_eq!(error.faults().len(), expected.len(), "{error}");
    for text in expected {
        assert!(error.faults().iter().any(|fault| fault.contains(text)), "{text}: {error}");
    }
}

/// Returns the definition of the server of the tests, in YAML.
fn definition() -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py");
    format!("{{ command: python3, args: [{script}, \"only=echo,fail\"] }}")
}

#[tokio::test]
async fn a_worker_has_the_servers_that_it_lists_and_defines() {
    let keys = format!("mcp_servers:\n  - s\n  - own: {}\n", definition());
    let folder = with_worker(&keys);
    super::write(folder.path(), "other.worker", "---\nname: other\nmcp_servers: [s]\n---\nDo it.\n");
    assert_eq!(warnings(&folder, &open(&folder)), Vec::<String>::new());
    let listed = open(&folder).servers();
    assert!(listed[1].contains("main.worker:5: `own` runs the program: python3"), "the user is asked: {listed:?}");
    for (worker, own) in [("main", 2), ("other", 0)] {
        let (result, requests) = run(&folder, worker, ScriptedModel::new().text("done")).await;
        assert_eq!(result.unwrap(), "done");
        let all = tools(&requests[0]);
        assert_eq!(all.iter().filter(|tool| tool.starts_with("mcp__own__")).count(), own, "{worker}: {all:?}");
        assert_eq!(all.len(), ALL + own);
    }
    let without = builder().project(open(&folder).without_servers()).build();
    assert!(without.unwrap().registry().iter().all(|item| !item.name().starts_with("mcp__")));
}

#[tokio::test]
async fn a_subagent_may_define_a_server() {
    let text = format!(
        "---\nname: agent\ndescription: Does it.\nmcpServers: [{{ own: {} }}]\ntools: []\n---\nDo it.\n",
        definition()
    );
    let folder = folder(&[(".claude/agents/agent.md", &text)]);
    assert_eq!(warnings(&folder, &open(&folder)), Vec::<String>::new());
    let (result, requests) = run(&folder, "agent", ScriptedModel::new().text("done")).await;
    assert_eq!(result.unwrap(), "done");
    assert_eq!(tools(&requests[0]), ["mcp__own__echo", "mcp__own__fail"]);
}

#[test]
fn faults_of_a_workers_servers_have_their_file_line_and_field() {
    let worker = "---\nname: main\nmcp_servers:\n  - t\n  - a: { args: [] }\n  - b: { command: x, comand: y }\n  - 7\n  - s\n  - s\n---\nDo it.\n";
    let other = "---\nname: other\nmcp_servers: [{ s: { command: other } }]\n---\nDo it.\n";
    let third = "---\nname: third\nmcp_servers: [t, nothing]\n---\nDo it.\n";
    let files =
        [("main.worker", worker), ("other.worker", other), ("third.worker", third), (".mcp.json", &servers(""))];
    let folder = folder(&files);
    let error = Project::open(folder.path()).unwrap_err();
    let expected = [
        "main.worker:5: `mcp_servers.a`: missing `command`",
        "main.worker:6: unknown key `mcp_servers.b.comand` has no effect here; did you mean `command`?",
        "main.worker:7: `mcp_servers`: expected names, or maps of definitions by name, as items, found a number",
        "main.worker:9: `mcp_servers` lists `s` twice",
        "other.worker:3: `mcp_servers`: another MCP server `s` is defined in",
        "third.worker:3: `mcp_servers`: unknown MCP server `t`; `.mcp.json` has `s`",
        "third.worker:3: `mcp_servers`: unknown MCP server `nothing`; `.mcp.json` has `s`",
    ];
    for text in expected {
        assert!(error.faults().iter().any(|fault| fault.contains(text)), "{text}: {error}");
    }
    assert_eq!(error.faults().len(), expected.len(), "{error}");
}

#[test]
fn a_server_that_may_ask_a_model_is_shown_as_such() {
    let worker = "---\nname: main\n---\nDo it.\n";
    let given = servers(r#", "sampling": "anthropic:claude-haiku-5-5""#);
    let project = open(&folder(&[("main.worker", worker), (".mcp.json", &given)]));
    assert!(project.servers()[0].ends_with("; it may ask the model `anthropic:claude-haiku-5-5`"));
    let faulty = folder(&[("main.worker", worker), (".mcp.json", &servers(r#", "sampling": "haiku""#))]);
    let error = Project::open(faulty.path()).unwrap_err().to_string();
    assert!(error.contains("`mcpServers.s.sampling`: invalid model name `haiku`"), "{error}");
}
