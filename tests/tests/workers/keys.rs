//! The keys of a worker's attribute and of its file.

use std::collections::BTreeSet;

use llm_do::approval::ApprovalMode;
use llm_do::event::EventKind;
use llm_do::model::{Profile, ResponsePart, ServerSideTool, ToolCall, ToolChoice, WebSearch};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::OutputMode;
use llm_do::{Settings, Value, json};

use super::look;

/// What was found.
#[data]
#[derive(Debug, PartialEq)]
struct Finding {
    score: u8,
    notes: Vec<String>,
}

/// Answer on some models.
#[worker(compatible_models = ["OpenAI:*-mini", "test:*"])]
async fn on_some(input: String) -> String;

mod more {
    /// Listen.
    #[llm_do::tool(effect = read_only)]
    pub(crate) fn hear() -> u32 {
        8
    }
}

const COLD: f64 = 0.1;
const TURNS: u32 = 1;

/// Answer by a model of its own.
#[worker(model = "test:own")]
async fn of_its_own(input: String) -> String;

/// Answer by the run's model.
#[worker]
async fn of_the_run(input: String) -> String;

/// Ask both.
#[worker(model = "test:caller", toolsets = [of_its_own, of_the_run])]
async fn caller(input: String) -> String;

/// Answer coldly.
#[worker(settings = Settings::new().temperature(COLD).stop("END"), hints = ["short answers", "facts"])]
async fn cold(input: String) -> String;

/// Search for an answer.
#[worker(server_side_tools = [web_search(max_uses = 3, allowed_domains = ["docs.rs"]), code_execution])]
async fn search(input: String) -> String;

/// Search for a finding.
#[worker(server_side_tools = [web_search])]
async fn search_finding(input: String) -> Finding;

/// Judge natively.
#[worker(output = native)]
async fn native(input: String) -> Finding;

/// Judge natively, after a look.
#[worker(output = native, toolsets = [look])]
async fn native_with_tools(input: String) -> Finding;

/// Judge through the tool.
#[worker(output = tool)]
async fn through_tool(input: String) -> Finding;

/// Answer through the tool.
#[worker(output = tool)]
async fn text_through_tool(input: String) -> String;

/// Judge in text.
#[worker(output = prompted, instructions = "Judge.", retries = 1)]
async fn prompted(input: String) -> Finding;

/// List numbers in text.
#[worker(output = prompted)]
async fn prompted_numbers(input: String) -> Vec<u32>;

/// Judge as it likes, once.
#[worker(output = auto, max_turns = TURNS)]
async fn once(input: String) -> Finding;

#[worker(file = "reviewer.worker")]
async fn review(text: String, #[arg(default = 3)] limit: u8) -> Finding;

/// A model that returns these answers in order, and then repeats the last one.
fn answering(answers: Vec<ResponsePart>) -> ScriptedModel {
    answers.into_iter().fold(ScriptedModel::new(), |script, part| script.answer([part])).repeat_last()
}

fn text(text: impl Into<String>) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn result(arguments: &Value) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new("1", "final_result", arguments.to_string()))
}

fn finding() -> Value {
    json!({ "score": 7, "notes": ["a"] })
}

fn runtime(model: &ScriptedModel) -> Runtime {
    let settings = Settings::new().temperature(1.0).seed(9).stop("STOP");
    Runtime::builder()
        .force_model(model.clone())
        .settings(settings)
        .approval_mode(ApprovalMode::ApproveAll)
        .build()
        .unwrap()
}

#[tokio::test]
async fn each_setting_of_a_worker_overrides_that_of_the_runtime() {
    let model = answering(vec![text("a")]);
    let runtime = runtime(&model);
    runtime.run(cold { input: "q".into() }).await.unwrap();
    runtime.run(text_of_run()).await.unwrap_err();
    let asked = model.requests();
    assert_eq!(asked[0].settings, Settings::new().temperature(COLD).seed(9).stop("END"));
    assert_eq!(
        asked[1].settings,
        Settings::new().temperature(1.0).seed(9).stop("STOP"),
        "another worker's are its own"
    );
}

fn text_of_run() -> once {
    once { input: "q".into() }
}

#[test]
fn hints_are_read_from_the_registry() {
    let registry = llm_do::Registry::collect().unwrap();
    assert_eq!(registry.get("cold").unwrap().hints(), ["short answers", "facts"]);
    assert_eq!(registry.get("file-reviewer").unwrap().hints(), ["proofreading", "style"]);
    assert_eq!(registry.get("look").unwrap().hints(), [""; 0]);
}

