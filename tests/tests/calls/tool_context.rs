//! `ToolContext` as a trait object: the plane's own context, and stubs for tests.

use llm_do::async_trait;
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::{BoxError, chain};
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::prompt::Attached;
use llm_do::testing::{Recorder, TestModel};
use llm_do::usage::RunUsage;
use serde_json::{Value, json};

/// Double a number.
#[tool(effect = read_only)]
fn double(number: u64) -> u64 {
    number * 2
}

/// Use every method of the context.
#[tool(effect = read_only)]
async fn ask_everything(ctx: &dyn ToolContext, prompt: Prompt) -> Result<Value> {
    ctx.progress("begins");
    let doubled = ctx.call_tool("double", json!({ "number": 4 })).await?;
    let user = ctx.request_user_input("Who?").await?;
    let model = ctx.llm_ask(prompt.text()).await?;
    Ok(json!({
        "doubled": doubled,
        "user": user,
        "model": model,
        "name": ctx.name(),
        "files": ctx.attachments().iter().filter_map(Attached::name).collect::<Vec<_>>(),
        "depth": ctx.depth(),
        "requests": ctx.usage().model.requests,
        "cancelled": ctx.is_cancelled(),
    }))
}

/// A user whose name is Ann.
#[derive(Debug)]
struct Ann;

#[async_trait]
impl InputHandler for Ann {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        assert_eq!(request.question.prompt, "Who?");
        Ok("Ann".to_owned())
    }
}

#[tokio::test]
async fn a_tool_can_use_every_method_through_the_trait() {
    let recorder = Recorder::new();
    let model = TestModel::new().text("blue");
    let runtime = Runtime::builder().force_model(model).input_handler(Ann).sink(recorder.clone()).build().unwrap();
    let answer = runtime.run(ask_everything { prompt: Prompt::new("Which?").attach_file("a/b.png") }).await.unwrap();
    let expected = json!({
        "doubled": 8, "user": "Ann", "model": "blue", "name": "ask_everything", "files": ["b.png"],
        "depth": 0, "requests": 1, "cancelled": false,
    });
    assert_eq!(answer, expected);
    let progress = EventKind::Progress { text: "begins".to_owned() };
    assert!(recorder.kinds().contains(&progress));
}

struct EmptyStub;

impl ToolContext for EmptyStub {}

#[tokio::test]
async fn a_stub_without_methods_uses_the_defaults() {
    let ctx: &dyn ToolContext = &EmptyStub;
    ctx.progress("ignored");
    assert_eq!((ctx.depth(), ctx.is_cancelled(), ctx.name()), (0, false, "stub"));
    assert_eq!((ctx.usage(), ctx.attachments()), (RunUsage::default(), [].as_slice()));
    let error = ctx.call_tool("double", json!({ "number": 1 })).await.unwrap_err();
    assert_eq!(chain(&error), "unknown tool `double`: the stub does not implement `ToolContext::call_tool`");
    assert!(matches!(ctx.request_user_input("Who?").await, Err(CallError::NoInput { tool }) if tool == "stub"));
    let error = ctx.llm_ask("Which?").await.unwrap_err();
    assert!(chain(&error).contains("implement `ToolContext::llm_ask`"), "{error}");
}

struct Stub;

#[async_trait]
impl ToolContext for Stub {
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        Ok(json!([name, arguments["number"]]))
    }

    async fn request_user_input(&self, prompt: &str) -> Result<String, CallError> {
        Ok(prompt.to_lowercase())
    }

    async fn llm_ask(&self, question: &str) -> Result<String, CallError> {
        Ok(question.to_uppercase())
    }
}

#[tokio::test]
async fn a_tool_can_be_tested_as_a_function_with_a_stub() {
    let answer = ask_everything(&Stub, "Which?".into()).await.unwrap();
    assert_eq!(
        (&answer["doubled"], &answer["user"], &answer["model"]),
        (&json!(["double", 4]), &json!("who?"), &json!("WHICH?"))
    );
}
