//! Spellings of the formats that other programs accept too.

use llm_do::json;
use llm_do::project::{Project, WithProject};
use llm_do::testing::ScriptedModel;
use tempfile::TempDir;

use super::{builder, folder, open, warnings, write};

const WORKER: &str = "---\nname: main\n---\nDo it.\n";

fn subagent(lines: &str) -> TempDir {
    let text = format!("---\nname: a\ndescription: A.\n{lines}---\nDo it.\n");
    folder(&[(".claude/agents/a.md", &text)])
}

/// Returns the names of the tools that the subagent's model sees.
async fn tools(folder: &TempDir) -> Vec<String> {
    let model = ScriptedModel::new().text("done");
    let runtime = builder().project(open(folder)).force_model(model.clone()).build().unwrap();
    runtime.run_named("a", json!({ "input": "Go." })).await.unwrap();
    model.requests()[0].tools.iter().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn files_of_each_format_may_begin_with_a_byte_order_mark_and_end_lines_with_two_characters() {
    let files = [
        ("project.json", "{\n\"version\": 1,\n\"entry\": { \"agent\": \"main\" },\n\"policy\": \"policy.json\"\n}\n"),
        ("policy.json", "{\n\"tools\": { \"add\": \"ask\" }\n}\n"),
        (".mcp.json", "{ \"mcpServers\": {} }\n"),
        ("main.worker", WORKER),
        ("tools/next.tool", "type: function\nfunction: add\narguments: { b: 1 }\n"),
        (".claude/agents/a.md", "---\nname: a\ndescription: A.\ntools:\n  - Read\n---\nDo it.\n"),
        ("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads.\n---\nBody.\n"),
    ];
    let texts: Vec<_> =
        files.iter().map(|(path, text)| (*path, format!("\u{feff}{}", text.replace('\n', "\r\n")))).collect();
    let files: Vec<_> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let folder = folder(&files);
    builder().project(open(&folder)).build().unwrap();
}

#[test]
fn a_fault_after_a_byte_order_mark_has_the_right_line() {
    let folder = folder(&[("main.worker", WORKER), ("project.json", "\u{feff}{\n  \"version\": 2\n}\n")]);
    let error = Project::open(folder.path()).unwrap_err();
    assert!(error.faults().iter().any(|fault| fault.contains("project.json:2: unsupported `version` 2")), "{error}");
}

#[tokio::test]
async fn a_text_of_one_line_needs_no_quotes_in_the_files_of_other_programs() {
    let description = "Use this: always. Example: user: 'Hi' \\n \"quoted\" #1";
    let text = format!("---\nname: a\ndescription: {description}\ntools: *\n---\nDo it.\n");
    let folder = folder(&[(".claude/agents/a.md", &text)]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    assert_eq!(runtime.registry().get("a").unwrap().description(), description);
    assert!(tools(&folder).await.len() > 5);
}

#[test]
fn front_matter_without_keys_leaves_a_file_out() {
    let folder = folder(&[("main.worker", WORKER), (".claude/agents/a.md", "---\n[\n---\nDo it.\n")]);
    let found = warnings(&folder, &open(&folder));
    assert!(found[0].starts_with(".claude/agents/a.md:3: left out: invalid YAML"), "{found:?}");
}

#[tokio::test]
async fn a_star_in_the_tools_of_a_subagent_is_all_tools() {
    let all = tools(&subagent("")).await;
    assert!(all.len() > 5, "{all:?}");
    assert_eq!(tools(&subagent("tools: \"*\"\n")).await, all);
}

#[test]
fn tools_of_other_programs_are_left_out_with_a_warning() {
    for name in ["TaskCreate", "EnterPlanMode", "LSP", "ToolSearch", "PowerShell", "ListMcpResourcesTool"] {
        let folder = subagent(&format!("tools: Read, {name}\n"));
        let expected = format!(".claude/agents/a.md:4: the tool `{name}` is left out: it has no counterpart here");
        assert_eq!(warnings(&folder, &open(&folder)), [expected]);
        builder().project(open(&folder)).build().unwrap();
    }
}

#[test]
fn a_subagent_whose_disallowed_tool_may_be_misspelt_is_left_out() {
    let folder = subagent("disallowedTools: Wriite, Xyz, mcp__db__*, Task(a)\n");
    let expected = [
        ".claude/agents/a.md:4: `disallowedTools`: unknown tool `Xyz`",
        ".claude/agents/a.md:4: left out: `disallowedTools`: unknown tool `Wriite`; did you mean `Write`?",
    ];
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), expected);
    assert_eq!(project.workers().count(), 0);
}