#[tokio::test]
async fn server_side_tools_are_requested_with_their_settings() {
    let model = answering(vec![text("a")]);
    let tools = &[ServerSideTool::CodeExecution, ServerSideTool::WEB_SEARCH];
    runtime(&model.clone().profile(Profile::BASIC.with_server_side_tools(tools)))
        .run(search { input: "q".into() })
        .await
        .unwrap();
    let search = WebSearch::new().max_uses(3).allowed_domains(["docs.rs"]);
    assert_eq!(model.requests()[0].server_side_tools, [search.into(), ServerSideTool::CodeExecution]);
}

#[tokio::test]
async fn a_model_without_a_server_side_tool_is_refused() {
    let model = answering(vec![text("a")]);
    let profile = Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH]);
    let error =
        runtime(&model.clone().named("small").profile(profile)).run(search { input: "q".into() }).await.unwrap_err();
    assert!(matches!(&error, CallError::UnfitModel { worker, .. } if worker == "search"), "{error:?}");
    let error = error.to_string();
    assert!(error.contains("`scripted:small`") && error.contains("`code_execution`"), "{error}");
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn with_server_side_tools_the_tool_choice_is_automatic() {
    let model = answering(vec![result(&finding())]);
    let profile = Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH]);
    runtime(&model.clone().profile(profile)).run(search_finding { input: "q".into() }).await.unwrap();
    assert_eq!(model.requests()[0].tool_choice(), ToolChoice::Auto);
}

#[tokio::test]
async fn native_output_is_refused_for_a_model_without_it_before_the_request() {
    let model = answering(vec![text(finding().to_string())]);
    let error = runtime(&model).run(native { input: "q".into() }).await.unwrap_err().to_string();
    assert!(error.contains("`scripted:model`") && error.contains("does not support structured output;"), "{error}");
    let mut profile = Profile::NATIVE_OUTPUT;
    profile.native_output_with_tools = false;
    let with_tools = runtime(&model.clone().profile(profile));
    let error = with_tools.run(native_with_tools { input: "q".into() }).await.unwrap_err().to_string();
    assert!(error.contains("does not support structured output together with tools"), "{error}");
    assert_eq!(model.requests().len(), 0);
    assert_eq!(with_tools.run(native { input: "q".into() }).await.unwrap().score, 7);
    assert!(model.requests()[0].output.is_some());
}

#[tokio::test]
async fn output_uses_the_tool_if_the_worker_sets_it_even_with_native_output() {
    let model = answering(vec![result(&finding())]);
    let runtime = runtime(&model.clone().profile(Profile::NATIVE_OUTPUT));
    assert_eq!(runtime.run(through_tool { input: "q".into() }).await.unwrap().score, 7);
    let asked = model.requests();
    assert_eq!((asked[0].tool_names(), &asked[0].output), (vec!["final_result"], &None));
}

#[tokio::test]
async fn plain_text_uses_the_output_tool_if_the_worker_sets_it() {
    let model = answering(vec![text("thinking aloud"), result(&json!({ "result": "the answer" }))]);
    assert_eq!(runtime(&model).run(text_through_tool { input: "q".into() }).await.unwrap(), "the answer");
    assert_eq!(model.requests()[0].tool_names(), ["final_result"]);
}

#[tokio::test]
async fn a_prompted_output_is_requested_in_the_instructions_and_parsed_from_the_text() {
    for answer in
        [format!("\n{:#}", finding()), format!("```json\n{}\n```\n", finding()), format!("```\n{}```", finding())]
    {
        let model = answering(vec![text(answer)]);
        let runtime = runtime(&model.clone().profile(Profile::NATIVE_OUTPUT));
        assert_eq!(runtime.run(prompted { input: "q".into() }).await.unwrap().score, 7);
        let asked = model.requests().remove(0);
        assert!(asked.instructions.starts_with("Judge.\n\n"), "{}", asked.instructions);
        assert!(asked.instructions.contains("\"score\""), "{}", asked.instructions);
        assert_eq!((asked.tools.len(), asked.output), (0, None));
    }
}

