//! MCP servers that the files of a project name.

use llm_do::json;
use llm_do::project::{Project, WithProject};
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
fn a_server_that_cannot_be_reached_is_an_error_only_where_a_worker_names_it() {
    let file = r#"{ "mcpServers": {
        "gone": { "command": "no-such-program" },
        "key": { "type": "http", "url": "https://example.org/mcp", "headers": { "A": "${NO_SUCH_VARIABLE}" } }
    } }"#;
    let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", file)]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    let [gone, key] = runtime.warnings() else { panic!("{:?}", runtime.warnings()) };
    assert!(gone.contains(".mcp.json:2: left out: cannot start the MCP server `gone`"), "{gone}");
    let text =
        ".mcp.json:3: left out: invalid settings of the MCP server `key`: the variable `NO_SUCH_VARIABLE` is not set";
    assert!(key.contains(text), "{key}");
    super::write(folder.path(), "main.worker", "---\nname: main\ntools: [mcp__key]\n---\nDo it.\n");
    let error = builder().project(open(&folder)).build().unwrap_err();
    assert!(matches!(error, BuildError::Registry(_)) && error.to_string().contains(text), "{error}");
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
    let found = warnings(&folder, &open(&folder));
    let expected = [
        ":2: left out: `mcpServers.a`: missing `command`",
        ":3: left out: `mcpServers.b.timeout`: expected a number of milliseconds of at least 1",
        ":3: left out: `mcpServers.b.command` is blank: write a value, or remove the key",
        ":4: left out: missing `mcpServers.c.type`: a server with a `url` needs the type `http`",
        ":5: left out: `mcpServers.d.url`: expected a string, found a number",
        ":6: left out: `mcpServers.e.type`: expected `stdio` or `http`, found `carrier pigeon`",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for text in expected {
        assert!(found.iter().any(|fault| fault.contains(text)), "{text}: {found:?}");
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
    let found = warnings(&faulty, &open(&faulty)).join("\n");
    assert!(found.contains("left out: `mcpServers.s.sampling`: invalid model name `haiku`"), "{found}");
}

/// Returns the tools that the model of a subagent gets, and the warnings of the runtime.
async fn of_subagent(servers: &str, keys: &str) -> (Vec<String>, String) {
    let text = format!("---\nname: agent\ndescription: Does it.\n{keys}---\nDo it.\n");
    let folder = folder(&[(".claude/agents/agent.md", &text), (".mcp.json", servers)]);
    let model = ScriptedModel::new().text("done");
    let project = open(&folder);
    let of_files = project.warnings().join("\n");
    let runtime = builder().project(project).force_model(model.clone()).build().unwrap();
    runtime.run_named("agent", json!({ "input": "Go." })).await.unwrap();
    let tools = model.requests()[0].tools.iter().map(|tool| tool.name.to_string()).collect();
    (tools, of_files + &runtime.warnings().join("\n"))
}

/// Returns a `.mcp.json` with the server of the tests under other names.
fn named(names: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py");
    let server =
        |name: &&str| format!(r#""{name}": {{ "command": "python3", "args": ["{script}", "only=echo,fail"] }}"#);
    format!(r#"{{ "mcpServers": {{ {} }} }}"#, names.iter().map(server).collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn subagents_name_servers_and_tools_as_other_programs_do() {
    let servers = named(&["my server"]);
    let (all, _) = of_subagent(&servers, "tools: mcp__my_server\n").await;
    assert!(all.len() == 2 && all.iter().all(|tool| tool.starts_with("mcp__my-server-")), "{all:?}");
    let echo: Vec<_> = all.iter().filter(|tool| tool.ends_with("__echo")).cloned().collect();
    for keys in ["tools: mcp__my_server__echo\n", "tools: mcp__my_server__*\ndisallowedTools: mcp__my_server__fail\n"] {
        let (found, warnings) = of_subagent(&servers, keys).await;
        assert_eq!((found, warnings.as_str()), (echo.clone(), ""), "{keys}");
    }
}

#[tokio::test]
async fn a_name_that_fits_several_tools_is_left_out_with_their_names_here() {
    let (found, warnings) = of_subagent(&named(&["a b", "a.b"]), "tools: mcp__a_b__echo, add\n").await;
    assert_eq!(found, ["add"]);
    let names: Vec<_> = warnings.split('`').filter(|part| part.starts_with("mcp__a-b-")).collect();
    assert!(names.len() == 2 && warnings.contains("; its name here is `"), "{warnings}");
}

#[test]
fn the_error_of_an_own_worker_has_the_name_of_a_tool_here() {
    let worker = "---\nname: main\ntools: [mcp__my_server__echo]\n---\nDo it.\n";
    let folder = folder(&[("main.worker", worker), (".mcp.json", &named(&["my server"]))]);
    let error = builder().project(open(&folder)).build().unwrap_err().to_string();
    assert!(
        error.contains("unknown tool or toolset `mcp__my_server__echo`; its name here is `mcp__my-server-"),
        "{error}"
    );
}

#[tokio::test]
async fn definitions_of_servers_are_read_as_other_programs_read_them() {
    let more = r#", "type": "STDIO", "disabled": false, "env": { "GIVEN": 8080, "FLAG": true, "NONE": null, "NESTED": "${env:NO_A:-${NO_B:-x}}" }"#;
    let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", &servers(more))]);
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), Vec::<String>::new());
    assert!(
        project.demands()[0].contains("it gets the values of your variables `NO_A`, `NO_B`"),
        "{:?}",
        project.demands()
    );
    let runtime = builder().project(project).build().unwrap();
    for (name, value) in [("GIVEN", "8080"), ("FLAG", "true"), ("NESTED", "x")] {
        assert_eq!(runtime.run_named("mcp__s__variable", json!({ "text": name })).await.unwrap(), value);
    }
}

#[test]
fn each_spelling_of_streamable_http_is_known() {
    for kind in ["streamableHttp", "streamable_http", "Streamable-HTTP", "HTTP"] {
        let file =
            format!(r#"{{ "mcpServers": {{ "w": {{ "type": "{kind}", "url": "https://example.org/mcp" }} }} }}"#);
        let folder = folder(&[("main.worker", "---\nname: main\n---\nDo it.\n"), (".mcp.json", &file)]);
        let project = open(&folder);
        assert_eq!((warnings(&folder, &project).len(), project.servers().len()), (0, 1), "{kind}");
    }
}
