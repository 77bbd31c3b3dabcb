//! Requests to a worker's model, and the handling of its answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use llm_do::approval::ApprovalMode;
use llm_do::event::EventKind;
use llm_do::model::{Message, Profile, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder, ScriptedModel, TestModel};
use llm_do::usage::Usage;
use serde_json::{Value, json};

/// What was found.
#[data]
#[derive(Debug, PartialEq)]
struct Finding {
    /// How bad it is.
    #[schemars(range(min = 0, max = 10))]
    score: u8,
    notes: Vec<String>,
}

/// Read a file.
#[tool(effect = read_only)]
fn read(path: String) -> Result<String> {
    if path.contains("missing") {
        return Err("no such file".into());
    }
    Ok(format!("contents of {path}"))
}

/// Delete a file.
#[tool(effect = destructive)]
fn erase(path: String) -> String {
    format!("deleted {path}")
}

/// Judge a file.
#[worker(instructions = "Read, then judge.", toolsets = [read, erase], retries = 1, max_turns = 4)]
async fn assess(path: String) -> Finding;

/// Answer in text.
#[worker]
async fn answer(input: String) -> String;

/// List numbers.
#[worker]
async fn numbers(input: String) -> Vec<u32>;

/// Call itself forever.
#[worker(toolsets = [recurse])]
async fn recurse(n: u32) -> String;

/// Judges a file.
#[entry(toolsets = [assess])]
async fn entry_of_judge(ctx: &CallContext<entry_of_judge>, path: String) -> Result<Finding> {
    Ok(ctx.call(assess { path }).await?)
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.to_owned() }
}

fn call(name: &str, arguments: &Value) -> ResponsePart {
    raw_call(name, &arguments.to_string())
}

fn raw_call(name: &str, arguments: &str) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new(format!("id-{name}"), name, arguments))
}

/// A model that returns these answers in order, and then repeats the last one.
fn scripted(answers: Vec<Vec<ResponsePart>>) -> ScriptedModel {
    let script = ScriptedModel::new().usage(Usage::of_request(10, 5));
    answers.into_iter().fold(script, ScriptedModel::answer).repeat_last()
}

fn builder(model: impl llm_do::Model + 'static) -> RuntimeBuilder {
    Runtime::builder().force_model(model).approval_mode(ApprovalMode::ApproveAll)
}

fn finding() -> Value {
    json!({ "score": 7, "notes": ["a"] })
}

fn retries(recorder: &Recorder) -> Vec<String> {
    let reason = |kind| if let EventKind::ModelRetry { reason } = kind { Some(reason) } else { None };
    recorder.kinds().into_iter().filter_map(reason).collect()
}

async fn run_judge(model: impl llm_do::Model + 'static) -> (Result<Finding, CallError>, Recorder) {
    let recorder = Recorder::new();
    let runtime = builder(model).sink(recorder.clone()).build().unwrap();
    (runtime.run(assess { path: "a.rs".into() }).await, recorder)
}

#[tokio::test]
async fn the_output_comes_through_a_tool_without_native_structured_output() {
    let (result, _) = run_judge(scripted(vec![vec![call("final_result", &finding())]])).await;
    assert_eq!(result.unwrap(), Finding { score: 7, notes: vec!["a".into()] });
}

#[tokio::test]
async fn the_output_comes_as_text_with_native_structured_output() {
    let model = scripted(vec![vec![text(&finding().to_string())]]).profile(Profile::NATIVE_OUTPUT);
    assert_eq!(run_judge(model).await.0.unwrap().score, 7);
}

