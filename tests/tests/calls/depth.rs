//! Values nested too deep for the stack are refused from every source, and dropped without recursion.

use llm_do::approval::{ApprovalMode, ApprovalRequest, Approver, Decision};
use llm_do::context::SubtaskRequest;
use llm_do::error::chain;
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::journal::MemoryJournal;
use llm_do::model::{Response, ResponsePart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Value, json};
use serde_json::Map;

const DEEP: usize = 100_000;

/// Arrays nested `depth` levels deep.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

/// Return the value.
#[tool(effect = read_only)]
fn echo(value: Value) -> Value {
    value
}

/// Changes something.
#[tool(effect = destructive)]
fn change(value: Value) -> Value {
    value
}

/// A value in a struct.
#[derive(Serialize)]
struct Wrapped {
    value: Value,
}

/// Returns a deep value.
#[tool(effect = read_only)]
fn plain(depth: usize) -> Value {
    nested(depth)
}

/// Returns a deep value in a `Result`.
#[tool(effect = read_only)]
fn fallible(depth: usize) -> Result<Value> {
    Ok(nested(depth))
}

/// Returns a deep value in a struct.
#[tool(effect = read_only)]
async fn wrapped(depth: usize) -> Wrapped {
    Wrapped { value: nested(depth) }
}

/// Returns a deep value with a note.
#[tool(effect = read_only, inline)]
fn noted(depth: usize) -> ToolReturn {
    ToolReturn::from(nested(depth)).note("deep")
}

/// Calls with a deep value.
#[entry]
async fn typed_deep(ctx: &CallContext, depth: usize) -> Result<Value> {
    Ok(ctx.call(echo { value: nested(depth) }).await?)
}

/// Runs an effect that returns a deep value.
#[entry]
async fn effect(ctx: &CallContext, depth: usize) -> Result<Value> {
    Ok(ctx.effect("nest", nested(5), async move { Ok(nested(depth)) }).await?)
}

/// Runs an effect whose input is a deep value.
#[entry]
async fn effect_input(ctx: &CallContext, depth: usize) -> Result<Value> {
    Ok(ctx.effect("nest", nested(depth), async { Ok(nested(5)) }).await?)
}

/// Asks a worker with a deep value.
#[entry]
async fn agent(ctx: &CallContext, depth: usize) -> Result<Value> {
    let spec = WorkerSpec::new("sum", "Sum up.").input_schema(json!({ "type": "object" }));
    Ok(ctx.llm_agent(spec).arguments(Map::from_iter([("value".to_owned(), nested(depth))])).json().await?)
}

/// Runs a subtask with a deep value.
#[entry]
async fn task(ctx: &CallContext, depth: usize) -> Result<Value> {
    Ok(ctx.subtask(SubtaskRequest::new("sum up").input("value", nested(depth))).await?)
}

/// Returns a subtask with a deep value.
#[tool(effect = read_only)]
fn pass_down(depth: usize) -> ToolReturn {
    ToolReturn::subtask(SubtaskRequest::new("sum up").input("value", nested(depth)))
}

/// Sum up a value.
#[worker(hints = ["sum"])]
async fn summing(value: Value) -> String;

fn builder() -> RuntimeBuilder {
    let answer = |_: llm_do::model::Request<'_>| {
        let part = ResponsePart::Text { text: "done".to_owned() };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    };
    Runtime::builder().force_model(FunctionModel::new(answer)).approval_mode(ApprovalMode::ApproveAll)
}

fn builders() -> [RuntimeBuilder; 2] {
    [builder().sink(Recorder::new()), builder().journal(MemoryJournal::new())]
}

#[track_caller]
fn assert_refused(result: Result<Value, CallError>, item: &str) {
    let error = chain(&result.unwrap_err());
    assert!(error.contains("nested deeper than 128 levels") && error.contains(item), "{error}");
}

#[tokio::test]
async fn a_deep_result_fails_the_call() {
    for tool in ["plain", "fallible", "wrapped", "noted"] {
        for builder in builders() {
            let runtime = builder.build().unwrap();
            let value = runtime.run_named(tool, json!({ "depth": 100 })).await.unwrap();
            assert!(value == nested(100) || value["value"] == nested(100), "{value}");
            assert_refused(runtime.run_named(tool, json!({ "depth": DEEP })).await, tool);
        }
    }
    assert!(ToolReturn::json(&nested(128)).is_ok());
    assert!(ToolReturn::json(&nested(129)).is_err());
}

#[tokio::test]
async fn a_typed_call_with_a_deep_value_is_refused() {
    for builder in builders() {
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.run(typed_deep { depth: 100 }).await.unwrap(), nested(100));
        assert_refused(runtime.run(typed_deep { depth: DEEP }).await, "echo");
        assert_refused(runtime.run(echo { value: nested(DEEP) }).await, "`value`");
    }
}

#[tokio::test]
async fn a_deep_value_fails_an_effect_with_a_journal() {
    let runtime = builder().journal(MemoryJournal::new()).build().unwrap();
    assert_eq!(runtime.run(effect { depth: 100 }).await.unwrap(), nested(100));
    assert_refused(runtime.run(effect { depth: DEEP }).await, "effect");
    assert_refused(runtime.run(effect_input { depth: DEEP }).await, "`nest`");
}

#[tokio::test]
async fn a_worker_does_not_receive_a_deep_value() {
    let runtime = builder().build().unwrap();
    assert_eq!(runtime.run(agent { depth: 100 }).await.unwrap(), "done");
    assert_refused(runtime.run(agent { depth: DEEP }).await, "sum");
    assert_eq!(runtime.run(task { depth: 100 }).await.unwrap(), "done");
    assert_refused(runtime.run(task { depth: DEEP }).await, "`value`");
    assert_refused(runtime.run_named("pass_down", json!({ "depth": DEEP })).await, "`value`");
}

#[tokio::test]
async fn a_guard_cannot_pass_on_a_deep_value() {
    let arguments = FunctionGuard::new("nests").before_call(|call| {
        call.arguments_mut()["value"] = nested(DEEP);
        Ok(())
    });
    let refused = FunctionGuard::new("nests").before_call(|call| {
        call.arguments_mut()["value"] = nested(DEEP);
        Err(Refusal::reject("nested deeper than 128 levels"))
    });
    let result = FunctionGuard::new("nests").after_call(|_, result| {
        *result.as_mut().unwrap().value_mut() = nested(DEEP);
        Ok(())
    });
    let refused_result = FunctionGuard::new("nests").after_call(|_, result| {
        *result.as_mut().unwrap().value_mut() = nested(DEEP);
        Err(Refusal::reject("nested deeper than 128 levels"))
    });
    for guard in [arguments, refused, result, refused_result] {
        let runtime = builder().sink(Recorder::new()).guard(guard).build().unwrap();
        assert_refused(runtime.run(echo { value: json!(1) }).await, "`nests`");
    }
}

/// Replaces the arguments with a deep value, once.
#[derive(Debug)]
struct Nests;

#[llm_do::async_trait]
impl Approver for Nests {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        match &request.problem {
            None => {
                let mut arguments = json!({ "value": null });
                arguments["value"] = nested(DEEP);
                Decision::approve_with(arguments)
            }
            Some(problem) => Decision::deny(problem),
        }
    }
}

/// Changes something.
#[entry]
async fn changes(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call(change { value: json!(1) }).await?)
}

#[tokio::test]
async fn an_approver_that_returns_a_deep_value_is_asked_again() {
    let runtime = Runtime::builder().approver(Nests).build().unwrap();
    assert_refused(runtime.run(changes {}).await, "change");
}
