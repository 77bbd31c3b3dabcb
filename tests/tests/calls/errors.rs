//! The two texts of an error: the one for operators quotes no values, the one for the model quotes its own arguments.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::error::{Unsure, chain};
use llm_do::event::{EventKind, Outcome};
use llm_do::journal::MemoryJournal;
use llm_do::model::{ErrorKind, Message, ProviderError, Request, Response, ResponsePart, ToolCall, UserPart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::{Value, json};

const SECRET: &str = "hunter2";

/// A name whose error quotes the rejected value.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == SECRET { Err(format!("`{name}` is not a name")) } else { Ok(Self(name)) }
    }
}

/// Take a name, which its type checks.
#[tool(effect = read_only)]
fn take_name(name: Name) -> String {
    name.0
}

/// Take an address, which its schema checks.
#[tool(effect = read_only)]
fn take_address(address: IpAddr) -> String {
    address.to_string()
}

/// Fail with a custom error.
#[tool(effect = read_only)]
fn fail_openly(reason: String) -> Result<()> {
    Err(format!("cannot continue: {reason}").into())
}

/// Read a file that is missing.
#[tool(effect = read_only)]
fn read_missing() -> Result<String, CallError> {
    Ok(std::fs::read_to_string("/missing/file")?)
}

/// Abstain, or fail with an error of a third crate.
#[tool(effect = read_only)]
fn abstain_or_fail(abstains: bool) -> Result<u32, CallError> {
    if abstains { Err(CallError::other(Unsure::new("no idea"))) } else { "x".parse().map_err(CallError::other) }
}

/// Call a tool with invalid arguments.
#[tool(effect = read_only, toolsets = [take_name])]
async fn call_wrongly(ctx: &CallContext<call_wrongly>) -> Result<Value> {
    Ok(ctx.call_tool("take_name", json!({ "name": SECRET })).await?)
}

/// Ask the user.
#[tool(effect = read_only)]
async fn ask_user(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("Who?").await?)
}

/// Use the tools.
#[worker(toolsets = [take_name, take_address, fail_openly, call_wrongly, ask_user], retries = 1)]
async fn use_tools() -> String;

/// Give a name.
#[worker(retries = 1)]
async fn give_name(input: String) -> Name;

/// Calls a worker that gives an invalid name.
#[entry(toolsets = [give_name])]
async fn ask_for_name(ctx: &CallContext<ask_for_name>) -> Result<String> {
    Ok(ctx.call(give_name { input: "Who?".into() }).await?.0)
}

/// Return a value that its type cannot deserialize.
#[tool(effect = read_only)]
fn give_no_name() -> Name {
    Name(SECRET.into())
}

/// Expects a name.
#[entry(toolsets = [give_no_name])]
async fn expect_name(ctx: &CallContext<expect_name>) -> Result<String> {
    Ok(ctx.call(give_no_name {}).await?.0)
}

fn builder() -> RuntimeBuilder {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll)
}

/// Asserts that no text for operators contains the secret, and returns the error with its causes.
fn assert_no_secret(error: &CallError) -> String {
    let text = chain(error);
    assert!(!text.contains(SECRET) && !format!("{error:?}").contains(SECRET), "{error:?}");
    text
}

async fn fails(name: &str, arguments: Value) -> CallError {
    builder().build().unwrap().run_named(name, arguments).await.unwrap_err()
}

/// A model that calls a tool once, and answers with the tool's result.
fn calling(tool: &'static str, arguments: Value) -> FunctionModel {
    FunctionModel::new(move |request| {
        let part = match request.messages.last() {
            Some(Message::Tool { results }) => ResponsePart::Text { text: results[0].content.clone() },
            _ => ResponsePart::ToolCall(ToolCall::new("1", tool, arguments.to_string())),
        };
        Ok(Response::new("test:function", vec![part], Usage::default()))
    })
}

