//! Forms of members in `toolsets = [..]` and `toolset!`: what models see, and which tool a call reaches.

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Approver, Decision};
use llm_do::event::{Event, EventKind, Outcome};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, ToolResult};
use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use serde_json::{Value, json};

/// Read a file.
#[tool(effect = read_only)]
fn read_file(path: String) -> Result<String> {
    if path == "missing" {
        return Err("no such file".into());
    }
    Ok(format!("contents of {path}"))
}

/// List files.
#[tool(effect = read_only)]
fn list_files() -> Vec<String> {
    vec!["a".to_owned()]
}

/// Write a file.
#[tool]
fn write_file(path: String) -> String {
    format!("wrote {path}")
}

/// Search the web.
#[tool(effect = read_only, args = Search)]
fn search() {}

toolset! {
    /// Files of the project.
    filesystem = [read_file, list_files, write_file];

    /// Files, under names of their own.
    backup = [prefixed("b_", filesystem)];

    /// Only what reads.
    readers = [filesystem.except([write_file]), prefixed("web_", Search)];
}

/// Answer.
#[worker(toolsets = [prefixed("fs_", filesystem)])]
async fn of_prefixed(input: String) -> String;

/// Answer.
#[worker(toolsets = [prefixed("x_", prefixed("y_", filesystem.only([read_file, write_file])).except([write_file])), filesystem.only([list_files])])]
async fn of_nested(input: String) -> String;

/// Answer.
#[worker(toolsets = ["backup", "read_file"])]
async fn of_names(input: String) -> String;

/// Answer.
#[worker(toolsets = [prefixed("fs_", filesystem)])]
async fn of_prefixed_with_approval(input: String) -> String;

/// Calls tools by their shown names.
#[entry(toolsets = [prefixed("fs_", filesystem), readers.only([Search])])]
async fn by_names(ctx: &CallContext<by_names>, name: String) -> Result<Value> {
    Ok(ctx.call_tool(&name, json!({ "path": "a" })).await?)
}

/// Calls by name in a declaration that leaves a tool out.
#[entry(toolsets = [filesystem.except([write_file])])]
async fn of_excluded(ctx: &CallContext<of_excluded>, name: String) -> Result<Value> {
    Ok(ctx.call_tool(&name, json!({ "path": "a" })).await?)
}

/// Calls any item by name.
#[entry]
async fn of_anything(ctx: &CallContext, name: String) -> Result<Value> {
    Ok(ctx.call_tool(&name, json!({ "path": "a" })).await?)
}

/// Declares the same tools several times, under several names.
#[entry(toolsets = [filesystem, backup, prefixed("c_", readers), prefixed("d_", read_file)])]
async fn of_many_names(ctx: &CallContext<of_many_names>) -> Result<String> {
    ctx.call(list_files {}).await?;
    Ok(ctx.call(read_file { path: "a".into() }).await?)
}

/// Declares a tool that one group leaves out and another has.
#[entry(toolsets = [filesystem.except([write_file]), backup.only([write_file])])]
async fn of_a_second_way(ctx: &CallContext<of_a_second_way>) -> Result<String> {
    Ok(ctx.call(write_file { path: "a".into() }).await?)
}

fn runtime() -> Runtime {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

/// What a model saw: the tools offered, and the results of the calls that it made.
#[derive(Clone, Default)]
struct Seen {
    tools: Arc<Mutex<Vec<String>>>,
    results: Arc<Mutex<Vec<ToolResult>>>,
}

impl Seen {
    /// A model that makes one call, and then answers.
    fn calling(&self, name: &str, arguments: &Value) -> FunctionModel {
        let (seen, name, arguments) = (self.clone(), name.to_owned(), arguments.to_string());
        FunctionModel::new(move |request: Request<'_>| {
            *seen.tools.lock().unwrap() = request.tools.iter().map(|tool| tool.name.to_string()).collect();
            if let Some(Message::Tool { results }) = request.messages.last() {
                seen.results.lock().unwrap().extend(results.iter().cloned());
                return Ok(answer(ResponsePart::Text { text: "done".into() }));
            }
            Ok(answer(ResponsePart::ToolCall(ToolCall::new("1", name.clone(), arguments.clone()))))
        })
    }

    fn tools(&self) -> Vec<String> {
        self.tools.lock().unwrap().clone()
    }

    fn result(&self) -> ToolResult {
        self.results.lock().unwrap()[0].clone()
    }
}

