//! Faulty files in the formats of other programs are left out with warnings, and end a project only where something names them.

use std::path::Path;
use std::sync::LazyLock;

use expect_test::expect_file;
use llm_do::json;
use llm_do::project::{Project, WithProject};
use llm_do::testing::{ScriptedModel, TestModel};
use tempfile::TempDir;

use super::faults::{Case, FILE, parse};
use super::foreign::{run, tools};
use super::{builder, folder, open, warnings, write};

/// The line that begins the warnings of a case.
const WARNINGS: &str = "--- warnings";
const WORKER: &str = "---\nname: main\n---\nDo it.\n";

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| parse(include_str!("left_out.txt"), WARNINGS));

fn of(case: &Case) -> TempDir {
    let files: Vec<_> = case.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    folder(&files)
}

/// Returns the warnings of a project and of its runtime, without the path of the folder.
fn all_warnings(folder: &TempDir) -> Vec<String> {
    let project = open(folder);
    let of_files = warnings(folder, &project);
    let runtime = builder().project(project).build().unwrap();
    let prefix = format!("{}/", folder.path().display());
    of_files.into_iter().chain(runtime.warnings().iter().map(|warning| warning.replace(&prefix, ""))).collect()
}

/// `UPDATE_EXPECT=1` rewrites the warnings: read the diff.
#[test]
fn what_is_left_out_is_a_warning_with_its_file_and_line() {
    let mut text = String::new();
    for case in CASES.iter() {
        for (path, content) in &case.files {
            text.extend([FILE, path, "\n", content]);
        }
        let found: String = all_warnings(&of(case)).iter().map(|warning| warning.clone() + "\n").collect();
        text.extend([WARNINGS, "\n", &found, "\n"]);
    }
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/project/left_out.txt")]
        .assert_eq(text.trim_end());
}

#[tokio::test]
async fn a_project_runs_without_the_faulty_files_of_other_programs() {
    for case in CASES.iter() {
        let folder = of(case);
        let runtime = builder().project(open(&folder)).force_model(TestModel::new().text("done")).build().unwrap();
        assert_eq!(runtime.run_named("main", json!({ "input": "Go." })).await.unwrap(), "done");
    }
}

/// Returns the error of a project, from reading it or from building a runtime.
fn error(files: &[(&str, &str)]) -> String {
    let folder = folder(files);
    match Project::open(folder.path()) {
        Err(error) => error.to_string(),
        Ok(project) => builder().project(project).build().unwrap_err().to_string(),
    }
}

const FAULTY: [(&str, &str); 3] = [
    (".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews.\nmodel: sonet\n---\n"),
    ("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: [Reads]\n---\n"),
    (
        ".mcp.json",
        r#"{ "mcpServers": { "db": { "args": [] }, "off": { "command": "x", "disabled": true }, "gone": { "command": "no-such-program-7" } } }"#,
    ),
];

#[test]
fn what_is_left_out_is_an_error_where_a_worker_or_the_entry_names_it() {
    let project = r#"{ "version": 1, "entry": { "agent": "reviewer" } }"#;
    let cases = [
        (
            "main.worker",
            "tools: [reviewer]\n",
            "unknown tool or toolset `reviewer`; it is left out: ",
            "reviewer.md:4: left out: `model`",
        ),
        (
            "main.worker",
            "skills: [pdf]\n",
            "unknown skill `pdf`; it is left out: ",
            "skills/pdf/SKILL.md:3: left out: `description`",
        ),
        (
            "main.worker",
            "mcp_servers: [db]\n",
            "unknown MCP server `db`; it is left out: ",
            ".mcp.json:1: left out: `mcpServers.db`",
        ),
        ("main.worker", "tools: [mcp__off__a]\n", "`mcp__off__a`; it is left out: ", ".mcp.json:1: it is disabled"),
        (
            "main.worker",
            "toolsets: [mcp__gone]\n",
            "`mcp__gone`; it is left out: ",
            "left out: cannot start the MCP server `gone`",
        ),
        ("project.json", project, "unknown agent `reviewer`; it is left out: ", "reviewer.md:4: left out: `model`"),
    ];
    for (file, text, named, reason) in cases {
        let worker = format!("---\nname: main\n{}---\nDo it.\n", if file == "main.worker" { text } else { "" });
        let mut files = FAULTY.to_vec();
        files.push(("main.worker", &worker));
        if file == "project.json" {
            files.push((file, text));
        }
        let error = error(&files);
        assert!(error.contains(named) && error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn own_files_stay_strict() {
    for (file, text) in
        [("other.worker", "---\nname: other\ntools: [nothing]\n---\nGo.\n"), ("tools/a.tool", "type: function\n")]
    {
        let error = error(&[("main.worker", WORKER), (file, text)]);
        assert!(error.contains(file), "{error}");
    }
}

#[test]
fn a_subagent_gives_way_to_a_linked_tool_of_its_name() {
    let text = "---\nname: add\ndescription: Adds.\n---\nAdd.\n";
    let folder = folder(&[("main.worker", WORKER), (".claude/agents/add.md", text)]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    assert!(
        runtime.warnings()[0].contains("add.md: left out: the name `add` is already registered"),
        "{:?}",
        runtime.warnings()
    );
    assert_eq!(runtime.registry().get("add").unwrap().description(), "Add two numbers.");
}

#[test]
fn texts_of_other_programs_do_not_use_up_the_limit_of_the_project() {
    let megabyte = "a".repeat(1_000_000);
    let folder = folder(&[("workers/main.worker", WORKER), ("AGENTS.md", &megabyte)]);
    write(folder.path(), "workers/b.worker", "---\nname: b\ncontext: agents_md\n---\nGo.\n");
    for number in 0..70 {
        let skill = format!("---\nname: s{number}\ndescription: d\n---\n{megabyte}");
        write(folder.path(), &format!("skills/s{number}/SKILL.md"), &skill);
    }
    let found = warnings(&folder, &open(&folder));
    assert!(
        !found.is_empty() && found.iter().all(|warning| warning.contains("left out: cannot be read: the texts")),
        "{found:?}"
    );
}

#[tokio::test]
async fn one_unknown_tool_costs_a_subagent_only_that_tool() {
    let text =
        "---\nname: a\ndescription: A.\ntools: Read, Reed, add\nskills: none\nmaxTurns: 0\neffort: huge\n---\nDo it.\n";
    let folder = folder(&[(".claude/agents/a.md", text)]);
    let (result, requests) = run(&folder, "a", ScriptedModel::new().text("done")).await;
    assert_eq!(result.unwrap(), "done");
    assert_eq!(tools(&requests[0]), ["project_read_file", "add"]);
    let expected = ["maxTurns", "effort", "unknown skill `none` is left out", "the tool `Reed` is left out"];
    let found = all_warnings(&folder).join("\n");
    assert!(expected.iter().all(|text| found.contains(text)), "{found}");
}

#[test]
fn a_subagent_with_an_unknown_provider_does_not_end_the_project() {
    let text = "---\nname: other\ndescription: Asks another model.\nmodel: elsewhere:model-7\n---\nGo.\n";
    let folder = folder(&[("main.worker", WORKER), (".claude/agents/other.md", text)]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    let [warning] = runtime.warnings() else { panic!("{:?}", runtime.warnings()) };
    assert!(warning.contains("other.md") && warning.contains("elsewhere"), "{warning}");
}
