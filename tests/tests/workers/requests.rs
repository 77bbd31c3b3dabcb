//! Requests of a call: to a model, an ad-hoc worker, the best worker for a subtask, the user, and for a file.

use std::sync::{Arc, Mutex};

use llm_do::context::{InputHandler, InputRequest, SubtaskRequest};
use llm_do::error::BoxError;
use llm_do::event::EventKind;
use llm_do::model::CapabilityTable;
use llm_do::model::{Message, Request, Response, ResponsePart, SettingWarning, ToolCall, model_provider};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder, ScriptedModel, TestModel};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{CallError, ToolReturn, async_trait};
use serde_json::{Value, json};

// Answers with the capabilities of a model in the table.
model_provider!("probe", |model, capabilities| {
    let entry = capabilities.find(&format!("openai:{model}"));
    Ok(Arc::new(scripted(vec![text(&entry.unwrap().takes.to_string())])))
});

/// Asks a model.
#[entry]
async fn ask(ctx: &CallContext, question: String) -> Result<String> {
    Ok(ctx.llm_ask(question).await?)
}

/// Asks a model for a number.
#[entry]
async fn ask_for_a_number(ctx: &CallContext) -> Result<i64> {
    Ok(ctx.llm_ask("How many?").output::<i64>().await?)
}

/// Look a word up.
#[tool(effect = read_only, inline)]
fn look_up(word: String) -> String {
    format!("`{word}` is a word")
}

/// Delete a file.
#[tool(effect = destructive)]
fn remove(path: String) -> String {
    path
}

/// Lets an ad-hoc worker use tools.
#[entry(toolsets = [look_up])]
async fn with_agent(ctx: &CallContext<with_agent>, name: String, tools: Vec<String>) -> Result<String> {
    let spec = WorkerSpec::new(name, "Look the word up.").toolsets(tools);
    Ok(ctx.llm_agent(spec).input("blue").await?)
}

/// Review source files for defects.
#[worker(hints = ["rust code", "review"])]
async fn code_reviewer(input: String) -> String;

/// Translate a text.
#[worker(hints = ["french"])]
async fn translator(text: String, language: String) -> String;

/// Translate a text into rhymes.
#[worker(hints = ["french"])]
async fn rhymer(text: String, language: String) -> String;

/// Delegates a subtask.
#[entry(toolsets = [code_reviewer, translator, rhymer])]
async fn give(ctx: &CallContext<give>, task: SubtaskTask) -> Result<Value> {
    let mut request = SubtaskRequest::new(task.description);
    for hint in task.hints {
        request = request.hint(hint);
    }
    for (name, value) in task.inputs {
        request = request.input(name, value);
    }
    Ok(ctx.subtask(request).await?)
}

/// A task.
#[data]
#[derive(Default)]
struct SubtaskTask {
    description: String,
    hints: Vec<String>,
    inputs: std::collections::BTreeMap<String, String>,
}

/// Have a file reviewed.
#[tool(effect = read_only, inline)]
fn have_reviewed(path: String) -> ToolReturn {
    ToolReturn::subtask(SubtaskRequest::new("review the code").input("path", path))
}

/// Answer with the result of a tool.
#[worker(toolsets = [have_reviewed, ask_user])]
async fn assistant(input: String) -> String;

/// Ask the user for a name.
#[tool(effect = read_only)]
async fn ask_user(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("What is your name?").await?)
}

/// Reads a file of the project.
#[entry]
async fn read_one(ctx: &CallContext, path: String) -> Result<String> {
    let file = ctx.attachment(&path).await?;
    Ok(format!("{} of {} bytes", file.media_type(), file.data().len()))
}

fn text(text: &str) -> Vec<ResponsePart> {
    vec![ResponsePart::Text { text: text.to_owned() }]
}

fn call(name: &str, arguments: &Value) -> Vec<ResponsePart> {
    vec![ResponsePart::ToolCall(ToolCall::new(name, name, arguments.to_string()))]
}

