//! How a worker's model returns structured output: according to its profile, or to the worker.

use llm_do::event::EventKind;
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::model::{Profile, ToolChoice};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{RecordedRequest, Recorder, ScriptedModel, TestModel};
use llm_do::worker::{OutputMode, WorkerSpec};
use llm_do::{Value, json};

use super::look;

/// What was found.
#[data]
#[derive(Debug, PartialEq)]
struct Finding {
    score: u8,
}

/// Judge.
#[worker(retries = 1)]
async fn rate(input: String) -> Finding;

/// Judge after a look.
#[worker(toolsets = [look])]
async fn judge_after_a_look(input: String) -> Finding;

/// Judge in text after a look.
#[worker(toolsets = [look], output = prompted)]
async fn score_after_a_look(input: String) -> Finding;

/// Judge through the tool.
#[worker(output = tool)]
async fn judge_through_tool(input: String) -> Finding;

/// Answer after a look.
#[worker(toolsets = [look])]
async fn answer_after_a_look(input: String) -> String;

/// Answer.
#[worker]
async fn respond(input: String) -> String;

fn finding() -> Value {
    json!({ "score": 7 })
}

fn runtime(model: &ScriptedModel, streaming: bool) -> Runtime {
    Runtime::builder().force_model(model.clone()).streaming(streaming).build().unwrap()
}

fn is_prompted(asked: &RecordedRequest) -> bool {
    asked.instructions.contains("Return the final result as JSON") && asked.output.is_none()
}

#[tokio::test]
async fn auto_uses_the_output_method_of_the_profile() {
    let given = |model: ScriptedModel, profile: Profile| model.profile(profile).repeat_last();
    let text = || ScriptedModel::new().text(finding().to_string());
    let native = given(text(), Profile::NATIVE_OUTPUT);
    let tool = given(ScriptedModel::new().call("final_result", finding()), Profile::BASIC);
    let prompted = given(text(), Profile::TEXT);
    for streaming in [false, true] {
        for model in [&native, &tool, &prompted] {
            let result = runtime(model, streaming).run(rate { input: "q".into() }).await.unwrap();
            assert_eq!(result, Finding { score: 7 });
        }
    }
    for asked in native.requests() {
        assert!(asked.output.is_some() && asked.tools.is_empty() && !is_prompted(&asked));
    }
    for asked in tool.requests() {
        assert_eq!((asked.tool_names(), asked.tool_choice()), (vec!["final_result"], ToolChoice::Tool("final_result")));
        assert!(asked.output.is_none() && !is_prompted(&asked));
    }
    for asked in prompted.requests() {
        assert!(asked.tools.is_empty() && asked.tool_choice() == ToolChoice::Auto && is_prompted(&asked));
    }
}

#[tokio::test]
async fn a_scripted_output_has_the_form_that_the_request_asks_for() {
    for streaming in [false, true] {
        for profile in [Profile::NATIVE_OUTPUT, Profile::BASIC, Profile::TEXT] {
            let model = ScriptedModel::new().profile(profile).output(Finding { score: 7 }).output(finding());
            let runtime = runtime(&model, streaming);
            for _ in 0..2 {
                assert_eq!(runtime.run(rate { input: "q".into() }).await.unwrap(), Finding { score: 7 });
            }
            model.assert_finished();
        }
        let model = ScriptedModel::new().output("It is \"seven\".");
        let text = runtime(&model, streaming).run(respond { input: "q".into() }).await.unwrap();
        assert_eq!(text, "It is \"seven\".");
    }
}

#[tokio::test]
async fn every_output_method_works_after_tool_calls() {
    let look = || ScriptedModel::new().call("look", json!({}));
    for streaming in [false, true] {
        let native = look().text(finding().to_string()).profile(Profile::NATIVE_OUTPUT);
        let tool = look().call("final_result", finding());
        for model in [&native, &tool] {
            let result = runtime(model, streaming).run(judge_after_a_look { input: "q".into() }).await.unwrap();
            assert_eq!(result.score, 7);
            model.assert_finished();
        }
        assert_eq!(native.requests()[1].tool_names(), ["look"]);
        assert_eq!(tool.requests()[1].tool_names(), ["look", "final_result"]);

        let prompted = look().text("I looked: {\"score\": 7}");
        let result = runtime(&prompted, streaming).run(score_after_a_look { input: "q".into() }).await.unwrap();
        assert_eq!(result.score, 7);
        assert_eq!(
            (prompted.requests()[1].tool_names(), prompted.requests()[1].last_text()),
            (vec!["look"], "7".into())
        );
        assert!(is_prompted(&prompted.requests()[1]));
    }
}