async fn result_for_model(tool: &'static str, arguments: Value) -> String {
    builder().force_model(calling(tool, arguments)).build().unwrap().run(use_tools {}).await.unwrap()
}

#[tokio::test]
async fn the_text_for_operators_locates_invalid_arguments_without_quoting_them() {
    let error = fails("take_name", json!({ "name": SECRET })).await;
    assert_eq!(
        assert_no_secret(&error),
        "invalid arguments for `take_name`: cannot be decoded: `name`: rejected by its type"
    );
    let error = fails("take_address", json!({ "address": SECRET })).await;
    assert!(assert_no_secret(&error).ends_with("at `/address`"));
    let error = fails("take_address", json!(SECRET)).await;
    assert!(assert_no_secret(&error).contains("object"));
}

#[tokio::test]
async fn the_text_for_the_model_quotes_its_arguments() {
    assert_eq!(
        result_for_model("take_name", json!({ "name": SECRET })).await,
        "invalid arguments for `take_name`: cannot be decoded: `name`: `hunter2` is not a name"
    );
}

#[tokio::test]
async fn events_of_errors_quote_no_arguments() {
    let recorder = Recorder::new();
    let model = calling("take_name", json!({ "name": SECRET }));
    builder().force_model(model).sink(recorder.clone()).build().unwrap().run(use_tools {}).await.unwrap();
    let kinds = recorder.kinds();
    let refused = kinds.iter().filter_map(|kind| match kind {
        EventKind::CallRefused { error, .. } => Some(error.as_str()),
        _ => None,
    });
    assert_eq!(
        refused.collect::<Vec<_>>(),
        ["invalid arguments for `take_name`: cannot be decoded: `name`: rejected by its type"]
    );
}

/// A secret, which hides itself when it is written.
#[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
struct Pin(String);

impl serde::Serialize for Pin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str("(hidden)")
    }
}

/// Open a safe.
#[tool(effect = destructive)]
fn open_safe(number: u8, pin: Pin) -> String {
    format!("{number}: {}", pin.0.len())
}

/// Returns the arguments in the event of a call that is refused.
async fn refused(tool: &str, arguments: Value, mode: ApprovalMode) -> Value {
    let recorder = Recorder::new();
    let runtime = Runtime::builder().approval_mode(mode).sink(recorder.clone()).build().unwrap();
    let called = runtime.run(call_named { tool: tool.to_owned(), arguments }).await;
    assert!(called.is_err());
    let refused = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::CallRefused { arguments, .. } => arguments,
        _ => None,
    });
    refused.unwrap().value().into_owned()
}