/// A model that gives these answers in turn, and then always "done".
fn scripted(answers: Vec<Vec<ResponsePart>>) -> ScriptedModel {
    answers.into_iter().fold(ScriptedModel::new(), ScriptedModel::answer).text("done").repeat_last()
}

fn builder(answers: Vec<Vec<ResponsePart>>) -> RuntimeBuilder {
    Runtime::builder().force_model(scripted(answers))
}

fn started(recorder: &Recorder) -> Vec<(String, u32)> {
    let events = recorder.events().into_iter();
    let started = events.filter(|event| matches!(event.kind, EventKind::CallStarted { .. }));
    started.map(|event| (event.name.to_string(), event.depth)).collect()
}

#[tokio::test]
async fn a_question_is_a_worker_call_nested_in_its_caller() {
    let recorder = Recorder::new();
    let runtime = builder(vec![text("No.")]).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(ask { question: "Spam?".into() }).await.unwrap(), "No.");
    assert_eq!(started(&recorder), [("ask".into(), 0), ("llm_ask".into(), 1)]);
}

#[tokio::test]
async fn a_question_is_refused_at_the_limit_on_depth_before_anything_is_spent() {
    let recorder = Recorder::new();
    let runtime = builder(Vec::new()).max_depth(0).sink(recorder.clone()).build().unwrap();
    let error = runtime.run(ask { question: "Spam?".into() }).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`ask` at depth 0 may not call the worker `llm_ask`"), "{error}");
    assert!(!recorder.kinds().iter().any(|kind| matches!(kind, EventKind::ModelRequest { .. })));
}

#[tokio::test]
async fn a_question_is_answered_with_the_requested_type() {
    let runtime = Runtime::builder().force_model(TestModel::new()).build().unwrap();
    assert_eq!(runtime.run(ask_for_a_number {}).await.unwrap(), 0);
    let call_with = |value| call("final_result", &json!({ "result": value }));
    let runtime = builder(vec![call_with(json!("many")), call_with(json!(7))]).build().unwrap();
    assert_eq!(
        runtime.run(ask_for_a_number {}).await.unwrap(),
        7,
        "the first answer is not a number, so the question is repeated"
    );
}

#[tokio::test]
async fn an_ad_hoc_worker_can_use_the_toolsets_of_its_caller() {
    let runtime = builder(vec![call("look_up", &json!({ "word": "blue" })), text("It is.")]).build().unwrap();
    let run = with_agent { name: "agent".into(), tools: vec!["look_up".into()] };
    assert_eq!(runtime.run(run).await.unwrap(), "It is.");
}

#[tokio::test]
async fn an_ad_hoc_worker_cannot_use_tools_that_its_caller_cannot() {
    let runtime = builder(Vec::new()).build().unwrap();
    let run = |tool: &str| runtime.run(with_agent { name: "agent".into(), tools: vec![tool.into()] });
    let error = llm_do::error::chain(&run("remove").await.unwrap_err());
    assert!(error.contains("`with_agent` may not call `remove`"), "{error}");
    let error = llm_do::error::chain(&run("look_upp").await.unwrap_err());
    assert!(error.contains("unknown tool or toolset `look_upp`; did you mean `look_up`?"), "{error}");
}

#[tokio::test]
async fn an_ad_hoc_worker_with_a_registered_or_invalid_name_is_an_error() {
    let runtime = builder(Vec::new()).build().unwrap();
    for (name, fault) in [("look_up", "is already registered"), ("no name", "invalid name `no name`")] {
        let error = runtime.run(with_agent { name: name.into(), tools: Vec::new() }).await.unwrap_err();
        assert!(llm_do::error::chain(&error).contains(fault), "{error}");
    }
}

