//! Workers that models create: what may be created, who may call them, and how long they exist.

use std::fs;
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision, Policy, Rule, WorkerRule};
use llm_do::event::{EventKind, ItemKind};
use llm_do::journal::MemoryJournal;
use llm_do::model::{ErrorKind, Message, ProviderError, Request, Response, ResponsePart, ToolCall, ToolSpec, UserPart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::toolsets::{worker_call, worker_create, workers};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Limits, Value, json};

use super::{listen, look, senses};

/// Delete everything.
#[tool(effect = destructive)]
fn delete() {}

toolset! {
    /// What perceives, and more.
    powers = [look, delete];
}

/// Lead workers.
#[worker(instructions = "Lead.", retries = 9, toolsets = [workers, prefixed("i_", look), senses.only([listen])])]
async fn lead(input: String) -> String;

/// Lead workers, with all senses.
#[worker(instructions = "Lead.", toolsets = [workers, senses])]
async fn head(input: String) -> String;

/// Call existing workers.
#[worker(instructions = "Lead.", toolsets = [worker_call])]
async fn follower(input: String) -> String;

/// Lets one worker create a worker, and another call it.
#[entry(toolsets = [lead, follower])]
async fn both(ctx: &CallContext<both>) -> Result<String> {
    ctx.call(lead { input: "make".into() }).await?;
    Ok(ctx.call(follower { input: "call".into() }).await?)
}

/// Creates a worker in code without a declaration.
#[entry]
async fn by_code(ctx: &CallContext, tools: Vec<String>) -> Result<Value> {
    Ok(ctx.call(worker_create { toolsets: tools, ..named("coded") }).await?)
}

fn named(name: &str) -> worker_create {
    worker_create {
        name: name.into(),
        instructions: "Help.".into(),
        description: "Helps.".into(),
        model: None,
        toolsets: Vec::new(),
        output_schema: None,
        input_schema: None,
    }
}

/// A call for a model to make.
type Planned = (&'static str, Value);

fn create(arguments: &Value) -> Planned {
    let mut whole = json!({ "name": "helper", "instructions": "Help.", "description": "Helps." });
    whole.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    ("worker_create", whole)
}

fn call(worker: &str, input: impl Into<Value>) -> Planned {
    ("worker_call", json!({ "worker": worker, "input": input.into() }))
}

fn response(part: ResponsePart) -> Response {
    Response::new("m", vec![part], Usage::of_request(1, 1))
}

fn text(text: impl Into<String>) -> Response {
    response(ResponsePart::Text { text: text.into() })
}

/// Returns the tool results that a model has received so far.
fn tool_results(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool { results } => Some(results),
        _ => None,
    });
    results.flatten().map(|result| result.content.clone()).collect()
}

fn asked(messages: &[Message]) -> String {
    let Some(Message::User { parts }) = messages.first() else { return String::new() };
    let part = |part: &UserPart| match part {
        UserPart::Text { text } => text.clone(),
        UserPart::Attachment(file) => format!(" + {}", file.name().unwrap_or_default()),
        _ => String::new(),
    };
    parts.iter().map(part).collect()
}

/// Makes the planned calls in order, and then returns their results as lines.
fn step(request: &Request<'_>, plan: &[Planned]) -> Response {
    let told = tool_results(request.messages);
    match plan.get(told.len()) {
        Some((name, arguments)) => {
            response(ResponsePart::ToolCall(ToolCall::new(told.len().to_string(), *name, arguments.to_string())))
        }
        None => text(told.join("\n")),
    }
}

/// A model that leads by this plan, and as any other worker answers with its name, its prompt and its tools.
fn model(plan: Vec<Planned>) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        let instructions = request.instructions.unwrap_or_default();
        if instructions == "Lead." {
            return Ok(step(&request, &plan));
        }
        let tools: Vec<_> = request.tools.iter().map(|tool: &ToolSpec| &*tool.name).collect();
        Ok(text(format!("{instructions} {} {tools:?}", asked(request.messages))))
    })
}

fn builder(plan: Vec<Planned>) -> RuntimeBuilder {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model(plan))
}

/// Returns the result of each call of the plan that the model of `lead` receives.
async fn led(plan: Vec<Planned>) -> Vec<String> {
    results_of(&builder(plan).build().unwrap()).await
}

