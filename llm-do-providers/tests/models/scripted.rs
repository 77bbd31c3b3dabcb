//! The model with scripted answers.

use futures_util::TryStreamExt;
use llm_do_providers::{
    ErrorKind, FinishReason, Message, Model, OutputSchema, Profile, ProviderError, Request, Response, ResponsePart,
    ScriptedModel, ServerSideTool, Settings, StreamEvent, ToolCall, ToolChoice, ToolResult, ToolSpec, Usage,
};
use serde_json::json;

async fn ask(model: &ScriptedModel) -> Result<Response, ProviderError> {
    model.request(Request::new(&[Message::user("hi")], &Settings::default())).await
}

#[tokio::test]
async fn clones_share_one_sequence_of_answers() {
    let script = ScriptedModel::new()
        .text("a")
        .call("add", json!({ "a": 1 }))
        .error(ProviderError::new("p", ErrorKind::Overloaded, "busy"))
        .respond(Response::new("m", vec![], Usage::default()).with_finish(FinishReason::Length));
    let clone = script.clone();
    assert_eq!(ask(&script).await.unwrap().text(), "a");
    let answer = ask(&clone).await.unwrap();
    assert_eq!(answer.tool_calls().collect::<Vec<_>>(), [&ToolCall::new("call_1", "add", r#"{"a":1}"#)]);
    assert_eq!(ask(&script).await.unwrap_err().kind(), ErrorKind::Overloaded);
    assert_eq!(ask(&clone).await.unwrap().finish, FinishReason::Length);
    assert_eq!(script.requests().len(), 4);
    clone.assert_finished();
}

#[tokio::test]
async fn a_request_after_the_last_answer_is_an_error() {
    let model = ScriptedModel::new().named("clerk").text("a");
    ask(&model).await.unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(
        error.to_string().contains("the script of `scripted:clerk` has 1 answers, but this is request 2"),
        "{error}"
    );
}

#[tokio::test]
#[should_panic(
    expected = "`scripted:model` has 2 unused answers after 1 request; the next one is [Text { text: \"b\" }]"
)]
async fn unused_answers_fail_the_test() {
    let model = ScriptedModel::new().text("a").text("b").text("c");
    ask(&model).await.unwrap();
    model.assert_finished();
}

#[tokio::test]
async fn the_last_answer_can_be_repeated() {
    let model = ScriptedModel::new().text("a").text("b").repeat_last();
    for text in ["a", "b", "b"] {
        assert_eq!(ask(&model).await.unwrap().text(), text);
    }
    model.assert_finished();
}

#[tokio::test]
#[should_panic(expected = "has 1 unused answers")]
async fn an_answer_before_a_repeated_one_must_be_used() {
    ScriptedModel::new().text("a").text("b").repeat_last().assert_finished();
}

#[tokio::test]
async fn requests_are_recorded_completely() {
    let model = ScriptedModel::new().text("a").repeat_last();
    let call = ToolCall::new("1", "add", "{}");
    let results = vec![ToolResult::new(&call, "1"), ToolResult::new(&call, "2")];
    let messages = [Message::user("hi"), Message::Tool { results }];
    let settings = Settings::new().temperature(0.5);
    let schema = std::sync::Arc::new(json!({ "type": "object" }));
    let tools = [ToolSpec { name: "add".into(), description: "".into(), parameters: schema.clone() }];
    let output = OutputSchema { name: "o".into(), schema };
    let request = Request::new(&messages, &settings)
        .instructions(Some("Be brief."))
        .tools(&tools)
        .tool_choice(ToolChoice::Tool("add"))
        .server_side_tools(&[ServerSideTool::WebFetch])
        .output(Some(&output));
    model.request(request).await.unwrap();
    let asked = model.requests().pop().unwrap();
    assert_eq!((asked.instructions.as_str(), &asked.messages[..]), ("Be brief.", &messages[..]));
    assert_eq!((&asked.tools[..], asked.tool_names()), (&tools[..], vec!["add"]));
    assert_eq!(asked.tool_choice(), ToolChoice::Tool("add"));
    assert_eq!((&asked.server_side_tools[..], asked.output), (&[ServerSideTool::WebFetch][..], Some(output)));
    assert_eq!(asked.settings, settings);
    assert_eq!(model.requests()[0].last_text(), "1\n2");
}

#[tokio::test]
async fn a_stream_emits_the_same_answer_and_is_recorded_as_a_request() {
    let model = ScriptedModel::new().usage(Usage::of_request(7, 3)).text("two words").profile(Profile::NATIVE_OUTPUT);
    let stream = model.stream(Request::new(&[Message::user("hi")], &Settings::default())).await.unwrap();
    let events: Vec<_> = stream.try_collect().await.unwrap();
    let parts = vec![ResponsePart::Text { text: "two words".into() }];
    let whole = Response::new("scripted:model", parts, Usage::of_request(7, 3));
    let expected = [StreamEvent::Text("two ".into()), StreamEvent::Text("words".into()), StreamEvent::Done(whole)];
    assert_eq!(events, expected);
    assert_eq!((model.requests().len(), model.requests()[0].last_text().as_str()), (1, "hi"));
    assert_eq!(Model::profile(&model), Profile::NATIVE_OUTPUT);
    assert_eq!(model.clone().named("a").name(), "scripted:a");
    assert_eq!(model.clone().named("openai:gpt-5-mini").name(), "openai:gpt-5-mini");
    model.assert_finished();
}