#[tokio::test]
async fn an_answer_without_a_result_is_retried_with_the_error() {
    for streaming in [false, true] {
        for (wrong, fault) in [
            ("A seven.", "the result is invalid JSON: "),
            ("{\"score\": 7} or {\"score\": 8}", "the answer contains 2 JSON objects; return one"),
            ("{\"score\": \"high\"}", "the result does not follow its schema"),
        ] {
            let recorder = Recorder::new();
            let model = ScriptedModel::new().text(wrong).text(finding().to_string()).profile(Profile::TEXT);
            let builder = Runtime::builder().force_model(model.clone()).streaming(streaming).sink(recorder.clone());
            builder.build().unwrap().run(rate { input: "q".into() }).await.unwrap();
            let told = model.requests()[1].last_text();
            assert!(told.starts_with(fault), "{told}");
            let retried =
                |kind: &EventKind| matches!(kind, EventKind::ModelRetry { reason } if reason.starts_with(fault));
            assert_eq!(recorder.kinds().iter().filter(|kind| retried(kind)).count(), 1);
        }
    }
}

#[tokio::test]
async fn a_model_without_tools_is_refused_for_a_worker_that_needs_them() {
    let model = ScriptedModel::new().named("plain").text("7").profile(Profile::TEXT);
    let runtime = runtime(&model, false);
    let tools = runtime.run(answer_after_a_look { input: "q".into() }).await.unwrap_err();
    assert!(matches!(&tools, CallError::UnfitModel { worker, .. } if worker == "answer_after_a_look"), "{tools:?}");
    let tools = tools.to_string();
    assert!(
        tools.contains("`scripted:plain`") && tools.contains("the model does not support tools, such as `look`"),
        "{tools}"
    );
    let output = runtime.run(judge_through_tool { input: "q".into() }).await.unwrap_err().to_string();
    assert!(output.contains("it does not support tools, which `output = tool` needs"), "{output}");
    assert_eq!(model.requests(), []);
    assert_eq!(runtime.run(respond { input: "q".into() }).await.unwrap(), "7", "plain text needs no tool");
}

/// Runs the workers whose instructions ask for JSON.
async fn prompted(model: TestModel) -> [Result<Finding, CallError>; 2] {
    let text = Runtime::builder().force_model(model.clone().profile(Profile::TEXT)).build().unwrap();
    let tools = Runtime::builder().force_model(model).build().unwrap();
    [text.run(rate { input: "q".into() }).await, tools.run(score_after_a_look { input: "q".into() }).await]
}

#[tokio::test]
async fn a_test_model_returns_json_that_the_instructions_ask_for() {
    for (model, score) in [
        (TestModel::new(), 0),
        (TestModel::new().output(finding()), 7),
        (TestModel::new().text("So: {\"score\": 9}"), 9),
        (TestModel::new().text("For workers that answer in text.").output(finding()), 7),
    ] {
        for result in prompted(model).await {
            assert_eq!(result.unwrap(), Finding { score });
        }
    }
}

#[tokio::test]
async fn a_test_model_does_not_repeat_tool_calls_after_a_rejected_answer() {
    let looks = async |builder: RuntimeBuilder| {
        let recorder = Recorder::new();
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let result = runtime.run(score_after_a_look { input: "q".into() }).await;
        assert!(matches!(result, Err(CallError::GaveUp { .. })), "{result:?}");
        let kinds = recorder.kinds();
        assert!(kinds.iter().any(|kind| matches!(kind, EventKind::ModelRetry { .. })));
        kinds.iter().filter(|kind| matches!(kind, EventKind::CallStarted { .. })).count() - 1
    };
    let unfit = Runtime::builder().force_model(TestModel::new().text("Seven."));
    assert_eq!(looks(unfit).await, 1);
    let guard = FunctionGuard::new("never").after_response(|_, response| {
        let is_call = response.tool_calls().next().is_some();
        if is_call { Ok(()) } else { Err(Refusal::reject("use other words")) }
    });
    assert_eq!(looks(Runtime::builder().force_model(TestModel::new()).guard(guard)).await, 1);
}

