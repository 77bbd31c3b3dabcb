//! The tools on the tool plane: journals, worker files, errors.

use std::collections::BTreeSet;

use llm_do::Runtime;
use llm_do::approval::ApprovalMode;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::toolsets::filesystem::{filesystem_project, project};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use serde_json::json;

use super::Project;

/// Creates a file, lists the files, and moves it.
#[entry(toolsets = [filesystem_project])]
async fn working(ctx: &CallContext<working>) -> Result<String> {
    ctx.call(project::write_file { path: "a.txt".into(), content: "one".into() }).await?;
    let listed = ctx.call(project::list_files::default()).await?;
    ctx.call(project::move_file { from: "a.txt".into(), to: "b.txt".into() }).await?;
    Ok(listed)
}

#[tokio::test]
async fn each_call_is_one_step_of_a_journal_and_a_replay_changes_nothing() {
    let (project, journal) = (Project::new(), MemoryJournal::new());
    let builder = || Runtime::builder().project_root(project.root()).approval_mode(ApprovalMode::ApproveAll);
    let runtime = builder().journal(journal.clone()).build().unwrap();
    assert_eq!(runtime.run(working {}).await.unwrap(), "a.txt");
    let records = journal.records();
    let steps = records.iter().filter(|record| record.kind == StepKind::Tool).map(|record| record.name.to_string());
    let steps: BTreeSet<_> = steps.collect();
    assert!(
        steps.is_superset(&["project_list_files", "project_move_file", "project_write_file"].map(str::to_owned).into())
    );

    std::fs::remove_file(project.root().join("b.txt")).unwrap();
    let replayed = builder().journal(MemoryJournal::from_records(records)).build().unwrap();
    assert_eq!(replayed.run(working {}).await.unwrap(), "a.txt");
    assert!(!project.has("a.txt") && !project.has("b.txt"), "the calls are recorded, so none runs again");
}

#[tokio::test]
async fn a_worker_file_names_a_toolset_and_its_model_the_short_names() {
    let project = Project::new();
    project.put("a.txt", "bees");
    let spec: WorkerSpec =
        "---\nname: librarian\ndescription: Read.\ntoolsets: [filesystem_project_ro]\n---\nRead.\n".parse().unwrap();
    let model = FunctionModel::new(|request: Request<'_>| {
        let offered: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(offered, ["read_file", "list_files", "search_files"]);
        let part = match request.messages.last() {
            Some(Message::Tool { results }) => ResponsePart::Text { text: results[0].content.clone() },
            _ => ResponsePart::ToolCall(ToolCall::new("1", "read_file", json!({ "path": "a.txt" }).to_string())),
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    });
    let runtime = Runtime::builder().project_root(project.root()).worker(spec).force_model(model).build().unwrap();
    let answer = runtime.run_named("librarian", json!({ "input": "read" })).await.unwrap();
    assert_eq!(answer, "     1\tbees");
}

#[tokio::test]
async fn a_failed_call_is_returned_to_the_model() {
    let project = Project::new();
    let spec: WorkerSpec =
        "---\nname: visitor\ndescription: Read.\ntoolsets: [filesystem_project_ro]\n---\nRead.\n".parse().unwrap();
    let model = FunctionModel::new(|request: Request<'_>| {
        let part = match request.messages.last() {
            Some(Message::Tool { results }) => ResponsePart::Text { text: results[0].content.clone() },
            _ => ResponsePart::ToolCall(ToolCall::new("1", "read_file", json!({ "path": "../x" }).to_string())),
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    });
    let runtime = Runtime::builder().project_root(project.root()).worker(spec).force_model(model).build().unwrap();
    let answer = runtime.run_named("visitor", json!({ "input": "read" })).await.unwrap();
    let text = answer.as_str().unwrap();
    assert!(text.contains("`../x` is outside the root folder; give a path inside it, relative to the root"), "{text}");
}