#[tokio::test]
async fn a_subtask_goes_to_the_worker_that_shares_most_of_its_words() {
    let recorder = Recorder::new();
    let runtime = builder(vec![text("Fine.")]).sink(recorder.clone()).build().unwrap();
    let task = SubtaskTask { description: "Review my code, please".into(), ..SubtaskTask::default() };
    assert_eq!(runtime.run(give { task }).await.unwrap(), "Fine.");
    assert_eq!(started(&recorder)[1].0, "code_reviewer");
    let selected = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::Subtask { worker, points, .. } => Some((worker, points)),
        _ => None,
    });
    let (worker, points) = selected.unwrap();
    assert_eq!(worker, "code_reviewer");
    // `review` and `code` in the hints, `code` in the name, `review` in the description.
    assert_eq!(points["code_reviewer"], 2 * 3 + 2 + 1);
}

#[tokio::test]
async fn equally_good_workers_are_named_in_the_error() {
    let runtime = builder(Vec::new()).build().unwrap();
    let inputs = [("text", "Hello"), ("language", "French")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let task = |hints| SubtaskTask { description: "Translate".into(), hints, inputs: inputs.clone().into() };
    let error = llm_do::error::chain(&runtime.run(give { task: task(vec!["french".into()]) }).await.unwrap_err());
    assert!(error.contains("`rhymer`, `translator` have the same score"), "{error}");
    assert!(runtime.run(give { task: task(vec!["rhymer".into()]) }).await.is_ok());
}

#[tokio::test]
async fn a_subtask_that_shares_no_word_with_any_worker_is_an_error() {
    let runtime = builder(Vec::new()).build().unwrap();
    let task = SubtaskTask { description: "Cook".into(), ..SubtaskTask::default() };
    let error = llm_do::error::chain(&runtime.run(give { task }).await.unwrap_err());
    assert!(error.contains("add a hint that matches a worker: `code_reviewer`"), "{error}");
}

#[tokio::test]
async fn a_tool_can_return_a_subtask_and_the_model_sees_only_its_answer() {
    let answers = vec![call("have_reviewed", &json!({ "path": "a.rs" })), text("No defects."), text("It is fine.")];
    let model = scripted(answers);
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run(assistant { input: "go".into() }).await.unwrap(), "It is fine.");
    assert_eq!(model.requests().last().unwrap().last_text(), "No defects.");
}

/// A user who always answers with this name.
#[derive(Debug)]
struct Named(&'static str, Arc<Mutex<Vec<InputRequest>>>);

#[async_trait]
impl InputHandler for Named {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        self.1.lock().unwrap().push(request.clone());
        Ok(self.0.to_owned())
    }
}

#[tokio::test]
async fn the_users_answer_becomes_part_of_the_conversation() {
    let model = scripted(vec![call("ask_user", &json!({})), text("Hello, Ann!")]);
    let (recorder, asked) = (Recorder::new(), Arc::default());
    let user = Named("Ann", Arc::clone(&asked));
    let runtime =
        Runtime::builder().force_model(model.clone()).input_handler(user).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(assistant { input: "go".into() }).await.unwrap(), "Hello, Ann!");
    let request = asked.lock().unwrap().pop().unwrap();
    let run: Arc<str> = recorder.events()[0].run.clone();
    let expected = InputRequest::new("What is your name?", "ask_user");
    assert_eq!((request.question, request.caller, request.run), (expected.question, expected.caller, run));
    let last = model.requests().pop().unwrap();
    assert!(matches!(last.messages.last(), Some(Message::User { .. })));
    assert_eq!(last.last_text(), "The user was asked: What is your name?\nThe user answered: Ann");
    let kinds = recorder.kinds();
    assert!(kinds.contains(&EventKind::InputAsked { question: "What is your name?".into() }));
    assert!(kinds.contains(&EventKind::InputAnswered { answer: "Ann".into() }));
}