#[tokio::test]
async fn an_invalid_prompted_output_is_retried() {
    for wrong in ["It is a seven.", "```json\n{\"score\": 7}\n```", "```json {}"] {
        let model = answering(vec![text(wrong), text(finding().to_string())]);
        assert_eq!(runtime(&model).run(prompted { input: "q".into() }).await.unwrap().score, 7);
        let reason = model.requests()[1].last_text();
        assert!(reason.contains("is invalid JSON") || reason.contains("does not follow its schema"), "{reason}");
        let model = answering(vec![text(wrong)]);
        let error = runtime(&model).run(prompted { input: "q".into() }).await.unwrap_err().to_string();
        assert!(error.contains("no valid result in 2 attempts"), "{error}");
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_prompted_output_other_than_an_object_is_unwrapped() {
    let model = answering(vec![text("```json\n{\"result\": [1, 2]}\n```")]);
    assert_eq!(runtime(&model).run(prompted_numbers { input: "q".into() }).await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn auto_uses_what_the_model_supports() {
    assert_eq!(OutputMode::default(), OutputMode::Auto);
    let model = answering(vec![text(finding().to_string())]);
    let native = runtime(&model.clone().profile(Profile::NATIVE_OUTPUT));
    native.run(once { input: "q".into() }).await.unwrap();
    assert!(model.requests()[0].output.is_some());
    let model = answering(vec![result(&finding())]);
    runtime(&model).run(once { input: "q".into() }).await.unwrap();
    assert_eq!(model.requests()[0].tool_names(), ["final_result"]);
}

#[tokio::test]
async fn a_constant_limits_the_turns() {
    let model = answering(vec![text("no result")]);
    let error = runtime(&model).run(once { input: "q".into() }).await.unwrap_err().to_string();
    assert!(error.contains("no result after 1 requests"), "{error}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_worker_file_sets_everything_of_its_worker() {
    let registry = llm_do::Registry::collect().unwrap();
    let worker = registry.get("file-reviewer").unwrap();
    assert_eq!(worker.description(), "Review a text for mistakes.");
    assert_eq!(worker.declared().unwrap().collect::<Vec<_>>(), ["look", "hear"]);

    let model = answering(vec![text(finding().to_string())]);
    let runtime = runtime(&model.clone().profile(Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH])));
    let finding = runtime.run(review { text: "Helo.".into(), limit: 3 }).await.unwrap();
    assert_eq!(finding, Finding { score: 7, notes: vec!["a".into()] });
    let asked = model.requests().remove(0);
    assert!(
        asked.instructions.starts_with("You are a careful editor.\n\nJudge the text.\n\n"),
        "{}",
        asked.instructions
    );
    assert!(asked.instructions.contains("\"score\""), "{}", asked.instructions);
    let settings = Settings::new().temperature(0.5).max_tokens(90).seed(4).top_p(1.0).stop("STOP");
    assert_eq!(asked.settings, settings);
    assert_eq!(asked.tool_names(), ["look", "hear"]);
    let search = WebSearch::new().max_uses(2).blocked_domains(["example.org"]);
    assert_eq!(asked.server_side_tools, [search.into()]);
}

#[tokio::test]
async fn a_worker_file_limits_the_retries() {
    let model = answering(vec![text("seven")]);
    let runtime = runtime(&model.clone().profile(Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH])));
    let error = runtime.run(review { text: "a".into(), limit: 3 }).await.unwrap_err().to_string();
    assert!(error.contains("no valid result in 1 attempts"), "{error}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn each_worker_uses_its_own_model_or_the_runs_and_never_its_callers() {
    let recorder = Recorder::new();
    let runtime = Runtime::builder().model("test:run").sink(recorder.clone()).build().unwrap();
    runtime.run(caller { input: "a".into() }).await.unwrap();
    let asked = recorder.events().into_iter().filter_map(|event| match event.kind {
        EventKind::ModelRequest { model, .. } => Some((event.name.to_string(), model.to_string())),
        _ => None,
    });
    let expected = [("caller", "test:caller"), ("of_its_own", "test:own"), ("of_the_run", "test:run")];
    assert_eq!(asked.collect::<BTreeSet<_>>(), expected.map(|(name, model)| (name.into(), model.into())).into());
}

#[tokio::test]
async fn a_model_of_the_run_that_matches_no_glob_is_refused_ignoring_case() {
    let error = async |model: &str| {
        let runtime = Runtime::builder().model(model).build().unwrap();
        runtime.run(on_some { input: "a".into() }).await.unwrap_err().to_string()
    };
    let refused = "matches none of its `compatible_models`: OpenAI:*-mini, test:*";
    assert!(error("openai:gpt-5").await.contains(refused), "{}", error("openai:gpt-5").await);
    // In another case than the glob; the glob matches, even though the request fails.
    let named = error("openai:gpt-5-MINI").await;
    assert!(!named.contains(refused), "{named}");
}
