//! Files of the Python llm-do.

use llm_do::approval::ApprovalMode;
use llm_do::project::{Project, WithProject};
use llm_do::testing::ScriptedModel;
use llm_do::{Runtime, json};
use tempfile::TempDir;

use super::foreign::tools;
use super::{builder, folder, open, warnings};

/// Returns the tools that the model of a worker of the project gets.
async fn tools_of(folder: &TempDir, worker: &str) -> Vec<String> {
    let model = ScriptedModel::new().text("done");
    let runtime = builder().project(open(folder)).force_model(model.clone()).build().unwrap();
    runtime.run_named(worker, json!({ "input": "Go." })).await.unwrap();
    tools(&model.requests()[0]).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn its_toolsets_have_their_names() {
    let text = "---\nname: main\ntoolsets:\n  - dynamic_agents\n  - shell_readonly\n---\nDo it.\n";
    let folder = folder(&[("main.agent", text)]);
    assert_eq!(
        tools_of(&folder, "main").await,
        ["agent_create", "agent_call", "agent_list", "agent_replace", "shell_readonly"]
    );
}

/// A project of the form that the Python llm-do reads, whose worker names a model of its input.
fn pitches(arguments: &str, more: &str) -> TempDir {
    let manifest = format!(
        "{{\n  \"version\": 1,\n  \"runtime\": {{}},\n  \"entry\": {{ \"agent\": \"judge\", \"args\": {arguments} }},\n  \
         \"agent_files\": [\"judge.agent\"]\n}}\n"
    );
    let agent = format!("---\nname: judge\ninput_model_ref: schemas.py:PitchInput\n{more}---\nJudge the pitch.\n");
    let class = "class PitchInput(PromptInput):\n    company: str\n";
    folder(&[("project.json", &manifest), ("judge.agent", &agent), ("schemas.py", class)])
}

#[tokio::test]
async fn its_model_of_an_input_is_left_out_with_a_warning() {
    let folder = pitches(r#"{ "input": "A pitch." }"#, "");
    let project = open(&folder);
    assert_eq!(
        warnings(&folder, &project),
        [
            "judge.agent:3: `input_model_ref` has no effect: the Python class `schemas.py:PitchInput` cannot be read, so the worker \
             takes `input` and `attachments`; write its fields as `input_schema`"
        ]
    );
    let runtime = builder().project(project).force_model(ScriptedModel::new().text("Good.")).build().unwrap();
    assert_eq!(runtime.run_named("judge", json!({ "input": "A pitch." })).await.unwrap(), "Good.");
}

#[tokio::test]
async fn arguments_that_only_its_model_accepts_are_a_fault_until_a_schema_describes_them() {
    let arguments = r#"{ "input": "A pitch.", "company": "Acme" }"#;
    let error = Project::open(pitches(arguments, "").path()).unwrap_err();
    let expected = "`entry.args`: `company` of the Python class `schemas.py:PitchInput`, which cannot be read; write its fields as \
                    `input_schema` of `judge`";
    assert!(error.faults()[0].contains("project.json:4: ") && error.faults()[0].contains(expected), "{error}");

    let schema =
        "input_schema:\n  type: object\n  properties: { input: { type: string }, company: { type: string } }\n";
    let folder = pitches(arguments, schema);
    let project = open(&folder);
    assert_eq!(warnings(&folder, &project), [""; 0]);
    let runtime = builder().project(project).force_model(ScriptedModel::new().text("Good.")).build().unwrap();
    assert_eq!(runtime.run_named("judge", json!({ "input": "A pitch.", "company": "Acme" })).await.unwrap(), "Good.");
}

#[cfg(unix)]
#[tokio::test]
async fn its_read_only_shell_refuses_other_commands() {
    let folder = folder(&[("a.txt", "one\n"), ("main.agent", "---\nname: main\n---\nGo.\n")]);
    let runtime = Runtime::builder().only(["shell_readonly"]).approval_mode(ApprovalMode::ApproveAll);
    let runtime = runtime.project(open(&folder)).build().unwrap();
    let read = runtime.run_named("shell_readonly", json!({ "command": "cat a.txt" })).await.unwrap();
    assert!(read.as_str().unwrap().contains("one"), "{read}");
    let error = runtime.run_named("shell_readonly", json!({ "command": "rm a.txt" })).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`rm a.txt` is refused"), "{error}");
    assert!(folder.path().join("a.txt").exists());
}

#[tokio::test]
async fn a_tool_file_may_begin_without_a_fence_and_use_its_short_names() {
    let agent = "# An agent\nname: code-reviewer\ntype: agent\nmodel: claude-sonnet-4\ntools: [read_file, grep, glob]\n---\n\nYou review.\n";
    let function = "# A function\nname: read_file\ntype: function\nfunction: llm_do.tools.filesystem:read_file\n";
    let folder = folder(&[("tools/code-reviewer.tool", agent), ("tools/read_file.tool", function)]);
    let expected = [
        "tools/code-reviewer.tool:4: `model`: `claude-sonnet-4` stands for `anthropic:claude-sonnet-4-0`; write the name with its provider",
        "tools/code-reviewer.tool:5: the tool `grep` stands for the linked tool `project_search_files`",
        "tools/code-reviewer.tool:5: the tool `glob` stands for the linked tool `project_list_files`",
        "tools/read_file.tool:4: `function`: `llm_do.tools.filesystem:read_file` stands for the linked tool `project_read_file`",
    ];
    assert_eq!(warnings(&folder, &open(&folder)), expected);
    assert_eq!(tools_of(&folder, "code-reviewer").await, ["read_file", "project_search_files", "project_list_files"]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    assert_eq!(runtime.registry().get("code-reviewer").unwrap().model(), Some("anthropic:claude-sonnet-4-0"));
}

#[tokio::test]
async fn a_tool_file_may_name_its_own_function() {
    let text = "type: function\nname: add\nfunction: add\ndescription: Sum up.\narguments: { b: 1 }\n";
    let folder = folder(&[("tools/add.tool", text)]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    assert_eq!(runtime.registry().get("add").unwrap().description(), "Sum up.");
    assert_eq!(runtime.run_named("add", json!({ "a": 4 })).await.unwrap(), 5);
}
