//! Tools as values, which a program adds to a runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, SubtaskTool};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Value};
use serde_json::json;

/// Calls a tool by its name.
#[entry]
async fn call_by_name(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

/// Return the length of a text.
#[tool(effect = read_only)]
fn text_length(text: String) -> usize {
    text.len()
}

fn city() -> Value {
    json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] })
}

/// A tool that calls a linked one.
fn weather(effect: Effect) -> FunctionTool {
    let tool = FunctionTool::new("weather", "Return the weather.", city(), effect, |ctx, arguments| async move {
        let city = arguments["city"].as_str().unwrap_or_default().to_owned();
        let length = ctx.call(text_length { text: city.clone() }).await?;
        Ok(json!({ "degrees": length, "city": city }))
    });
    tool.summary("look at {city}")
}

fn rome() -> Value {
    json!({ "city": "Rome" })
}

#[tokio::test]
async fn code_a_model_and_a_worker_file_find_an_added_tool_by_name() {
    let runtime = Runtime::builder().tool(weather(Effect::ReadOnly)).build().unwrap();
    let called = runtime.run(call_by_name { tool: "weather".into(), arguments: rome() }).await.unwrap();
    assert_eq!(called, json!({ "city": "Rome", "degrees": 4 }));

    let folder = tempfile::tempdir().unwrap();
    let file = "---\nname: filed_forecaster\ntoolsets: [weather]\n---\nForecast.\n";
    std::fs::write(folder.path().join("filed_forecaster.worker"), file).unwrap();
    let value = WorkerSpec::new("added_forecaster", "Forecast.").toolsets(["weather"]);
    for worker in ["added_forecaster", "filed_forecaster"] {
        let model = ScriptedModel::new().call("weather", rome()).text("It is warm.");
        let builder = Runtime::builder().tool(weather(Effect::ReadOnly)).worker(value.clone());
        let runtime = builder.worker_dir(folder.path()).force_model(model.clone()).build().unwrap();
        assert_eq!(runtime.run_named(worker, json!({ "input": "?" })).await.unwrap(), "It is warm.");
        assert_eq!(model.requests()[1].last_text(), r#"{"degrees":4,"city":"Rome"}"#);
    }
}

#[tokio::test]
async fn an_added_tool_is_validated_approved_and_reported_like_a_linked_one() {
    let (asked, recorder) = (Arc::new(std::sync::Mutex::new(Vec::new())), Recorder::new());
    let seen = Arc::clone(&asked);
    let builder = Runtime::builder().tool(weather(Effect::Destructive)).sink(recorder.clone());
    let runtime = builder.approve_with(move |request| {
        seen.lock().unwrap().push((request.summary(), request.effect));
        std::future::ready(Decision::approve_with(json!({ "city": "Bonn" })))
    });
    let runtime = runtime.build().unwrap();
    let call = |arguments| call_by_name { tool: "weather".into(), arguments };
    let invalid = runtime.run(call(json!({ "city": 3 }))).await.unwrap_err();
    assert!(llm_do::error::chain(&invalid).contains("at `/city`"), "{}", llm_do::error::chain(&invalid));
    assert!(asked.lock().unwrap().is_empty());
    assert_eq!(runtime.run(call(rome())).await.unwrap()["city"], "Bonn");
    assert_eq!(*asked.lock().unwrap(), [("look at Rome".to_owned(), Effect::Destructive)]);
    assert!(recorder.events().iter().any(|event| &*event.name == "text_length" && event.depth == 0));
}

#[tokio::test]
async fn an_added_tool_is_recorded_once_and_replayed() {
    let (journal, count) = (MemoryJournal::new(), Arc::new(AtomicU32::new(0)));
    for _ in 0..2 {
        let counted = Arc::clone(&count);
        let schema = json!({ "type": "object" });
        let tool = FunctionTool::new("next_number", "Count.", schema, Effect::ReadOnly, move |_, _| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            async move { Ok(number) }
        });
        let runtime = Runtime::builder().tool(tool).journal(journal.clone()).build().unwrap();
        let call = call_by_name { tool: "next_number".into(), arguments: json!({}) };
        assert_eq!(runtime.run(call).await.unwrap(), 0);
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// A sum.
#[data]
struct Sum {
    a: i64,
    #[serde(default)]
    b: i64,
}

#[tokio::test]
async fn typed_arguments_make_the_schema_and_are_decoded() {
    let add = || {
        FunctionTool::typed("added_add", "Add.", Effect::ReadOnly, |_, Sum { a, b }: Sum| async move {
            a.checked_add(b).ok_or_else(|| "too large".into())
        })
    };
    let runtime = Runtime::builder().tool(add()).build().unwrap();
    assert_eq!(runtime.registry().get("added_add").unwrap().parameters()["required"], json!(["a"]));
    assert_eq!(runtime.run_named("added_add", json!({ "a": 2 })).await.unwrap(), 2);
    assert_eq!(runtime.run_named("added_add", json!({ "a": 2, "b": 3 })).await.unwrap(), 5);
    let failed = runtime.run_named("added_add", json!({ "a": i64::MAX, "b": 3 })).await.unwrap_err();
    assert!(llm_do::error::chain(&failed).ends_with("too large"), "{failed}");
}

#[tokio::test]
async fn an_added_tool_calls_only_what_it_declares_if_it_declares_something() {
    let narrow = weather(Effect::Undeclared).toolsets(["call_by_name"]);
    let runtime = Runtime::builder().tool(narrow).build().unwrap();
    let error = llm_do::error::chain(&runtime.run_named("weather", rome()).await.unwrap_err());
    assert!(error.contains("text_length") && error.contains("weather"), "{error}");
    let unknown = Runtime::builder().tool(weather(Effect::ReadOnly).toolsets(["text_lenth"])).build().unwrap_err();
    let unknown = unknown.to_string();
    assert!(unknown.contains("unknown tool or toolset `text_lenth`; did you mean `text_length`?"), "{unknown}");
}

#[tokio::test]
async fn a_timeout_ends_an_added_tool() {
    let forever = FunctionTool::new("forever", "Wait.", json!({ "type": "object" }), Effect::ReadOnly, |_, _| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let runtime = Runtime::builder().tool(forever.timeout(Duration::from_millis(1))).build().unwrap();
    let error = runtime.run_named("forever", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Timeout { .. }), "{error}");
}

#[test]
fn a_name_that_is_taken_is_refused_with_both_places() {
    let empty = |name: &str| {
        FunctionTool::new(name, "", json!({ "type": "object" }), Effect::ReadOnly, |_, _| async { Ok(()) })
    };
    let builder = Runtime::builder().tool(empty("text_length")).tool(empty("twice")).tool(empty("twice"));
    let error = builder.worker(WorkerSpec::new("twice", "Answer.")).build().unwrap_err().to_string();
    let places = |name: &str| {
        let line = error.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {error}"));
        line.matches("calls/added_tools.rs:").count()
    };
    assert_eq!(places("`text_length` is registered 2 times"), 2, "{error}");
    assert_eq!(places("`twice` is registered 3 times"), 3, "{error}");
}

#[test]
fn all_faults_of_added_tools_are_reported_with_their_places() {
    let of = |name: &str, schema: Value| FunctionTool::new(name, "", schema, Effect::ReadOnly, |_, _| async { Ok(()) });
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({ "properties": { "a": deep } });
    }
    let error = Runtime::builder()
        .tool(of("two words", json!({ "type": "object" })).timeout(Duration::ZERO))
        .tool(of("listed", json!({ "type": "array" })))
        .tool(of("remote", json!({ "type": "object", "$ref": "https://example.com/schema" })))
        .tool(of("deep", deep))
        .build()
        .unwrap_err()
        .to_string();
    for part in [
        "`two words` (tests/tests/calls/added_tools.rs:",
        "invalid name `two words`",
        "its timeout is 0",
        "the schema of the arguments must have `type: object`",
        "the tool `remote`",
        "the schema of the arguments is nested deeper than 128 levels",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

fn delegating(tool: SubtaskTool, model: ScriptedModel) -> Runtime {
    let translator = WorkerSpec::new("french_translator", "Translate into French.").hints(["french"]);
    let german = WorkerSpec::new("german_translator", "Translate into German.").hints(["german"]);
    let builder = Runtime::builder().worker(translator).worker(german).tool(tool).force_model(model);
    builder.approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

#[tokio::test]
async fn a_subtask_tool_delegates_to_the_worker_that_its_hints_fit() {
    for (hint, expected) in [("french", "Translate into French."), ("german", "Translate into German.")] {
        let model = ScriptedModel::new().text("done");
        let tool = SubtaskTool::new("translate", [hint]).workers(["french_translator", "german_translator"]);
        let runtime = delegating(tool, model.clone());
        let arguments = json!({ "task": "Translate this.", "inputs": { "text": "Hello" } });
        assert_eq!(runtime.run_named("translate", arguments).await.unwrap(), "done");
        let request = &model.requests()[0];
        assert!(request.instructions.contains(expected), "{}", request.instructions);
        assert!(request.last_text().contains("Hello"), "{}", request.last_text());
    }
}

#[tokio::test]
async fn a_model_calls_a_subtask_tool_and_reads_the_workers_answer() {
    let model = ScriptedModel::new().call("delegate", json!({ "task": "german" })).text("Guten Tag").text("Done.");
    let tool = SubtaskTool::new("delegate", ["translate"]).workers(["french_translator", "german_translator"]);
    let chief = WorkerSpec::new("chief", "Delegate.").toolsets(["delegate"]);
    let german = WorkerSpec::new("german_translator", "Translate into German.").hints(["german"]);
    let french = WorkerSpec::new("french_translator", "Translate into French.").hints(["french"]);
    let builder = Runtime::builder().worker(chief).worker(german).worker(french).tool(tool);
    let builder = builder.approval_mode(ApprovalMode::ApproveAll);
    let runtime = builder.force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run_named("chief", json!({ "input": "go" })).await.unwrap(), "Done.");
    assert_eq!(model.requests()[2].last_text(), "Guten Tag");
}

#[tokio::test]
async fn a_subtask_tool_chooses_only_among_its_workers() {
    let tool = SubtaskTool::new("translate", ["german"]).workers(["french_translator"]);
    let runtime = delegating(tool, ScriptedModel::new());
    let error = runtime.run_named("translate", json!({ "task": "german" })).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`french_translator`"), "{error}");
    assert!(!llm_do::error::chain(&error).contains("german_translator"), "{error}");
}

#[test]
fn a_subtask_tool_is_data() {
    let tool = SubtaskTool::new("translate", ["french"]).description("Translate.").workers(["a"]);
    let json = serde_json::to_value(&tool).unwrap();
    assert_eq!(
        json,
        json!({ "name": "translate", "description": "Translate.", "hints": ["french"], "workers": ["a"] })
    );
    assert_eq!(serde_json::from_value::<SubtaskTool>(json).unwrap(), tool);
    let short: SubtaskTool = serde_json::from_value(json!({ "name": "translate" })).unwrap();
    assert_eq!(short, SubtaskTool::new("translate", [] as [&str; 0]));
    assert!(serde_json::from_value::<SubtaskTool>(json!({ "name": "a", "worker": "b" })).is_err());
}

/// A tool that returns its arguments as text, in the order in which they arrive.
fn repeats(schema: Value) -> FunctionTool {
    FunctionTool::new("repeats", "Repeat.", schema, Effect::ReadOnly, |_, arguments: Value| async move {
        Ok(arguments.to_string())
    })
}

#[tokio::test]
async fn arguments_arrive_in_the_order_in_which_they_were_given() {
    let cities = json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
    let nested = json!({ "type": "object", "additionalProperties": cities });
    let schema = json!({ "type": "object", "properties": { "cities": cities, "nested": nested } });
    let given = json!({
        "z": 1, "cities": ["Zurich", "Bern", "Aarau"], "nested": { "b": ["2", "1"], "a": [] }, "a": { "d": 1, "c": 2 },
    });
    let runtime = Runtime::builder().tool(repeats(schema)).build().unwrap();
    assert_eq!(runtime.run_named("repeats", given.clone()).await.unwrap(), given.to_string(), "a root call");
    let call = json!({ "tool": "repeats", "arguments": given });
    assert_eq!(runtime.run_named("call_by_name", call).await.unwrap(), given.to_string(), "a call of code");
}

#[tokio::test]
async fn a_call_with_a_set_in_another_order_is_the_same_step_of_a_resumed_run() {
    let cities = json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
    let schema = json!({ "type": "object", "properties": { "cities": cities } });
    let journal = MemoryJournal::new();
    for (order, expected) in [(["b", "a"], r#"{"cities":["b","a"]}"#), (["a", "b"], r#"{"cities":["b","a"]}"#)] {
        let runtime = Runtime::builder().tool(repeats(schema.clone())).journal(journal.clone()).build().unwrap();
        let result = runtime.run_named("repeats", json!({ "cities": order })).await.unwrap();
        assert_eq!(result, expected, "the second run has the recorded result of the first");
    }
}

#[tokio::test]
async fn a_schema_is_read_in_the_draft_that_it_names() {
    let schema = |draft: &str| {
        json!({
            "$schema": draft, "type": "object",
            "properties": {
                "n": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
                "pair": { "type": "array", "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false },
                "name": { "$ref": "#/definitions/Name", "maxLength": 1 },
            },
            "dependencies": { "n": ["pair"] }, "definitions": { "Name": { "type": "string" } },
        })
    };
    for draft in ["http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema"] {
        let runtime = Runtime::builder().tool(repeats(schema(draft))).build().unwrap();
        let run = |arguments: Value| runtime.run_named("repeats", arguments);
        for valid in [json!({ "n": 1, "pair": ["a", 1] }), json!({ "pair": [] }), json!({ "name": "long" })] {
            assert!(run(valid.clone()).await.is_ok(), "{draft}: {valid}");
        }
        for invalid in [
            json!({ "n": 0, "pair": [] }),
            json!({ "n": 1 }),
            json!({ "pair": [1] }),
            json!({ "pair": ["a", 1, 2] }),
            json!({ "name": 1 }),
        ] {
            assert!(run(invalid.clone()).await.is_err(), "{draft}: {invalid}");
        }
        let sent = runtime.registry().get("repeats").unwrap().parameters();
        assert_eq!(sent["properties"]["n"], json!({ "type": "number", "exclusiveMinimum": 0 }));
        assert!(sent.get("$schema").is_none() && sent["properties"]["pair"]["prefixItems"].is_array(), "{sent}");
    }
}

/// Return a value of any kind.
#[tool(effect = read_only)]
fn any_value(value: Value, values: Vec<Value>) -> Value {
    json!([value, values])
}

#[test]
fn a_value_of_any_kind_has_an_object_as_its_schema() {
    let runtime = Runtime::builder().only(["any_value"]).build().unwrap();
    let parameters = runtime.registry().get("any_value").unwrap().parameters();
    assert!(parameters["properties"]["value"].is_object(), "{parameters}");
    assert!(parameters["properties"]["values"]["items"].is_object(), "{parameters}");
}