fn answer(part: ResponsePart) -> Response {
    Response::new("m", vec![part], Usage::default())
}

/// Runs a worker whose model makes one call.
async fn run(worker: &str, name: &str, arguments: Value) -> (Seen, Recorder) {
    let (seen, recorder) = (Seen::default(), Recorder::new());
    let builder = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).sink(recorder.clone());
    let runtime = builder.force_model(seen.calling(name, &arguments)).build().unwrap();
    runtime.run_named(worker, json!({ "input": "go" })).await.unwrap();
    (seen, recorder)
}

/// Calls a tool from code, by name; returns the result or the error's text.
async fn call(entry: &str, name: &str) -> Result<Value, String> {
    runtime().run_named(entry, json!({ "name": name })).await.map_err(|error| llm_do::error::chain(&error))
}

#[tokio::test]
async fn a_model_sees_the_prefixed_names_and_its_calls_reach_the_tools() {
    let (seen, _) = run("of_prefixed", "fs_read_file", json!({ "path": "a" })).await;
    assert_eq!(seen.tools(), ["fs_read_file", "fs_list_files", "fs_write_file"]);
    let result = seen.result();
    assert_eq!((result.name.as_str(), result.content.as_str()), ("fs_read_file", "contents of a"));
}

#[tokio::test]
async fn a_model_that_omits_the_prefix_gets_the_name() {
    let (seen, _) = run("of_prefixed", "read_file", json!({ "path": "a" })).await;
    assert_eq!(seen.result().content, "unknown tool `read_file`: its name in these toolsets is `fs_read_file`");
}

#[tokio::test]
async fn errors_for_a_model_use_the_shown_name() {
    let (seen, recorder) = run("of_prefixed", "fs_read_file", json!({ "path": "missing" })).await;
    assert_eq!(seen.result().content, "`fs_read_file` failed: no such file");
    let errors: Vec<_> = recorder.kinds().into_iter().filter_map(error).collect();
    assert_eq!(errors, ["`read_file` failed: no such file"]);
    let (seen, _) = run("of_prefixed", "fs_read_file", json!({ "file": "a" })).await;
    assert!(seen.result().content.starts_with("invalid arguments for `fs_read_file`"), "{:?}", seen.result());
}

fn error(kind: EventKind) -> Option<String> {
    match kind {
        EventKind::CallFinished { outcome: Outcome::Error(text), .. } => Some(text),
        _ => None,
    }
}

#[tokio::test]
async fn forms_may_be_nested() {
    let (seen, _) = run("of_nested", "x_y_read_file", json!({ "path": "a" })).await;
    assert_eq!(seen.tools(), ["x_y_read_file", "list_files"]);
    assert_eq!(seen.result().content, "contents of a");
}