#[tokio::test]
async fn a_model_that_tries_every_tool_asks_the_user_once_for_each_prompt() {
    let asked = Arc::default();
    let user = Named("Ann", Arc::clone(&asked));
    let runtime = Runtime::builder().force_model(TestModel::new()).input_handler(user).build().unwrap();
    let mut chat = runtime.chat();
    for questions in [1, 2] {
        let answer = chat.send(assistant { input: "go".into() }).await.unwrap();
        assert!(answer.ends_with("\nask_user: Ann"), "{answer}");
        assert_eq!(asked.lock().unwrap().len(), questions);
    }
}

#[tokio::test]
async fn without_an_input_handler_a_question_is_an_error_with_advice() {
    let runtime = builder(Vec::new()).build().unwrap();
    let error = llm_do::error::chain(&runtime.run(ask_user {}).await.unwrap_err());
    assert!(
        error.contains("`ask_user` asks the user, but no user can answer: set `input_handler` of the runtime"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_is_read_only_inside_the_root_and_a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.pdf"), b"%PDF-1.7 and more").unwrap();
    let runtime = builder(Vec::new()).project_root(folder.path()).build().unwrap();
    let read = |path: &str| runtime.run(read_one { path: path.into() });
    assert_eq!(read("a.pdf").await.unwrap(), "application/pdf of 17 bytes");
    let error = llm_do::error::chain(&read("b.pdf").await.unwrap_err());
    assert!(error.contains("b.pdf"), "{error}");
    assert!(read("../a.pdf").await.is_err());
}

#[test]
fn block_on_runs_in_sync_code_and_fails_in_async_code() {
    let runtime = builder(vec![text("No.")]).build().unwrap();
    assert_eq!(runtime.block_on(ask { question: "Spam?".into() }).unwrap(), "No.");
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = tokio.block_on(async { runtime.block_on(ask { question: "Spam?".into() }).unwrap_err() });
    assert!(matches!(error, CallError::Blocking { .. }), "{error}");
    assert!(error.to_string().contains("use `run(..).await`"), "{error}");
}

/// Asks twice.
#[entry]
async fn ask_twice(ctx: &CallContext) -> Result<String> {
    ctx.llm_ask("One?").await?;
    Ok(ctx.llm_ask("Two?").await?)
}

#[tokio::test]
async fn an_unsent_setting_is_reported_once_for_each_run_and_model() {
    let model = FunctionModel::new(|_: Request<'_>| {
        let warning = SettingWarning::new("seed", "not sent: the server has no field for it");
        Ok(Response::new("m", text("Yes."), Usage::of_request(1, 1)).with_warnings([warning]))
    });
    for streaming in [false, true] {
        let recorder = Recorder::new();
        let runtime =
            Runtime::builder().force_model(model.clone()).streaming(streaming).sink(recorder.clone()).build().unwrap();
        for run in 1..=2 {
            runtime.run(ask_twice {}).await.unwrap();
            let kinds = recorder.kinds();
            let warnings: Vec<_> =
                kinds.iter().filter(|kind| matches!(kind, EventKind::SettingWarning { .. })).collect();
            assert_eq!(warnings.len(), run, "{warnings:?}");
            let written = serde_json::to_value(warnings[0]).unwrap();
            let message = "not sent: the server has no field for it";
            let expected =
                json!({"kind": "setting_warning", "model": "function:model", "setting": "seed", "message": message});
            assert_eq!(written, expected);
        }
    }
}

#[tokio::test]
async fn a_model_that_is_named_is_built_with_the_capabilities_of_the_runtime() {
    let table = CapabilityTable::builtin().with("openai:ours", json!({"stop": false})).unwrap();
    let runtime = Runtime::builder().model("probe:ours").capabilities(table).build().unwrap();
    assert_eq!(runtime.run(ask { question: "What?".into() }).await.unwrap(), r#"{"stop":false}"#);
    let runtime = Runtime::builder().model("probe:ours").build().unwrap();
    assert_eq!(runtime.run(ask { question: "What?".into() }).await.unwrap(), "{}");
}