/// Calls a tool by its name.
#[entry]
async fn call_named(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

#[tokio::test]
async fn a_refused_call_keeps_its_arguments_in_its_event_without_what_types_hide() {
    let all = ApprovalMode::ApproveAll;
    for (tool, given, mode, shown) in [
        // Denied.
        (
            "open_safe",
            json!({ "number": 1, "pin": SECRET }),
            ApprovalMode::RejectAll,
            json!({ "number": 1, "pin": "(hidden)" }),
        ),
        // Invalid.
        ("open_safe", json!({ "number": "x", "pin": SECRET }), all, json!({ "number": "x", "pin": "(hidden)" })),
        ("open_safe", json!({ "number": 1, "pin": [SECRET] }), all, json!({ "number": 1, "pin": "***" })),
        ("open_safe", json!({ "number": 1, "pni": SECRET }), all, json!({ "number": 1, "pni": "***" })),
        ("open_safe", json!([SECRET]), all, json!("***")),
        // Invalid for a type after the schema.
        ("take_name", json!({ "name": SECRET }), all, json!({ "name": "***" })),
        // Of plain types, which hide nothing.
        ("fail_openly", json!({ "reason": 1, "more": "x" }), all, json!({ "reason": 1, "more": "x" })),
        // Unknown.
        ("open_sofa", json!({ "number": 1 }), all, json!({ "number": 1 })),
    ] {
        assert_eq!(refused(tool, given.clone(), mode).await, shown, "{tool} {given}");
    }
}

#[tokio::test]
async fn a_refused_call_of_a_model_keeps_its_arguments_also_if_they_are_not_json() {
    for (arguments, shown) in [(r#"{"reason": 1}"#, json!({ "reason": 1 })), ("{ not", json!("{ not")), ("", json!({}))]
    {
        let recorder = Recorder::new();
        let model = FunctionModel::new(move |request| {
            let part = match request.messages.last() {
                Some(Message::Tool { .. }) => ResponsePart::Text { text: "done".into() },
                _ => ResponsePart::ToolCall(ToolCall::new("1", "fail_openly", arguments)),
            };
            Ok(Response::new("test:function", vec![part], Usage::default()))
        });
        builder().force_model(model).sink(recorder.clone()).build().unwrap().run(use_tools {}).await.unwrap();
        let kept = recorder.kinds().into_iter().find_map(|kind| match kind {
            EventKind::CallRefused { arguments, .. } => arguments,
            _ => None,
        });
        assert_eq!(kept.unwrap(), shown, "{arguments}");
    }
}

#[tokio::test]
async fn both_texts_contain_a_tools_own_error() {
    let text = "`fail_openly` failed: cannot continue: the disk is full";
    assert_eq!(chain(&fails("fail_openly", json!({ "reason": "the disk is full" })).await), text);
    assert_eq!(result_for_model("fail_openly", json!({ "reason": "the disk is full" })).await, text);
}

#[tokio::test]
async fn the_text_for_the_model_does_not_quote_arguments_of_nested_calls() {
    let text =
        "`call_wrongly` failed: invalid arguments for `take_name`: cannot be decoded: `name`: rejected by its type";
    assert_eq!(assert_no_secret(&fails("call_wrongly", json!({})).await), text);
    assert_eq!(result_for_model("call_wrongly", json!({})).await, text);
}

#[tokio::test]
async fn the_text_for_the_model_has_no_advice_on_the_session() {
    let error = CallError::NoInput { tool: "ask_user".into() };
    assert!(error.to_string().contains("input_handler") && !error.model_message().contains("input_handler"));
    let error = CallError::Timeout { tool: "wait".into(), after: std::time::Duration::from_secs(3) };
    assert!(error.to_string().contains("`timeout`"));
    assert_eq!(error.model_message(), "`wait` timed out after 3s");
}

#[tokio::test]
async fn only_the_model_reads_its_invalid_answer_back() {
    let user_texts = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&user_texts);
    let model = FunctionModel::new(move |request: Request<'_>| {
        if let Some(Message::User { parts }) = request.messages.last() {
            let texts = parts.iter().filter_map(|part| match part {
                UserPart::Text { text } => Some(text.clone()),
                _ => None,
            });
            record.lock().unwrap().extend(texts);
        }
        let answer = ResponsePart::Text { text: SECRET.into() };
        Ok(Response::new("test:function", vec![answer], Usage::default()))
    });
    let runtime = builder().force_model(model).build().unwrap();
    let error = runtime.run(ask_for_name {}).await.unwrap_err();
    let text = assert_no_secret(&error);
    assert!(
        text.contains("no valid result in 2 attempts; the last error: the result does not follow its schema"),
        "{text}"
    );
    let user_texts = user_texts.lock().unwrap();
    assert!(user_texts.iter().any(|text| text.contains("`hunter2` is not a name")), "{user_texts:?}");
}

#[tokio::test]
async fn the_error_of_a_worker_that_gives_up_quotes_no_arguments() {
    let model = FunctionModel::new(|_| {
        let arguments = json!({ "name": SECRET }).to_string();
        let call = ToolCall::new("1", "take_name", arguments);
        Ok(Response::new("test:function", vec![ResponsePart::ToolCall(call)], Usage::default()))
    });
    let error = builder().force_model(model).build().unwrap().run(use_tools {}).await.unwrap_err();
    let text = assert_no_secret(&error);
    assert!(
        text.contains("`take_name` failed 2 times in a row; the last error: invalid arguments for `take_name`"),
        "{text}"
    );
}

#[tokio::test]
async fn the_source_of_a_failed_call_is_the_error_that_was_converted() {
    let runtime = builder().build().unwrap();
    let error = runtime.run(read_missing {}).await.unwrap_err();
    let CallError::Failed { tool, source } = &error else { panic!("{error:?}") };
    assert_eq!(tool, "read_missing");
    assert_eq!(source.downcast_ref::<std::io::Error>().unwrap().kind(), std::io::ErrorKind::NotFound);
    let error = runtime.run(abstain_or_fail { abstains: false }).await.unwrap_err();
    assert_eq!(chain(&error), "`abstain_or_fail` failed: invalid digit found in string");
    let error = runtime.run(abstain_or_fail { abstains: true }).await.unwrap_err();
    assert!(error.is_unsure(), "{error:?}");
}

#[test]
fn a_call_error_that_is_converted_stays_what_it_is() {
    let error = CallError::other(CallError::Cycle { tool: "turn".into() });
    assert!(matches!(error, CallError::Cycle { .. }), "{error:?}");
    let hidden: CallError = std::io::Error::other(CallError::Cancelled { tool: "stop".into() }).into();
    assert_eq!(hidden.to_string(), "`stop` was cancelled");
}

#[tokio::test]
async fn a_result_of_the_wrong_type_is_not_quoted() {
    let error = fails("expect_name", json!({})).await;
    let text =
        "`expect_name` failed: the result of `give_no_name` does not match the expected type: rejected by its type";
    assert_eq!(assert_no_secret(&error), text);
}

#[tokio::test]
async fn the_error_of_a_failed_model_contains_the_providers_error_and_no_prompt() {
    let model = FunctionModel::new(|_| Err(ProviderError::new("test", ErrorKind::Unavailable, "it is overloaded")));
    let runtime = builder().force_model(model).build().unwrap();
    let error = runtime.run(give_name { input: SECRET.into() }).await.unwrap_err();
    assert_eq!(assert_no_secret(&error), "the model of `give_name` failed: test: it is overloaded");
}

#[tokio::test]
async fn a_replayed_error_has_both_texts() {
    /// Returns the answer of a worker whose tool fails.
    #[entry(toolsets = [worker_of_names])]
    async fn replayed_entry(ctx: &CallContext<replayed_entry>) -> Result<String> {
        Ok(ctx.call(worker_of_names {}).await?)
    }
    /// Use a tool.
    #[worker(toolsets = [call_wrongly])]
    async fn worker_of_names() -> String;

    let journal = MemoryJournal::new();
    let recorder = Recorder::new();
    let run = |journal: MemoryJournal| {
        let model = calling("call_wrongly", json!({}));
        let runtime = builder().force_model(model).journal(journal).sink(recorder.clone()).build().unwrap();
        async move { runtime.run(replayed_entry {}).await.unwrap() }
    };
    let first = run(journal.clone()).await;
    assert_eq!(run(journal.replayed()).await, first);
    let finished = recorder.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::CallFinished { outcome: Outcome::Error(error), .. } => Some(error),
        _ => None,
    });
    assert!(finished.clone().count() > 0);
    finished.for_each(|error| assert!(!error.contains(SECRET), "{error}"));
}

#[tokio::test]
async fn the_debug_text_of_an_error_contains_its_causes() {
    let runtime = Runtime::builder().build().unwrap();
    let error = runtime.run(fail_openly { reason: "no bees".into() }).await.unwrap_err();
    assert_eq!(format!("{error:?}"), "`fail_openly` failed: cannot continue: no bees");
    let returned: llm_do::error::BoxError = error.into();
    assert_eq!(format!("{returned:?}"), "`fail_openly` failed: cannot continue: no bees");
}
