//! Files in the formats of other programs: subagents, skills, `AGENTS.md`, `.mcp.json`.

use llm_do::model::ThinkingLevel;
use llm_do::prelude::*;
use llm_do::testing::{RecordedRequest, ScriptedModel};
use llm_do::{Value, json};
use tempfile::TempDir;

use super::{builder, folder, open, warnings, write};

const SKILL: &str =
    "---\nname: pdf\ndescription: Reads PDFs.\nlicense: MIT\nmetadata: { author: ann }\n---\nUse `forms.md`.\n";

/// Runs a worker of the project with a scripted model; returns the result and the requests.
pub(super) async fn run(
    folder: &TempDir,
    worker: &str,
    model: ScriptedModel,
) -> (Result<Value, CallError>, Vec<RecordedRequest>) {
    let runtime = builder().project(open(folder)).force_model(model.clone()).build().unwrap();
    let result = runtime.run_named(worker, json!({ "input": "Go." })).await;
    (result, model.requests())
}

pub(super) fn tools(request: &RecordedRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

#[tokio::test]
async fn a_subagent_is_a_worker_with_its_tools_turns_and_effort() {
    let text = "---\nname: reviewer\ndescription: Reviews code.\ntools: Read, Grep, Bash(git *), add\ndisallowedTools: Grep\n\
                maxTurns: 1\neffort: max\n---\nYou review.\n";
    let folder = folder(&[(".claude/agents/team/reviewer.md", text)]);
    let model = ScriptedModel::new().call("add", json!({ "a": 1, "b": 2 }));
    let (result, requests) = run(&folder, "reviewer", model).await;
    assert!(result.unwrap_err().to_string().contains("1 request"), "the turns are limited");
    let request = &requests[0];
    assert_eq!(request.instructions, "You review.");
    assert_eq!(tools(request), ["project_read_file", "shell", "add"]);
    assert_eq!(request.settings.thinking, Some(ThinkingLevel::High));
}

#[tokio::test]
async fn a_subagent_without_tools_has_those_that_the_program_links() {
    let text = "---\nname: reviewer\ndescription: Reviews code.\n---\nYou review.\n";
    let folder = folder(&[(".claude/agents/reviewer.md", text)]);
    let (result, requests) = run(&folder, "reviewer", ScriptedModel::new().text("fine")).await;
    assert_eq!(result.unwrap(), "fine");
    assert!(tools(&requests[0]).contains(&"project_edit_file"), "{:?}", tools(&requests[0]));
}

#[test]
fn keys_and_tools_without_effect_are_warnings_with_file_and_line() {
    let text = "---\nname: reviewer\ndescription: Reviews code.\ncolor: blue\ntools: [Read, TodoWrite, mcp__db__query, \"Bash(git *)\"]\n\
                permissionMode: bypassPermissions\ncolour: red\n---\nYou review.\n";
    let folder = folder(&[(".claude/agents/reviewer.md", text)]);
    let expected = [
        ".claude/agents/reviewer.md:4: `color` has no effect here",
        ".claude/agents/reviewer.md:6: `permissionMode` has no effect here",
        ".claude/agents/reviewer.md:7: unknown key `colour` has no effect here",
        ".claude/agents/reviewer.md:5: the tool `TodoWrite` is left out: it has no counterpart here",
        ".claude/agents/reviewer.md:5: the tool `mcp__db__query` is left out: the project has no such MCP server; it has none",
        ".claude/agents/reviewer.md:5: the limits of `Bash(git *)` are not enforced; use a policy: see `llm_do::approval::Policy`",
    ];
    assert_eq!(warnings(&folder, &open(&folder)), expected);
}

#[tokio::test]
async fn models_of_subagents_have_short_names() {
    let with = |model: &str| format!("---\nname: a\ndescription: A.\nmodel: {model}\n---\nDo it.\n");
    for (given, expected) in [
        ("sonnet", "anthropic:claude-sonnet-5-5"),
        ("claude-opus-5", "anthropic:claude-opus-5"),
        ("openai:gpt-5", "openai:gpt-5"),
    ] {
        let folder = folder(&[(".claude/agents/a.md", &with(given))]);
        let runtime = builder().project(open(&folder)).build().unwrap();
        let model = runtime.registry().get("a").unwrap().model().map(ToOwned::to_owned);
        assert_eq!(model.as_deref(), Some(expected));
    }
    let folder = folder(&[(".claude/agents/a.md", &with("inherit"))]);
    assert_eq!(builder().project(open(&folder)).build().unwrap().registry().get("a").unwrap().model(), None);
}

#[tokio::test]
async fn a_skill_is_listed_and_read_on_demand_with_its_files() {
    let worker = "---\nname: clerk\nskills: [pdf]\n---\nYou are a clerk.\n";
    let folder = folder(&[
        ("main.worker", worker),
        (".agents/skills/pdf/SKILL.md", SKILL),
        (".agents/skills/pdf/forms.md", "Fill in forms."),
        (".agents/skills/other/SKILL.md", "---\nname: other\ndescription: Other.\n---\n"),
    ]);
    let model = ScriptedModel::new()
        .call("read_skill", json!({ "name": "pdf" }))
        .call("read_skill", json!({ "name": "pdf", "file": "forms.md" }))
        .text("done");
    let (result, requests) = run(&folder, "clerk", model).await;
    assert_eq!(result.unwrap(), "done");
    let system = &requests[0].instructions;
    assert!(system.starts_with("You are a clerk.\n\n# Skills\n"), "{system}");
    assert!(system.contains("- `pdf`: Reads PDFs.") && !system.contains("other"), "{system}");
    assert!(!system.contains("forms.md"), "the text of a skill is not part of the instructions");
    let messages = format!("{:?}", requests[2].messages);
    assert!(messages.contains("Use `forms.md`.") && messages.contains("Fill in forms."), "{messages}");
}

#[tokio::test]
async fn a_worker_reads_only_the_skills_that_it_lists() {
    let folder = folder(&[
        ("main.worker", "---\nname: clerk\nskills: [pdf]\n---\nYou are a clerk.\n"),
        ("skills/pdf/SKILL.md", SKILL),
        ("skills/other/SKILL.md", "---\nname: other\ndescription: Other.\n---\nConfidential.\n"),
    ]);
    let model = ScriptedModel::new().call("read_skill", json!({ "name": "other" })).text("done");
    let (result, requests) = run(&folder, "clerk", model).await;
    let text = format!("{result:?} {:?}", requests.last().unwrap().messages);
    assert!(text.contains("the worker does not list the skill `other`") && !text.contains("Confidential"), "{text}");
    let runtime = builder().project(open(&folder)).build().unwrap();
    let read = runtime.run_named("read_skill", json!({ "name": "other" })).await.unwrap();
    assert_eq!(read, "Confidential.", "the user reads all");
}

#[tokio::test]
async fn no_file_outside_of_a_skills_folder_is_read() {
    let worker = "---\nname: clerk\nskills: all\n---\nYou are a clerk.\n";
    let folder = folder(&[("main.worker", worker), ("skills/pdf/SKILL.md", SKILL), ("secret.txt", "secret")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), folder.path().join("skills/pdf/link.txt")).unwrap();
    let absolute = folder.path().join("secret.txt").display().to_string();
    let runtime = builder().project(open(&folder)).force_model(ScriptedModel::new()).build().unwrap();
    for file in ["../../secret.txt", "link.txt", &absolute, "missing.txt", "."] {
        let error = runtime.run_named("read_skill", json!({ "name": "pdf", "file": file })).await.unwrap_err();
        let text = llm_do::error::chain(&error);
        assert!(text.contains(&format!("`{file}` of the skill `pdf` cannot be read")), "{text}");
    }
}

#[tokio::test]
async fn the_skills_of_a_subagent_are_part_of_its_instructions() {
    let text = "---\nname: clerk\ndescription: Files.\nskills: pdf\ntools: Read\n---\nYou are a clerk.\n";
    let folder = folder(&[(".claude/agents/clerk.md", text), (".claude/skills/pdf/SKILL.md", SKILL)]);
    let (_, requests) = run(&folder, "clerk", ScriptedModel::new().text("done")).await;
    assert_eq!(requests[0].instructions, "You are a clerk.\n\n# Skill: pdf\n\nUse `forms.md`.");
}

#[tokio::test]
async fn the_nearest_agents_md_joins_the_instructions() {
    let worker = |name: &str| format!("---\nname: {name}\ncontext: agents_md\n---\nDo it.\n");
    let folder = folder(&[
        ("AGENTS.md", "Use tabs.\n"),
        ("workers/web/AGENTS.md", "Use spaces.\n"),
        ("workers/a.worker", &worker("a")),
        ("workers/web/b.worker", &worker("b")),
    ]);
    for (name, expected) in [("a", "Do it.\n\nUse tabs."), ("b", "Do it.\n\nUse spaces.")] {
        let (_, requests) = run(&folder, name, ScriptedModel::new().text("done")).await;
        assert_eq!(requests[0].instructions, expected);
    }
}

#[test]
fn servers_of_mcp_are_listed_with_what_starting_them_does() {
    let servers = r#"{ "mcpServers": {
        "db": { "command": "db", "args": ["-v", "-v"], "env": { "URL": "${URL:-x}" } },
        "web": { "type": "http", "url": "https://example.org/mcp", "headers": { "A": "b" }, "timeout": 60000, "retries": 3 },
        "old": { "type": "sse", "url": "https://example.org/sse" }
    } }"#;
    let folder = folder(&[("main.worker", "---\nname: a\n---\nDo it.\n")]);
    write(folder.path(), ".mcp.json", servers);
    let expected = [
        ".mcp.json:3: unknown key `mcpServers.web.retries` has no effect here",
        ".mcp.json:4: `mcpServers.old` is left out: the type `sse` is not supported; use `http`, if the server supports it",
    ];
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), expected);
    let servers = [
        ".mcp.json:2: `db` runs the program: URL=${URL:-x} db -v -v",
        ".mcp.json:3: `web` connects to https://example.org/mcp with the headers: A: b",
    ];
    let prefix = format!("{}/", folder.path().display());
    let listed: Vec<_> = project.servers().iter().map(|server| server.replace(&prefix, "")).collect();
    assert_eq!(listed, servers);
    assert!(project.without_servers().servers().is_empty());
}