async fn results_of(runtime: &Runtime) -> Vec<String> {
    let answer = runtime.run(lead { input: "go".into() }).await.unwrap();
    answer.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_created_worker_is_called_like_any_other_one_level_deeper() {
    let recorder = Recorder::new();
    let runtime = builder(vec![create(&json!({})), call("helper", "now")]).sink(recorder.clone()).build().unwrap();
    assert_eq!(results_of(&runtime).await, [r#"{"worker":"helper","may_call":[]}"#, "Help. now []"]);
    let started = recorder.events().into_iter().filter_map(|event| match event.kind {
        EventKind::CallStarted { what, .. } => Some((event.name.to_string(), what, event.depth)),
        _ => None,
    });
    let started: Vec<_> = started.collect();
    let named = |name: &str, kind, depth| (name.to_owned(), kind, depth);
    assert_eq!(
        started,
        [
            named("lead", ItemKind::Worker, 1),
            named("worker_create", ItemKind::Tool, 1),
            named("worker_call", ItemKind::Tool, 1),
            named("helper", ItemKind::Worker, 2),
        ]
    );
}

// Conformance 62.
#[test]
fn the_two_tools_have_the_documented_arguments() {
    let runtime = Runtime::builder().build().unwrap();
    let arguments = |name| {
        let parameters = runtime.registry().get(name).unwrap().parameters().clone();
        let names: Vec<_> = parameters["properties"].as_object().unwrap().keys().cloned().collect();
        (names.join(" "), parameters["required"].clone())
    };
    let all = "name instructions description model toolsets output_schema input_schema";
    assert_eq!(arguments("worker_create"), (all.to_owned(), json!(["name", "instructions", "description"])));
    assert_eq!(arguments("worker_call"), ("worker input attachments".to_owned(), json!(["worker", "input"])));
    assert_eq!(arguments("worker_replace"), arguments("worker_create"));
}

#[tokio::test]
async fn a_worker_of_texts_that_are_too_large_is_not_created() {
    let told = led(vec![
        create(&json!({ "instructions": "x".repeat(100_001) })),
        create(&json!({ "description": "x".repeat(4_001) })),
        create(&json!({ "model": "x".repeat(1_000_000) })),
        create(&json!({ "toolsets": ["x".repeat(257)] })),
        create(&json!({})),
    ])
    .await;
    let expected = [
        "the text of the instructions has 100001 bytes; the maximum is 100000",
        "the description has 4001 bytes; the maximum is 4000",
        "a name has 1000000 bytes; the maximum is 256",
        "a name has 257 bytes; the maximum is 256",
        r#"{"worker":"helper""#,
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{expected}: {told:.300}");
    }
    assert_eq!(told.len(), expected.len());
}

// Conformance 63.
#[tokio::test]
async fn a_name_is_trimmed_and_used_only_once() {
    let told = led(vec![
        create(&json!({ "name": " helper " })),
        create(&json!({ "name": "helper", "instructions": "Other." })),
        create(&json!({ "name": "look" })),
        create(&json!({ "name": "senses" })),
        create(&json!({ "name": "two words" })),
        create(&json!({ "name": "blank", "instructions": " \n" })),
        call(" helper", "now"),
        call("blank", "now"),
    ])
    .await;
    let expected = [
        r#"{"worker":"helper""#,
        "`worker_create` failed: the worker was not created: a worker named `helper` already exists; choose another name",
        "`worker_create` failed: the worker was not created: `look` is already registered; choose another name",
        "`worker_create` failed: the worker was not created: `senses` is already registered; choose another name",
        "`worker_create` failed: the worker was not created: invalid name `two words`",
        "`worker_create` failed: the worker was not created: its instructions are blank",
        "Help. now",
        "`worker_call` failed: unknown tool `blank`: the created workers are `helper`",
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}\nin place of {expected}");
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

// Conformance 64.
#[tokio::test]
async fn all_faults_are_reported_together_and_nothing_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let faulty = create(&json!({
        "name": "a b", "instructions": " ", "toolsets": ["delete", "lisen"], "model": "nowhere:x",
        "input_schema": { "type": "string" }, "output_schema": { "type": 3 },
    }));
    // No model is forced, so that names of models are looked up.
    let runtime = Runtime::builder().model("test:any").worker_store(folder.path()).build().unwrap();
    let error = runtime.run_named("worker_create", faulty.1.clone()).await.unwrap_err();
    let text = llm_do::error::chain(&error);
    for fault in ["invalid name `a b`", "blank", "`lisen`", "nowhere", "`input_schema` must have", "`output_schema` is"]
    {
        assert!(text.contains(fault), "`{fault}` is not in: {text}");
    }
    assert!(error.is_recoverable());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    let told = led(vec![faulty, call("a b", "now")]).await;
    assert!(told[0].contains("unavailable toolset `delete`: available: `worker_create`"), "{told:?}");
    assert!(told[0].contains("unavailable toolset `lisen`: did you mean `listen`?"), "{told:?}");
    assert!(told[1].contains("unknown tool `a b`: no worker has been created yet"), "{told:?}");
}

#[tokio::test]
async fn a_created_worker_is_written_to_the_store_and_loaded_by_a_later_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("made");
    let plan = vec![create(&json!({ "toolsets": ["i_look"], "model": "test:m" })), call("helper", "now")];
    let runtime = builder(plan).worker_store(&store).build().unwrap();
    assert_eq!(results_of(&runtime).await[1], r#"Help. now ["look"]"#);
    let written = fs::read_to_string(store.join("helper.worker")).unwrap();
    let spec = WorkerSpec::new("helper", "Help.").description("Helps.").model("test:m").toolsets(["look"]);
    assert_eq!(written, spec.to_worker_file());
    let later = builder(Vec::new()).worker_dir(&store).build().unwrap();
    assert_eq!(later.run_named("helper", json!({ "input": "later" })).await.unwrap(), r#"Help. later ["look"]"#);
}

#[tokio::test]
async fn no_file_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("helper.worker"), "mine").unwrap();
    let plan = vec![create(&json!({})), call("helper", "now")];
    let runtime = builder(plan).worker_store(folder.path()).build().unwrap();
    let told = results_of(&runtime).await;
    assert!(told[0].ends_with("a worker file for `helper` already exists; choose another name"), "{told:?}");
    assert!(told[1].contains("no worker has been created yet"), "{told:?}");
    assert_eq!(fs::read_to_string(folder.path().join("helper.worker")).unwrap(), "mine");
}

// Conformance 65.
#[tokio::test]
async fn only_worker_call_can_call_a_created_worker_and_nothing_else() {
    let plan = vec![
        call("helper", "now"),
        create(&json!({})),
        ("helper", json!({ "input": "now" })),
        call("head", "now"),
        call("helpr", "now"),
        create(&json!({ "name": "other", "toolsets": ["helper"] })),
    ];
    let runtime = builder(plan).build().unwrap();
    let told = results_of(&runtime).await;
    assert!(told[0].ends_with("unknown tool `helper`: no worker has been created yet"), "{told:#?}");
    assert!(told[2].starts_with("unknown tool `helper`"), "{told:#?}");
    assert!(told[3].ends_with("unknown tool `head`: the created workers are `helper`"), "{told:#?}");
    assert!(told[4].ends_with("the created workers are `helper`; did you mean `helper`?"), "{told:#?}");
    assert!(told[5].contains("unavailable toolset `helper`"), "{told:#?}");
    assert!(runtime.registry().get("helper").is_none());
    assert!(runtime.run_named("helper", json!({ "input": "now" })).await.is_err());
}

#[tokio::test]
async fn a_created_worker_exists_until_its_run_ends() {
    let runtime = builder(vec![create(&json!({})), call("helper", "again")]).build().unwrap();
    runtime.run(by_code { tools: Vec::new() }).await.unwrap();
    for _ in 0..2 {
        assert_eq!(results_of(&runtime).await[1], "Help. again []");
    }
    let other = builder(vec![call("coded", "again")]).build().unwrap();
    other.run(by_code { tools: Vec::new() }).await.unwrap();
    assert!(results_of(&other).await[0].contains("no worker has been created yet"));
}

// Conformance 66.
#[tokio::test]
async fn creating_a_worker_needs_approval_with_a_summary() {
    let seen: Arc<Mutex<Vec<ApprovalRequest>>> = Arc::default();
    let asked = Arc::clone(&seen);
    let long = format!("Help. {}", "Think. ".repeat(50));
    let plan = vec![create(&json!({ "instructions": long, "toolsets": ["i_look", "listen"], "model": "test:m" }))];
    let runtime = Runtime::builder().force_model(model(plan)).approve_with(move |request: ApprovalRequest| {
        asked.lock().unwrap().push(request);
        async { Decision::deny("not now") }
    });
    let runtime = runtime.build().unwrap();
    assert!(results_of(&runtime).await[0].contains("not now"));
    let seen = seen.lock().unwrap().clone();
    let summary = r#"create the worker helper: tools ["i_look","listen"], model test:m"#;
    assert_eq!(seen.iter().map(ApprovalRequest::summary).collect::<Vec<_>>(), [summary]);
    assert!(seen[0].details().contains(long.trim_end()), "{}", seen[0].details());
    let error = runtime.run_named("worker_call", json!({ "worker": "helper", "input": "now" })).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("no worker has been created yet"));
}

#[tokio::test]
async fn calling_a_created_worker_follows_the_rule_for_workers() {
    let decided = async |policy: Policy, attachments: &[&str]| {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let asked = Arc::clone(&seen);
        let mut call = call("helper", "now");
        call.1["attachments"] = json!(attachments);
        let runtime = Runtime::builder().force_model(model(vec![create(&json!({})), call])).policy(policy);
        let runtime = runtime.approve_with(move |request: ApprovalRequest| {
            asked.lock().unwrap().push(request.tool.to_string());
            async { Decision::approve() }
        });
        results_of(&runtime.project_root(env!("CARGO_MANIFEST_DIR")).build().unwrap()).await;
        seen.lock().unwrap().clone()
    };
    let with_files = Policy::new().workers(WorkerRule::new().attachments(true));
    assert_eq!(decided(Policy::new(), &[]).await, ["worker_create"]);
    assert_eq!(decided(Policy::new().tool("worker_create", Rule::PreApproved), &[]).await, Vec::<String>::new());
    assert_eq!(decided(with_files.clone(), &[]).await, ["worker_create"]);
    assert_eq!(decided(with_files, &["Cargo.toml"]).await, ["worker_create", "helper"]);
    let all = Policy::new().workers(WorkerRule::new().calls(true));
    assert_eq!(decided(all, &[]).await, ["worker_create", "helper"]);
}

#[tokio::test]
async fn a_created_worker_may_call_at_most_what_its_creator_may() {
    let told = led(vec![
        create(&json!({ "name": "a", "toolsets": ["i_look", "listen", "worker_call"] })),
        create(&json!({ "name": "b", "toolsets": ["workers", "senses"] })),
        create(&json!({ "name": "c", "toolsets": ["look"] })),
        create(&json!({ "name": "d", "toolsets": ["powers"] })),
        call("a", "now"),
    ])
    .await;
    assert_eq!(told[0], r#"{"worker":"a","may_call":["look","listen","worker_call"]}"#);
    // Under any name: the creator may call each of its tools.
    assert_eq!(
        told[1],
        r#"{"worker":"b","may_call":["worker_create","worker_call","worker_list","worker_replace","look","listen"]}"#
    );
    assert!(told[2].contains("unavailable toolset `look`: its name in these toolsets is `i_look`"), "{told:#?}");
    assert!(told[3].contains("unavailable toolset `powers`"), "{told:#?}");
    assert_eq!(told[4], r#"Help. now ["look", "listen", "worker_call"]"#);
}

#[tokio::test]
async fn code_without_a_declaration_may_pass_on_everything_registered() {
    let runtime = builder(Vec::new()).build().unwrap();
    let made = runtime.run(by_code { tools: vec!["powers".into()] }).await.unwrap();
    assert_eq!(made, json!({ "worker": "coded", "may_call": ["look", "delete"] }));
}

#[tokio::test]
async fn schemas_apply_to_the_input_and_the_result() {
    let object = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let schemas = json!({ "input_schema": object, "output_schema": { "type": "integer" } });
    let plan = vec![
        create(&schemas),
        call("helper", json!({ "a": 2 })),
        call("helper", r#"{"a": 3}"#),
        call("helper", json!({ "a": "x" })),
        call("helper", "now"),
        ("worker_call", json!({ "worker": "helper", "input": {}, "attachments": ["Cargo.toml"] })),
        create(&json!({ "name": "plain" })),
        call("plain", json!({ "a": 2 })),
    ];
    let model = FunctionModel::new(move |request: Request<'_>| {
        if request.instructions == Some("Lead.") {
            return Ok(step(&request, &plan));
        }
        let given: Value = serde_json::from_str(&asked(request.messages)).unwrap();
        let result = json!({ "result": given["a"].as_i64().unwrap() * 10 });
        Ok(response(ResponsePart::ToolCall(ToolCall::new("1", "final_result", result.to_string()))))
    });
    let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).build().unwrap();
    let told = results_of(&runtime).await;
    assert_eq!(told[1..3], ["20", "30"], "{told:#?}");
    assert!(told[3].contains("invalid arguments for `helper`") && told[3].contains("/a"), "{told:#?}");
    assert!(told[4].contains("its input must be an object that matches this schema: {"), "{told:#?}");
    assert!(told[5].contains("attachments are not supported, since the worker has an input schema"), "{told:#?}");
    assert!(told[7].contains("invalid arguments for `plain`: its input must be a string"), "{told:#?}");
}

#[tokio::test]
async fn files_are_passed_with_the_input() {
    let with_file = ("worker_call", json!({ "worker": "helper", "input": "what?", "attachments": ["Cargo.toml"] }));
    let runtime = builder(vec![create(&json!({})), with_file]).project_root(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(results_of(&runtime.build().unwrap()).await[1], "Help. what? + Cargo.toml []");
}

#[tokio::test]
async fn limits_of_the_run_and_of_its_name_apply_to_a_created_worker() {
    let plan = vec![create(&json!({})), call("helper", "now")];
    let error = builder(plan.clone()).max_depth(1).build().unwrap().run(lead { input: "go".into() }).await.unwrap_err();
    assert!(
        llm_do::error::chain(&error).contains("may not call the worker `helper`: the maximum depth is 1"),
        "{error}"
    );
    let limits = Limits::new().requests(0);
    let error = builder(plan).worker_limits("helper", limits).build().unwrap().run(lead { input: "go".into() }).await;
    assert!(llm_do::error::chain(&error.unwrap_err()).contains("`helper` reached a limit: `requests` is limited to 0"));
}

#[tokio::test]
async fn a_created_worker_that_calls_itself_with_equal_arguments_is_a_cycle() {
    let model = FunctionModel::new(|request: Request<'_>| {
        let plan = match request.instructions {
            Some("Lead.") => vec![create(&json!({ "toolsets": ["workers"] })), call("helper", "now")],
            _ => vec![call("helper", "now")],
        };
        Ok(step(&request, &plan))
    });
    let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).build().unwrap();
    let error = runtime.run(lead { input: "go".into() }).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`helper` calls itself with the same arguments"), "{error}");
}

/// A model for `both` that fails in the follower's first turn while `is_down`.
fn failing(is_down: bool) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| match (request.instructions, asked(request.messages).as_str()) {
        (Some("Lead."), "make") => Ok(step(&request, &[create(&json!({ "toolsets": ["i_look"] }))])),
        (Some("Lead."), _) if is_down => Err(ProviderError::new("m", ErrorKind::InvalidRequest, "it is down")),
        (Some("Lead."), _) => Ok(step(&request, &[call("helper", "now")])),
        (_, asked) => Ok(text(format!("{asked}: {}", request.tools[0].name))),
    })
}

#[tokio::test]
async fn a_resumed_run_has_the_workers_that_were_created_before() {
    let (folder, journal) = (tempfile::tempdir().unwrap(), MemoryJournal::new());
    let runtime = |journal, model| {
        let builder = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).journal(journal).force_model(model);
        builder.worker_store(folder.path()).build().unwrap()
    };
    let error = runtime(journal.clone(), failing(true)).run(both {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("it is down"), "{error}");
    // The call of `lead`, in which it was made, is not made again, and no second file is written.
    let resumed = runtime(journal.replayed(), failing(false));
    assert_eq!(resumed.run(both {}).await.unwrap(), "now: look");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