#[tokio::test]
async fn an_output_other_than_an_object_is_wrapped_for_the_provider_and_unwrapped_for_the_caller() {
    let model = scripted(vec![vec![call("final_result", &json!({ "result": [1, 2] }))]]);
    let runtime = builder(model).build().unwrap();
    assert_eq!(runtime.run(numbers { input: "two".into() }).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_whole_number_in_a_result_is_an_integer_in_any_notation() {
    let model = scripted(vec![vec![raw_call("final_result", r#"{"result":[1.0,2e0]}"#)]]);
    let runtime = builder(model).build().unwrap();
    assert_eq!(runtime.run(numbers { input: "two".into() }).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn an_invalid_output_is_retried_with_the_error() {
    let wrong = json!({ "score": 7, "notes": "none" });
    let (result, recorder) =
        run_judge(scripted(vec![vec![call("final_result", &wrong)], vec![call("final_result", &finding())]])).await;
    assert_eq!(result.unwrap().score, 7);
    let [reason] = retries(&recorder).try_into().unwrap();
    assert!(reason.contains("notes") || reason.contains("sequence"), "{reason}");
}

#[tokio::test]
async fn an_output_out_of_range_is_retried() {
    let wrong = json!({ "score": 11, "notes": [] });
    let (result, recorder) =
        run_judge(scripted(vec![vec![call("final_result", &wrong)], vec![call("final_result", &finding())]])).await;
    assert_eq!(result.unwrap().score, 7);
    assert_eq!(retries(&recorder).len(), 1);
}

#[tokio::test]
async fn a_worker_fails_with_the_reason_when_its_retries_are_used_up() {
    let (result, _) = run_judge(scripted(vec![vec![text("seven, I think")]])).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("no valid result in 2 attempts") && error.contains("final_result"), "{error}");
}

#[tokio::test]
async fn text_before_a_tool_call_does_not_finish_a_run() {
    let answers = vec![
        vec![text("Let me read it first."), call("read", &json!({ "path": "a.rs" }))],
        vec![call("final_result", &finding())],
    ];
    let (result, recorder) = run_judge(scripted(answers)).await;
    assert_eq!(result.unwrap().score, 7);
    assert_eq!(retries(&recorder), Vec::<String>::new());
}

#[tokio::test]
async fn invalid_arguments_failures_and_unknown_names_are_returned_to_the_model() {
    for wrong in [
        raw_call("read", "{ not json"),
        call("read", &json!({ "file": "a.rs" })),
        call("read", &json!({ "path": "missing" })),
        call("raed", &json!({ "path": "a.rs" })),
    ] {
        let (result, _) = run_judge(scripted(vec![vec![wrong], vec![call("final_result", &finding())]])).await;
        assert_eq!(result.unwrap().score, 7);
    }
}

#[tokio::test]
async fn a_tool_that_keeps_failing_fails_the_run_with_its_error() {
    let (result, _) = run_judge(scripted(vec![vec![call("read", &json!({ "path": "missing" }))]])).await;
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("`read` failed 2 times with the same arguments") && error.contains("no such file"),
        "{error}"
    );
}

#[tokio::test]
async fn failures_with_other_arguments_use_up_no_retry() {
    let fail = |path: &str| vec![call("read", &json!({ "path": path }))];
    let answers =
        vec![fail("missing"), fail("missing too"), fail("also missing"), vec![call("final_result", &finding())]];
    assert_eq!(run_judge(scripted(answers)).await.0.unwrap().score, 7);
}

#[tokio::test]
async fn equal_failures_count_in_any_spelling_until_the_tool_succeeds() {
    let raw = |arguments: &str| vec![raw_call("read", arguments)];
    let (one, other) = (r#"{"path":"missing"}"#, r#"{"path":"missing too"}"#);
    let answers = vec![raw(one), raw(other), raw(r#"{ "path": "missing" }"#)];
    let error = run_judge(scripted(answers)).await.0.unwrap_err().to_string();
    assert!(error.contains("`read` failed 2 times with the same arguments"), "{error}");
    let answers = vec![raw(one), raw(r#"{"path":"a.rs"}"#), raw(one), vec![call("final_result", &finding())]];
    assert_eq!(run_judge(scripted(answers)).await.0.unwrap().score, 7);
}

#[tokio::test]
async fn different_invalid_arguments_and_unknown_names_use_up_the_retries() {
    for wrong in [["{}", r#"{"file":"a"}"#], ["{ not json", r#"{"path":1}"#]] {
        let answers = wrong.map(|arguments| vec![raw_call("read", arguments)]);
        let error = run_judge(scripted(answers.to_vec())).await.0.unwrap_err().to_string();
        assert!(error.contains("`read` failed 2 times in a row"), "{error}");
    }
    let error = run_judge(scripted(vec![vec![call("raed", &json!({ "path": "a" }))]])).await.0.unwrap_err().to_string();
    assert!(error.contains("`raed` failed 2 times in a row"), "{error}");
}

#[tokio::test]
async fn a_worker_that_never_finishes_reaches_its_maximum_of_turns() {
    let (result, _) = run_judge(scripted(vec![vec![call("read", &json!({ "path": "a.rs" }))]])).await;
    assert!(result.unwrap_err().to_string().contains("no result after 4 requests; raise `max_turns`"));
}

#[tokio::test]
async fn every_tool_call_has_its_result_in_the_history() {
    let answers = vec![
        vec![call("read", &json!({ "path": "a" })), call("erase", &json!({ "path": "b" }))],
        vec![call("final_result", &json!({})), call("read", &json!({ "path": "c" }))],
        vec![call("final_result", &finding())],
    ];
    let model = scripted(answers);
    run_judge(model.clone()).await.0.unwrap();
    let last = model.requests().pop().unwrap().messages;
    assert_eq!(last.len(), 5);
    for pair in last.windows(2) {
        if let [Message::Assistant { parts }, next] = pair {
            let Message::Tool { results } = next else { panic!("{next:?}") };
            assert_eq!(results.len(), parts.len());
        }
    }
}

#[tokio::test]
async fn a_denied_call_is_returned_to_the_model_or_ends_the_run() {
    let answers = || vec![vec![call("erase", &json!({ "path": "a" }))], vec![call("final_result", &finding())]];
    let reject = || builder(scripted(answers())).approval_mode(ApprovalMode::RejectAll);
    let ending = reject().end_on_denial(true).build().unwrap();
    assert!(ending.run(assess { path: "a".into() }).await.unwrap_err().is_denied());
    for builder in [reject(), reject().end_on_denial(false)] {
        assert_eq!(builder.build().unwrap().run(assess { path: "a".into() }).await.unwrap().score, 7);
    }
}

#[tokio::test]
async fn a_worker_nested_too_deeply_is_refused_before_any_request() {
    for (said, limit) in [(Some(3), 3), (None, 5)] {
        let recorder = Recorder::new();
        let asked = AtomicU32::new(0);
        let model = FunctionModel::new(move |_: Request<'_>| {
            let n = 1 + asked.fetch_add(1, Ordering::Relaxed);
            Ok(Response::new("m", vec![call("recurse", &json!({ "n": n }))], Usage::of_request(1, 1)))
        });
        let builder = builder(model).sink(recorder.clone());
        let builder = if let Some(said) = said { builder.max_depth(said) } else { builder };
        let error = llm_do::error::chain(&builder.build().unwrap().run(recurse { n: 0 }).await.unwrap_err());
        let refused =
            format!("`recurse` at depth {limit} may not call the worker `recurse`: the maximum depth is {limit}");
        assert!(error.contains(&refused), "{error}");
        let requests = recorder.kinds().iter().filter(|kind| matches!(kind, EventKind::ModelRequest { .. })).count();
        assert_eq!(requests, limit);
    }
}

#[tokio::test]
async fn streamed_and_unstreamed_runs_give_the_same_events() {
    let run = |streaming| async move {
        let recorder = Recorder::new();
        let answers = vec![
            vec![text("I will read it."), call("read", &json!({ "path": "a" }))],
            vec![call("final_result", &finding())],
        ];
        let builder = builder(scripted(answers)).streaming(streaming).sink(recorder.clone());
        builder.build().unwrap().run(entry_of_judge { path: "a".into() }).await.unwrap();
        let kinds = recorder.kinds().into_iter().filter(|kind| !matches!(kind, EventKind::ModelDelta { .. }));
        let fixed = kinds.map(|kind| match kind {
            EventKind::CallFinished { outcome, labels, attachments, note, replayed, .. } => {
                EventKind::CallFinished { outcome, labels, attachments, note, elapsed_ms: 0, replayed }
            }
            other => other,
        });
        let deltas: String = recorder.kinds().into_iter().filter_map(delta).collect();
        (fixed.collect::<Vec<_>>(), deltas, recorder.kinds().len())
    };
    let (unstreamed, streamed) = (run(false).await, run(true).await);
    assert_eq!(unstreamed.0, streamed.0);
    assert_eq!(unstreamed.1, streamed.1);
    assert!(streamed.2 > unstreamed.2, "streaming shows smaller pieces");
}

fn delta(kind: EventKind) -> Option<String> {
    let EventKind::ModelDelta { delta } = kind else { return None };
    Some(match delta {
        llm_do::event::Delta::Text(text)
        | llm_do::event::Delta::Thinking(text)
        | llm_do::event::Delta::Arguments(text) => text,
        _ => String::new(),
    })
}

#[tokio::test]
async fn the_test_model_calls_every_tool_once_and_then_answers_from_the_schema() {
    let (result, recorder) = run_judge(TestModel::new()).await;
    result.unwrap();
    let started = |kind: &EventKind| matches!(kind, EventKind::CallStarted { .. });
    assert_eq!(recorder.kinds().iter().filter(|kind| started(kind)).count(), 3, "the worker and its two tools");
}

#[tokio::test]
async fn a_single_input_is_the_prompt_and_other_arguments_become_json() {
    let echo = || {
        FunctionModel::new(|request: Request<'_>| {
            let Message::User { parts } = &request.messages[0] else { panic!("a prompt") };
            let llm_do::model::UserPart::Text { text: prompt } = &parts[0] else { panic!("text") };
            Ok(Response::new("m", vec![text(prompt)], Usage::default()))
        })
    };
    let runtime = builder(echo()).build().unwrap();
    assert_eq!(runtime.run(answer { input: "Hello".into() }).await.unwrap(), "Hello");
    assert_eq!(runtime.run(answer { input: " ".into() }).await.unwrap(), "(no input)");
    let json = runtime.run(recurse { n: 3 }).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), json!({ "n": 3 }));
}

#[test]
fn a_model_of_an_unknown_provider_is_an_error_when_the_runtime_is_built() {
    let error = Runtime::builder().model("nowhere:x").build().unwrap_err().to_string();
    assert!(error.contains("unknown provider `nowhere` of the model `nowhere:x`"), "{error}");
}

#[tokio::test]
async fn usage_is_added_to_all_callers() {
    let recorder = Recorder::new();
    let answers = vec![vec![call("read", &json!({ "path": "a" }))], vec![call("final_result", &finding())]];
    let runtime = builder(scripted(answers)).sink(recorder.clone()).build().unwrap();
    runtime.run(entry_of_judge { path: "a".into() }).await.unwrap();
    let Some(EventKind::Usage { used }) = recorder.kinds().pop() else { panic!("the run ends with its usage") };
    assert_eq!((used.tool_calls, used.model.requests, used.model.input_tokens), (2, 2, 20));
}

/// Look around, as a root call.
#[entry]
async fn inner_entry() -> Result<u8> {
    Ok(1)
}

/// Ask a nested worker.
#[worker(toolsets = [answer, inner_entry], retries = 1)]
async fn outer(input: String) -> String;

#[tokio::test]
async fn an_entry_that_a_model_calls_needs_approval() {
    let model = scripted(vec![vec![call("inner_entry", &json!({}))], vec![text("done")]]);
    let runtime = builder(model).approval_mode(ApprovalMode::RejectAll).end_on_denial(true).build().unwrap();
    assert!(runtime.run(outer { input: "go".into() }).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn failures_in_one_answer_count_once_and_a_success_resets_the_count() {
    let missing = || call("read", &json!({ "path": "missing" }));
    let answers = vec![
        vec![missing(), missing(), missing(), call("read", &json!({ "path": "a" }))],
        vec![missing()],
        vec![call("final_result", &finding())],
    ];
    assert_eq!(run_judge(scripted(answers)).await.0.unwrap().score, 7);
}

#[tokio::test]
async fn returned_denials_do_not_use_up_retries() {
    let erase = || vec![call("erase", &json!({ "path": "a" }))];
    let model = scripted(vec![erase(), erase(), erase(), vec![call("final_result", &finding())]]);
    let builder = builder(model).approval_mode(ApprovalMode::RejectAll);
    assert_eq!(builder.build().unwrap().run(assess { path: "a".into() }).await.unwrap().score, 7);
}

#[tokio::test]
async fn calls_next_to_the_result_run_before_it_is_accepted() {
    let answers = vec![vec![call("final_result", &finding()), call("erase", &json!({ "path": "a" }))]];
    let (result, recorder) = run_judge(scripted(answers)).await;
    assert_eq!(result.unwrap().score, 7);
    assert!(recorder.events().iter().any(|event| &*event.name == "erase"));
}

#[tokio::test]
async fn a_result_is_rejected_if_a_call_next_to_it_fails() {
    let answers = vec![
        vec![call("final_result", &json!({ "score": 1, "notes": [] })), call("read", &json!({ "path": "missing" }))],
        vec![call("final_result", &finding())],
    ];
    assert_eq!(run_judge(scripted(answers)).await.0.unwrap().score, 7);
}

#[tokio::test]
async fn each_of_several_results_is_answered_even_if_a_call_next_to_them_fails() {
    let given = |id| ResponsePart::ToolCall(ToolCall::new(id, "final_result", finding().to_string()));
    for (path, is_error) in [("missing", true), ("a", false)] {
        let answer = vec![given("1"), given("2"), call("read", &json!({ "path": path }))];
        let model = scripted(vec![answer, vec![call("final_result", &finding())]]);
        let mut chat = builder(model.clone()).build().unwrap().chat();
        chat.send(assess { path: "a".into() }).await.unwrap();
        let asked = model.requests();
        // Reading the history repairs it, so it shows only what was accepted.
        let history = &chat.state().workers["assess"];
        let messages = asked.get(1).map_or(history.messages(), |again| &*again.messages);
        let Message::Tool { results } = &messages[2] else { panic!("{messages:?}") };
        let mut told: Vec<_> = results.iter().map(|result| (&*result.call_id, result.is_error)).collect();
        told.sort_unstable();
        assert_eq!(told, [("1", is_error), ("2", is_error), ("id-read", is_error)]);
    }
}

#[tokio::test]
async fn no_call_is_made_if_no_request_is_left_to_use_its_result() {
    let read = || vec![call("read", &json!({ "path": "a" }))];
    let model = scripted(vec![read(), read(), read(), vec![call("erase", &json!({ "path": "a" }))]]);
    let (result, recorder) = run_judge(model).await;
    result.unwrap_err();
    assert!(recorder.events().iter().all(|event| &*event.name != "erase"));
}

#[tokio::test]
async fn a_refusal_is_not_a_result() {
    let response = Response::new("m", vec![text("I'm sorry, I can't.")], Usage::default());
    let model = ScriptedModel::new().respond(response.with_finish(llm_do::model::FinishReason::ContentFilter));
    let error = builder(model).build().unwrap().run(answer { input: "a".into() }).await.unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn invalid_json_arguments_are_refused_and_reported_like_other_calls() {
    let (_, recorder) =
        run_judge(scripted(vec![vec![raw_call("read", "{")], vec![call("final_result", &finding())]])).await;
    let refused =
        |kind: &EventKind| matches!(kind, EventKind::CallRefused { error, .. } if error.contains("invalid JSON"));
    assert!(recorder.kinds().iter().any(refused));
}

#[tokio::test]
async fn a_provider_failure_of_a_nested_worker_is_not_retried_by_the_outer_one() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let model = FunctionModel::new(move |request: Request<'_>| {
        if request.tools.iter().any(|tool| &*tool.name == "answer") {
            return Ok(Response::new("m", vec![call("answer", &json!({ "input": "x" }))], Usage::default()));
        }
        count.fetch_add(1, Ordering::Relaxed);
        Err(llm_do::model::ProviderError::new("p", llm_do::model::ErrorKind::Auth, "key refused"))
    });
    let error = builder(model).build().unwrap().run(outer { input: "go".into() }).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("key refused"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_model_does_not_see_tools_that_it_may_not_call() {
    let model = ScriptedModel::new().call("delet", json!({})).text("done");
    builder(model.clone()).build().unwrap().run(outer { input: "go".into() }).await.unwrap();
    assert_eq!(model.requests()[1].last_text(), "unknown tool `delet`: available: `answer`, `inner_entry`");
}

/// Arithmetic, which refers to itself.
#[data]
#[derive(Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Expression {
    Number(i32),
    Negated(Box<Expression>),
}

/// Parse arithmetic.
#[worker]
async fn parse(input: String) -> Expression;

#[tokio::test]
async fn an_output_type_may_be_recursive() {
    let value = json!({ "result": { "negated": { "number": 3 } } });
    let runtime = builder(scripted(vec![vec![call("final_result", &value)]])).build().unwrap();
    let expected = Expression::Negated(Box::new(Expression::Number(3)));
    assert_eq!(runtime.run(parse { input: "-3".into() }).await.unwrap(), expected);
}
