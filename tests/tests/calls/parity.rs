//! Calls by a worker's model and by an entry's code have the same approvals, events, depth and usage.

use futures_util::future::join_all;
use llm_do::__private::FromReturn;
use llm_do::approval::{ApprovalMode, Decision, Policy, Rule, WorkerRule};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, UserPart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{CallLog, FunctionModel, Recorder};
use llm_do::usage::{RunUsage, Usage, UsageTree};
use llm_do::{Limits, Tool};
use serde_json::{Value, json};

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Save a text.
#[tool(effect = idempotent, inline)]
fn save(text: String) -> usize {
    text.len()
}

/// Fail.
#[tool(effect = read_only, inline)]
fn fail_at(with: String) -> Result<()> {
    Err(with.into())
}

/// Panic.
#[tool(effect = read_only)]
async fn panic_at(place: u32) -> u32 {
    std::panic::resume_unwind(Box::new(format!("panic at {place}")))
}

/// Wait.
#[tool(effect = read_only)]
async fn pause(turns: u32) -> u32 {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    turns
}

/// Read a note.
#[tool(effect = read_only, inline)]
fn read(title: String) -> String {
    format!("all about {title}")
}

/// Burn a note.
#[tool(effect = destructive, inline)]
fn burn(title: String) -> String {
    title
}

toolset! {
    /// The user's notes.
    notes(approval = ask) = [read, burn];
}

/// Do a task with tools.
#[worker(toolsets = [add, save, hand_over])]
async fn helper(task: String) -> String {
    format!("helper {task}")
}

/// Delegate a task to a helper.
#[tool(effect = read_only)]
async fn hand_over(ctx: &CallContext, task: String) -> Result<String> {
    ctx.progress("hands it over");
    Ok(ctx.call(helper { task }).await?)
}

/// One call.
#[data]
#[derive(Clone)]
struct Call {
    tool: String,
    arguments: Value,
}

/// Make the calls that the model decides on.
#[worker(toolsets = [add, save, fail_at, panic_at, pause, prefixed("notes_", notes), helper, hand_over], retries = 9)]
async fn by_model(calls: Vec<Call>, at_once: bool) -> String {
    json!({ "calls": calls, "at_once": at_once }).to_string()
}