#[tokio::test]
async fn a_spec_and_a_worker_file_set_the_output_mode_like_the_attribute() {
    let schema = json!({ "type": "object", "properties": { "score": { "type": "integer" } }, "required": ["score"] });
    let spec = WorkerSpec::new("spec", "Judge.").output_schema(schema).output_mode(OutputMode::Prompted);
    let file = "---\nname: file\noutput: prompted\noutput_schema: { type: object, required: [score] }\n---\nJudge.";
    let model = ScriptedModel::new().text(finding().to_string()).profile(Profile::NATIVE_OUTPUT).repeat_last();
    let builder = Runtime::builder().force_model(model.clone()).worker(spec).worker(file.parse().unwrap());
    let runtime = builder.build().unwrap();
    for (turn, name) in ["spec", "file"].into_iter().enumerate() {
        assert_eq!(runtime.run_named(name, json!({ "input": "q" })).await.unwrap(), finding());
        assert!(is_prompted(&model.requests()[turn]), "{name}");
    }
}

#[tokio::test]
async fn native_output_takes_what_prompted_output_takes() {
    let taken = [
        "```json\n{\"score\": 7}\n```",
        "<think>{\"score\": \"high\"}?</think>{\"score\":7}",
        "Here it is: {\"score\": 7}.",
        "{\"score\": 7}\n{\"score\": 7}",
        "\u{feff}{\"score\":7}",
    ];
    for profile in [Profile::NATIVE_OUTPUT, Profile::TEXT] {
        for text in taken {
            let model = ScriptedModel::new().text(text).profile(profile);
            let result = runtime(&model, false).run(rate { input: "q".into() }).await;
            assert_eq!(result.unwrap(), Finding { score: 7 }, "{text}");
        }
        for (text, fault) in [
            ("{\"score\": 7} or {\"score\": 8}", "2 JSON objects"),
            ("seven", "invalid JSON"),
            ("<think>maybe {\"score\": 3}</think>I do not know", "invalid JSON"),
            ("<think>{\"score\": 3}?</think>{\"score\": \"high\"}", "does not follow its schema"),
            ("{\"score\": 3}? Rather {\"score\": \"high\"}", "2 JSON objects"),
            ("{\"score\": 7, \"parts\": [{\"score\": 3}],,}", "invalid JSON"),
            ("```json\n{\"score\": \"seven\"}\n```", "does not follow its schema"),
            ("", "invalid JSON"),
        ] {
            let recorder = Recorder::new();
            let model = ScriptedModel::new().text(text).text(finding().to_string()).profile(profile);
            let built = Runtime::builder().force_model(model).sink(recorder.clone()).build().unwrap();
            assert_eq!(built.run(rate { input: "q".into() }).await.unwrap(), Finding { score: 7 });
            let told = recorder
                .kinds()
                .into_iter()
                .any(|kind| matches!(kind, EventKind::ModelRetry { reason } if reason.contains(fault)));
            assert!(told, "{text}");
        }
    }
}

#[tokio::test]
async fn an_output_schema_whose_root_is_another_type_finds_its_definitions_and_itself() {
    let tree = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "$ref": "#" } }] });
    let listed = json!({ "type": "array", "items": { "$ref": "#/definitions/A" }, "definitions": { "A": { "type": "integer" } } });
    let draft = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "type": "array",
        "items": [{ "type": "number", "minimum": 0, "exclusiveMinimum": true }, { "$ref": "#/items/0" }],
    });
    for mode in [OutputMode::Native, OutputMode::Tool, OutputMode::Prompted] {
        for (schema, valid, invalid) in [
            (&tree, json!([["a"], "b"]), json!([[1]])),
            (&listed, json!([1, 2]), json!(["a"])),
            (&draft, json!([1, 2]), json!([1, 0])),
        ] {
            let answered = |model: ScriptedModel, value: &Value| {
                let wrapped = json!({ "result": value });
                if mode == OutputMode::Tool {
                    model.call("final_result", wrapped)
                } else {
                    model.text(wrapped.to_string())
                }
            };
            let model = answered(answered(ScriptedModel::new(), &invalid), &valid);
            let model = model.profile(Profile::NATIVE_OUTPUT);
            let spec = WorkerSpec::new("maker", "Make.").output_schema(schema.clone()).output_mode(mode).retries(1);
            let runtime = Runtime::builder().worker(spec).force_model(model.clone()).build().unwrap();
            let result = runtime.run_named("maker", json!({ "input": "go" })).await;
            assert_eq!(result.unwrap(), valid, "{mode:?}: {schema}");
            assert_eq!(model.requests().len(), 2, "{mode:?}: the invalid answer is refused: {schema}");
        }
    }
}