#[tokio::test]
async fn a_group_named_by_a_string_keeps_its_names() {
    let (seen, _) = run("of_names", "b_list_files", json!({})).await;
    assert_eq!(seen.tools(), ["b_read_file", "b_list_files", "b_write_file", "read_file"]);
    assert_eq!(seen.result().content, r#"["a"]"#);
}

#[tokio::test]
async fn calls_by_name_from_code_use_the_names_that_a_model_would_see() {
    assert_eq!(call("by_names", "fs_write_file").await.unwrap(), "wrote a");
    assert!(call("by_names", "web_search").await.unwrap_err().contains("invalid arguments for `search`"));
    assert!(
        call("by_names", "write_file").await.unwrap_err().contains("its name in these toolsets is `fs_write_file`")
    );
}

#[tokio::test]
async fn a_caller_without_a_declaration_uses_registered_names() {
    assert_eq!(call("of_anything", "write_file").await.unwrap(), "wrote a");
    assert!(call("of_anything", "fs_write_file").await.unwrap_err().contains("unknown tool `fs_write_file`"));
}

#[tokio::test]
async fn an_excluded_tool_is_not_declared() {
    assert_eq!(call("of_excluded", "read_file").await.unwrap(), "contents of a");
    let error = call("of_excluded", "write_file").await.unwrap_err();
    assert!(error.contains("`of_excluded` may not call `write_file`"), "{error}");
}

#[tokio::test]
async fn a_tool_that_is_declared_under_several_names_is_one_tool_to_typed_calls() {
    let runtime = runtime();
    assert_eq!(runtime.run(of_many_names {}).await.unwrap(), "contents of a");
    assert_eq!(runtime.run(of_a_second_way {}).await.unwrap(), "wrote a");
    let declared: Vec<_> = runtime.registry().get("of_many_names").unwrap().declared().unwrap().collect();
    let expected = [
        "read_file",
        "list_files",
        "write_file",
        "b_read_file",
        "b_list_files",
        "b_write_file",
        "c_read_file",
        "c_list_files",
        "c_web_search",
        "d_read_file",
    ];
    assert_eq!(declared, expected);
}

/// Returns the events of a tool call, without the caller and the duration.
fn traces(events: &[Event], tool: &str) -> Vec<String> {
    let trace = |event: &Event| match &event.kind {
        EventKind::CallStarted { what, arguments, .. } => format!("{what:?} {arguments}"),
        EventKind::CallFinished { outcome, .. } => format!("{outcome:?}"),
        other => format!("{other:?}"),
    };
    events.iter().filter(|event| *event.name == *tool).map(trace).collect()
}

#[tokio::test]
async fn events_use_the_registered_name_for_every_caller() {
    let (_, by_model) = run("of_prefixed", "fs_write_file", json!({ "path": "a" })).await;
    let by_code = Recorder::new();
    let builder = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).sink(by_code.clone());
    builder.build().unwrap().run(of_a_second_way {}).await.unwrap();
    let traces = [by_model, by_code].map(|recorder| traces(&recorder.events(), "write_file"));
    assert_eq!(traces[0].len(), 4, "asked, decided, started, finished");
    assert_eq!(traces[0], traces[1]);
}

/// Approves, and records the names of the tools.
#[derive(Clone, Debug, Default)]
struct Approving(Arc<Mutex<Vec<String>>>);

#[llm_do::async_trait]
impl Approver for Approving {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        self.0.lock().unwrap().push(request.tool.to_string());
        Decision::Approved
    }
}

#[tokio::test]
async fn approvals_use_the_registered_name() {
    let (seen, approver) = (Seen::default(), Approving::default());
    let model = seen.calling("fs_write_file", &json!({ "path": "a" }));
    let runtime = Runtime::builder().approver(approver.clone()).force_model(model).build().unwrap();
    runtime.run(of_prefixed_with_approval { input: "go".into() }).await.unwrap();
    assert_eq!(
        (seen.result().content.as_str(), &**approver.0.lock().unwrap()),
        ("wrote a", &["write_file".to_owned()][..])
    );
}

#[tokio::test]
async fn a_denial_for_a_model_uses_the_shown_name() {
    let seen = Seen::default();
    let model = seen.calling("fs_write_file", &json!({ "path": "a" }));
    let builder = Runtime::builder().approval_mode(ApprovalMode::RejectAll);
    builder.force_model(model).build().unwrap().run(of_prefixed { input: "go".into() }).await.unwrap();
    let told: Value = serde_json::from_str(&seen.result().content).unwrap();
    assert_eq!(told["tool_name"], "fs_write_file");
    assert!(told["error"].as_str().unwrap().contains("call to `fs_write_file` denied"), "{told}");
}

#[test]
fn a_registered_toolset_lists_each_tool_under_both_names() {
    let runtime = runtime();
    let (_, docs, members) = runtime.registry().toolsets().find(|(name, ..)| *name == "readers").unwrap();
    let names: Vec<_> = members.iter().map(|member| (member.shown(), member.tool())).collect();
    assert_eq!(docs, "Only what reads.");
    assert_eq!(names, [("read_file", "read_file"), ("list_files", "list_files"), ("web_search", "search")]);
}