#[tokio::test]
async fn a_disallowed_tool_is_taken_from_a_listed_toolset() {
    let all = tools(&subagent("tools: filesystem_project\n")).await;
    let fewer = tools(&subagent("tools: filesystem_project\ndisallowedTools: Write\n")).await;
    let expected: Vec<_> = all.iter().filter(|tool| *tool != "write_file").cloned().collect();
    assert!(fewer == expected && fewer.len() + 1 == all.len(), "{fewer:?}");
}

#[test]
fn metadata_of_a_skill_may_have_any_values() {
    let skill = |metadata: &str| format!("---\nname: pdf\ndescription: Reads.\nmetadata: {metadata}\n---\nBody.\n");
    for metadata in ["{ version: 1.0, public: true }", "{ tags: [a] }", "none", "[1]"] {
        let folder = folder(&[("main.worker", WORKER), ("skills/pdf/SKILL.md", &skill(metadata))]);
        assert_eq!(warnings(&folder, &open(&folder)), Vec::<String>::new());
    }
}

#[test]
fn known_keys_of_a_skill_without_effect_are_named_as_known() {
    let skill = "---\nname: pdf\ndescription: Reads.\nuser-invocable: false\nshell: bash\n---\nBody.\n";
    let folder = folder(&[("main.worker", WORKER), ("skills/pdf/SKILL.md", skill)]);
    let expected = [
        "skills/pdf/SKILL.md:4: `user-invocable` has no effect here",
        "skills/pdf/SKILL.md:5: `shell` has no effect here",
    ];
    assert_eq!(warnings(&folder, &open(&folder)), expected);
}

#[test]
fn a_server_may_name_its_transport_as_the_protocol_does() {
    let servers = r#"{ "mcpServers": { "web": { "type": "streamable-http", "url": "https://example.org/mcp" } } }"#;
    let folder = folder(&[("main.worker", WORKER), (".mcp.json", servers)]);
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), Vec::<String>::new());
    assert!(project.servers()[0].ends_with(".mcp.json:1: `web` connects to https://example.org/mcp"));
}

#[test]
fn files_whose_extension_differs_only_by_case_are_left_out_with_a_warning() {
    let folder = folder(&[("main.worker", WORKER), ("workers/Old.Worker", WORKER), (".claude/agents/b.MD", "")]);
    let expected = [
        "workers/Old.Worker: left out: the extension must be `worker`, in lowercase",
        ".claude/agents/b.MD: left out: the extension must be `md`, in lowercase",
    ];
    assert_eq!(warnings(&folder, &open(&folder)), expected);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_text_outside_of_the_project_is_a_fault() {
    use std::os::unix::fs::symlink;
    let outside = folder(&[("secret.txt", "password"), ("SKILL.md", "---\nname: pdf\ndescription: A.\n---\nBody.\n")]);
    let worker = "---\nname: main\ncontext: agents_md\nskills: all\n---\nDo it.\n";
    let folder = folder(&[("main.worker", worker), ("skills/pdf/form.md", "")]);
    symlink(outside.path().join("secret.txt"), folder.path().join("AGENTS.md")).unwrap();
    symlink(outside.path().join("SKILL.md"), folder.path().join("skills/pdf/SKILL.md")).unwrap();
    let error = Project::open(folder.path()).unwrap_err().to_string();
    let text = "cannot be read: it is a link to a file outside of the project's folder";
    assert!(error.contains(&format!("AGENTS.md: {text}")) && !error.contains("SKILL.md"), "{error}");
    write(folder.path(), "main.worker", WORKER);
    let found = warnings(&folder, &open(&folder));
    assert_eq!(found, [format!("skills/pdf/SKILL.md: left out: {text}")]);
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_left_out_with_a_warning_and_broken_links_are_faults() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("main.worker", WORKER), ("workers/b.worker", "---\nname: b\n---\nDo it.\n")]);
    symlink(folder.path(), folder.path().join("workers/cycle")).unwrap();
    assert_eq!(warnings(&folder, &open(&folder)), ["workers/cycle: left out: it is a link to a folder"]);
    symlink("missing.worker", folder.path().join("workers/c.worker")).unwrap();
    let error = Project::open(folder.path()).unwrap_err();
    assert!(error.faults()[0].contains("workers/c.worker: cannot be read: No such file"), "{error}");
}

#[test]
fn the_version_of_a_manifest_must_be_a_number() {
    let folder =
        folder(&[("main.worker", WORKER), ("project.json", r#"{ "version": "1", "entry": { "agent": "main" } }"#)]);
    let error = Project::open(folder.path()).unwrap_err();
    assert!(error.faults()[0].ends_with("`version`: expected 1, found a string"), "{error}");
}