/// Makes the given calls, and continues after errors like a model.
#[entry(toolsets = [add, save, fail_at, panic_at, pause, prefixed("notes_", notes), helper, hand_over])]
async fn by_code(ctx: &CallContext<by_code>, calls: Vec<Call>, at_once: bool, told_of_denials: bool) -> Result<()> {
    let made = calls.into_iter().map(|call| async move { ctx.call_tool(&call.tool, call.arguments).await });
    let goes_on = |error: &CallError| error.is_recoverable() || (told_of_denials && error.is_denied());
    if at_once {
        let ended = join_all(made).await;
        return ended.into_iter().try_for_each(|result| match result {
            Err(error) if !goes_on(&error) => Err(error.into()),
            _ => Ok(()),
        });
    }
    for call in made {
        match call.await {
            Err(error) if !goes_on(&error) => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Returns a model that makes the calls in its prompt, one per answer or all in one; a helper makes one call for each task.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let prompt = match &request.messages[0] {
            Message::User { parts } => match &parts[0] {
                UserPart::Text { text } => text.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        let made = request.messages.iter().map(results).sum::<usize>();
        let (calls, at_once) = if let Some(task) = prompt.strip_prefix("helper ") {
            (task_calls(task), false)
        } else {
            let planned: Value = serde_json::from_str(&prompt).unwrap();
            (serde_json::from_value(planned["calls"].clone()).unwrap(), planned["at_once"] == true)
        };
        let left = calls.iter().enumerate().skip(made).take(if at_once { usize::MAX } else { 1 });
        let mut parts: Vec<_> = left.map(|(n, call)| part(n, call)).collect();
        if parts.is_empty() {
            parts.push(ResponsePart::Text { text: "done".to_owned() });
        }
        Ok(Response::new("m", parts, Usage::of_request(7, 3)))
    })
}

fn part(n: usize, call: &Call) -> ResponsePart {
    let arguments = call.arguments.to_string();
    ResponsePart::ToolCall(ToolCall::new(n.to_string(), call.tool.clone(), arguments))
}

fn results(message: &Message) -> usize {
    match message {
        Message::Tool { results } => results.len(),
        _ => 0,
    }
}

/// The tasks of a helper: `sum` adds and saves, `turn` starts again, `deep N` nests N more helpers.
fn task_calls(task: &str) -> Vec<Call> {
    match task.split_once(' ') {
        None if task == "sum" => calls([("add", json!({ "a": 1, "b": 2 })), ("save", json!({ "text": "3" }))]),
        None if task == "turn" => calls([("hand_over", json!({ "task": "turn" }))]),
        Some(("deep", n)) if n != "0" => {
            let task = format!("deep {}", n.parse::<u32>().unwrap() - 1);
            calls([("hand_over", json!({ "task": task }))])
        }
        _ => Vec::new(),
    }
}

fn calls<const N: usize>(calls: [(&str, Value); N]) -> Vec<Call> {
    calls.map(|(tool, arguments)| Call { tool: tool.to_owned(), arguments }).into()
}

/// The observations of one run.
struct Seen {
    log: CallLog,
    error: Option<String>,
    used: RunUsage,
    tree: UsageTree,
}

async fn seen<T: Tool<Output: FromReturn>>(call: T, builder: RuntimeBuilder) -> Seen {
    let recorder = Recorder::new();
    let runtime = builder.force_model(model()).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(call);
    let handle = start.handle();
    let error = start.await.err().map(|error| llm_do::error::chain(&error));
    Seen { log: recorder.call_log(), error, used: handle.usage(), tree: handle.usage_tree() }
}

/// Configures both runs.
type Configure<'a> = &'a dyn Fn(RuntimeBuilder) -> RuntimeBuilder;

/// Makes the calls by the model and by code; `builder` returns a builder for a root of the given depth.
async fn both(calls: Vec<Call>, at_once: bool, told: bool, builder: &dyn Fn(u32) -> RuntimeBuilder) -> [Seen; 2] {
    let built = |depth| builder(depth).end_on_denial(!told);
    let model = seen(by_model { calls: calls.clone(), at_once }, built(1)).await;
    let code = seen(by_code { calls, at_once, told_of_denials: told }, built(0)).await;
    [model, code]
}

/// Makes the calls by the model and by code, asserts that they are equal, and returns the log.
async fn alike(calls: Vec<Call>, told: bool, configure: Configure<'_>) -> String {
    let [model, code] = both(calls, false, told, &|_| configure(Runtime::builder())).await;
    compare(&model, &code)
}

fn compare(model: &Seen, code: &Seen) -> String {
    assert_eq!(model.log, code.log);
    assert_eq!(model.error.is_some(), code.error.is_some(), "{:?} {:?}", model.error, code.error);
    assert_eq!(model.used.tool_calls, code.used.tool_calls);
    assert_eq!(model.tree.own.tool_calls, code.tree.own.tool_calls);
    assert_eq!(model.tree.children, code.tree.children);
    code.log.to_string()
}

fn as_it_is(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder
}

fn approving(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder.approval_mode(ApprovalMode::ApproveAll)
}

fn rejecting(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder.approval_mode(ApprovalMode::RejectAll)
}

fn sum() -> (&'static str, Value) {
    ("add", json!({ "a": 1, "b": 2 }))
}

fn saving(text: &str) -> (&'static str, Value) {
    ("save", json!({ "text": text }))
}

#[tokio::test]
async fn tools_are_called_the_same_way() {
    let made = calls([sum(), saving("three"), sum()]);
    let log = alike(made, false, &approving).await;
    assert_eq!(log.matches("call_finished").count(), 3, "{log}");
    assert!(log.contains(r#"2 at 0: save approval_decided {"approved":true,"by":"mode","rule":"effect""#), "{log}");
}

#[tokio::test]
async fn approvals_edits_and_remembered_decisions_are_the_same() {
    let made = calls([saving("edit"), saving("keep"), saving("keep"), saving("no"), sum()]);
    let configure = |builder: RuntimeBuilder| {
        builder.approve_with(|request| async move {
            match request.arguments["text"].as_str().unwrap() {
                "edit" => Decision::approve_with(json!({ "text": "edited" })),
                "keep" => Decision::approve_for_session(),
                other => Decision::deny(format!("not {other}")),
            }
        })
    };
    let log = alike(made, true, &configure).await;
    assert!(log.contains(r#""edited":{"text":"edited"}"#) && log.contains(r#""by":"memory""#), "{log}");
    assert!(log.contains("not no") && log.contains("add call_finished"), "{log}");
}

#[tokio::test]
async fn invalid_calls_are_refused_the_same_way() {
    let made = calls([("ad", json!({})), ("add", json!({ "a": 1 })), ("add", json!({ "a": 1, "b": "2" })), sum()]);
    let log = alike(made, false, &as_it_is).await;
    assert_eq!((log.matches("call_refused").count(), log.matches("call_finished").count()), (3, 1), "{log}");
}

#[tokio::test]
async fn workers_and_the_calls_below_them_are_the_same() {
    let log = alike(calls([("helper", json!({ "task": "sum" })), sum()]), false, &approving).await;
    assert!(log.contains("1 at 1: helper call_started") && log.contains("3 at 1: save call_finished"), "{log}");
    assert!(log.contains("at 1: helper usage "), "{log}");
}

#[tokio::test]
async fn tools_of_a_group_are_called_by_their_shown_names() {
    let note = |tool| (tool, json!({ "title": "bees" }));
    let made = calls([note("notes_read"), note("notes_burn"), note("read")]);
    let configure = |builder: RuntimeBuilder| {
        let policy = Policy::new().tool("burn", Rule::Blocked { reason: "notes are kept".to_owned() });
        approving(builder).policy(policy)
    };
    let [mut model, mut code] = both(made, false, true, &|_| configure(Runtime::builder())).await;
    // The only difference: the error for code names what to declare, the error for a model does not.
    let refused = |log: &CallLog| log.lines().last().unwrap().contains("read call_refused");
    assert!(refused(&model.log) && refused(&code.log), "{:?} {:?}", model.log, code.log);
    for seen in [&mut model, &mut code] {
        assert!(seen.log.lines().iter().any(|line| line.contains("burn call_refused") && line.contains("are kept")));
    }
    let both_but_last = |log: &CallLog| log.lines()[..log.lines().len() - 1].to_vec();
    assert_eq!(both_but_last(&model.log), both_but_last(&code.log));
    assert_eq!(model.tree.children, code.tree.children);
}

#[tokio::test]
async fn a_denial_fails_the_run_the_same_way() {
    let log = alike(calls([sum(), saving("x"), sum()]), false, &rejecting).await;
    assert_eq!((log.matches("call_finished").count(), log.matches("call_refused").count()), (1, 1), "{log}");
}

#[tokio::test]
async fn a_run_continues_after_a_returned_denial_the_same_way() {
    let log = alike(calls([sum(), saving("x"), sum()]), true, &rejecting).await;
    assert_eq!((log.matches("call_finished").count(), log.matches("call_refused").count()), (2, 1), "{log}");
}

#[tokio::test]
async fn a_denial_below_a_worker_propagates_the_same_way() {
    for told in [false, true] {
        let log = alike(calls([("helper", json!({ "task": "sum" })), sum()]), told, &rejecting).await;
        assert_eq!(log.contains(r#"helper call_finished {"result":"done"}"#), told, "{log}");
    }
}

#[tokio::test]
async fn approvals_of_workers_are_the_same() {
    let configure = |builder: RuntimeBuilder| {
        let policy = Policy::new().workers(WorkerRule::new().calls(true));
        builder.policy(policy).approve_with(|request| async move {
            if request.arguments["task"] == "sum" { Decision::deny("no sums") } else { Decision::approve() }
        })
    };
    let made = calls([("helper", json!({ "task": "rest" })), ("helper", json!({ "task": "sum" }))]);
    let log = alike(made, false, &configure).await;
    assert!(log.contains("no sums") && log.contains("policy_workers"), "{log}");
}

#[tokio::test]
async fn failures_and_panics_are_the_same() {
    let made = calls([("fail_at", json!({ "with": "no luck" })), ("panic_at", json!({ "place": 3 })), sum()]);
    let log = alike(made, false, &as_it_is).await;
    assert!(log.contains("`fail_at` failed: no luck") && log.contains("`panic_at` panicked: panic at 3"), "{log}");
    assert!(log.contains("3 at 0: add call_finished"), "{log}");
}

#[tokio::test]
async fn a_limit_on_calls_is_reached_the_same_way() {
    let configure = |builder: RuntimeBuilder| builder.limits(Limits::new().tool_calls(2));
    let log = alike(calls([sum(), sum(), sum(), sum()]), false, &configure).await;
    assert_eq!((log.matches("call_finished").count(), log.matches("call_refused").count()), (2, 1), "{log}");
    assert!(log.contains("`tool_calls` is limited to 2"), "{log}");
}

#[tokio::test]
async fn a_limit_of_a_worker_is_reached_the_same_way() {
    let configure = |builder: RuntimeBuilder| approving(builder).worker_limits("helper", Limits::new().tool_calls(1));
    let log = alike(calls([("helper", json!({ "task": "sum" })), sum()]), false, &configure).await;
    assert!(log.contains("3 at 1: save call_refused") && log.contains("`helper` reached a limit"), "{log}");
}

#[tokio::test]
async fn depth_counts_from_the_root_the_same_way() {
    let made = calls([("helper", json!({ "task": "deep 4" }))]);
    // A worker as the root is at depth 1, an entry at 0.
    let [model, code] = both(made, false, false, &|root| Runtime::builder().max_depth(3 + root)).await;
    let refused = |log: &CallLog, depth: u32| {
        let error =
            format!("`hand_over` at depth {depth} may not call the worker `helper`: the maximum depth is {depth}");
        let refused: Vec<_> = log.lines().iter().filter(|line| line.contains("call_refused")).collect();
        assert!(refused.len() == 1 && refused[0].contains(&error) && refused[0].contains("at 4: helper"), "{log}");
        log.to_string().replace(&format!("at depth {depth} "), "").replace(&format!("maximum depth is {depth}"), "")
    };
    assert_eq!(refused(&model.log, 4), refused(&code.log, 3));
    assert_eq!(model.tree.children, code.tree.children);
}

#[tokio::test]
async fn a_cycle_is_detected_the_same_way() {
    let log = alike(calls([("helper", json!({ "task": "turn" })), sum()]), false, &as_it_is).await;
    assert!(log.contains("`helper` calls itself with the same arguments"), "{log}");
    assert!(!log.contains("add call_started"), "{log}");
}

#[tokio::test]
async fn concurrent_read_only_calls_are_the_same() {
    let waits = [3, 1, 2].map(|turns| ("pause", json!({ "turns": turns })));
    let [model, code] = both(calls(waits), true, false, &|_| Runtime::builder()).await;
    let log = compare(&model, &code);
    let first_end = log.lines().position(|line| line.contains("call_finished")).unwrap();
    assert_eq!(log.lines().take(first_end).filter(|line| line.contains("call_started")).count(), 3, "{log}");
}
