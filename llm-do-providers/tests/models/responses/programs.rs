//! Programs of the model, which the provider runs, and which call tools.
//!
//! By <https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling>.

use futures_util::StreamExt;
use llm_do_providers::{
    Attachment, Message, Model, OpenAiResponsesModel, Request, Response, ResponsePart, ServerSideTool, Settings,
    StreamEvent, ToolResult, ToolSpec,
};
use serde_json::{Value, json};

use crate::question::streamed_answer;
use crate::responses::{answer_of, body, message, model, named, sent_to, stream_of};
use crate::server::{Reply, Server};

const CODE: &[ServerSideTool] = &[ServerSideTool::ProgrammaticToolCalling];

fn tool(name: &str) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]});
    ToolSpec { name: name.into(), description: "Looks it up.".into(), parameters: parameters.into() }
}

fn caller() -> Value {
    json!({"type": "program", "caller_id": "call_prog_1"})
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": "{\"sku\":\"a\"}",
        "caller": caller()})
}

fn program() -> Value {
    json!({"type": "program", "id": "prog_1", "call_id": "call_prog_1", "code": "text(await tools.stock({sku: 'a'}))",
        "fingerprint": "opaque"})
}

fn output() -> Value {
    json!({"type": "program_output", "id": "out_1", "call_id": "call_prog_1", "result": "42", "status": "completed"})
}

fn results(response: &Response) -> Message {
    Message::Tool { results: response.tool_calls().map(|call| ToolResult::new(call, "{\"units\":42}")).collect() }
}

fn result(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "{\"units\":42}", "caller": caller()})
}

/// The items after the first message of the user, as sent to a model that takes programs.
async fn items(messages: &[Message], tools: &[ServerSideTool]) -> Value {
    let (settings, ours) = (Settings::default(), [tool("stock")]);
    let request = Request::new(messages, &settings).tools(&ours).server_side_tools(tools);
    let Value::Array(mut input) = sent_to("gpt-5.6-sol", request).await["input"].take() else { panic!("no input") };
    input.remove(0);
    input.into()
}

/// A paused program with two calls, as parts, and their results.
async fn paused() -> (Value, [Message; 3]) {
    let items = json!([program(), call("c1", "stock"), call("c2", "demand")]);
    let response = answer_of(&items).await;
    let results = results(&response);
    (items, [Message::user("hi"), Message::Assistant { parts: response.parts }, results])
}

#[tokio::test]
async fn tools_are_offered_to_code_too_except_the_output_tool() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let (tools, deferred) = ([tool("stock"), tool("final_result")], [tool("demand")]);
    let request = Request::new(&messages, &settings).tools(&tools).deferred_tools(&deferred);
    let request = request.output_tool(Some("final_result")).server_side_tools(CODE);
    let tools = sent_to("gpt-5.6-sol", request).await["tools"].take();
    let both = json!(["direct", "programmatic"]);
    assert_eq!((&tools[0]["name"], &tools[0]["allowed_callers"]), (&json!("stock"), &both));
    assert_eq!((&tools[1]["name"], tools[1].get("allowed_callers")), (&json!("final_result"), None));
    assert_eq!(tools[2], json!({"type": "programmatic_tool_calling"}));
    assert_eq!(tools[4]["tools"][0]["allowed_callers"], both);
}

#[tokio::test]
async fn without_tools_no_code_is_offered() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = sent_to("gpt-5.6-sol", Request::new(&messages, &settings).server_side_tools(CODE)).await;
    assert_eq!(body.get("tools"), None);
}

#[test]
fn only_models_that_are_known_for_it_take_programs() {
    let models = [("gpt-5.5", false), ("gpt-5.6-terra", true), ("gpt-6-astra", true), ("gpt-4o", false)];
    for (name, takes) in models {
        let model = OpenAiResponsesModel::builder(name).base_url("http://127.0.0.1:1").build().unwrap();
        assert_eq!(model.profile().runs(&CODE[0]), takes, "{name}");
        assert!(model.profile().runs(&ServerSideTool::ImageGeneration), "{name}");
    }
}

#[tokio::test]
async fn a_program_is_sent_back_with_its_calls_and_results_until_it_has_finished_and_later() {
    let (paused, mut messages) = {
        let (paused, messages) = paused().await;
        (paused, messages.to_vec())
    };
    let mut expected = paused.as_array().unwrap().clone();
    expected.extend([result("c1"), result("c2")]);
    assert_eq!(items(&messages, CODE).await, json!(expected));

    let again = json!([call("c3", "stock")]);
    let response = answer_of(&again).await;
    messages.extend([Message::Assistant { parts: response.parts.clone() }, results(&response)]);
    expected.extend([again[0].clone(), result("c3")]);
    assert_eq!(items(&messages, CODE).await, json!(expected));

    let finished = answer_of(&json!([output(), message("42 units.")])).await;
    assert_eq!(finished.text(), "42 units.");
    messages.extend([Message::Assistant { parts: finished.parts }, Message::user("thanks")]);
    expected.extend([output(), message("42 units.")]);
    let sent = items(&messages, CODE).await;
    assert_eq!(json!(sent.as_array().unwrap()[..expected.len()]), json!(expected));
}

#[tokio::test]
async fn programs_are_uses_of_a_server_side_tool() {
    let items = json!([program(), call("c1", "stock")]);
    let parts = answer_of(&items).await.parts;
    let [ResponsePart::ServerSideTool(used), ResponsePart::ToolCall(call)] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!((used.name.as_str(), &used.input["code"]), ("programmatic_tool_calling", &program()["code"]));
    assert_eq!((call.id.as_str(), call.name.as_str()), ("c1", "stock"));
    let server = Server::scripted([stream_of(&json!([output(), message("done")]))]).await;
    let (model, messages, settings) = (model(&server).build().unwrap(), [Message::user("hi")], Settings::default());
    let events: Vec<_> = model.stream(Request::new(&messages, &settings)).await.unwrap().collect().await;
    let is_use = |event: &&Result<StreamEvent, _>| {
        matches!(event, Ok(StreamEvent::ServerSideTool { .. } | StreamEvent::ServerSideToolDone { .. }))
    };
    assert_eq!(events.iter().filter(is_use).count(), 0, "an output is not a use: {events:?}");
}

#[tokio::test]
async fn an_answer_without_a_call_and_a_message_is_continued() {
    let (first, second) = (json!([output()]), json!([message("42 units.")]));
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let replies =
        [Reply::json(200, &body(&first)), Reply::json(200, &body(&second)), stream_of(&first), stream_of(&second)];
    let server = Server::scripted(replies).await;
    let model = named("gpt-5.6-sol", &server).build().unwrap();
    let request = Request::new(&messages, &settings).server_side_tools(CODE);
    let whole = model.request(request).await.unwrap();
    assert_eq!((whole.text().as_str(), whole.parts.len(), whole.usage.requests), ("42 units.", 3, 2));
    assert_eq!(streamed_answer(&model, request).await.unwrap(), whole);
    let sent = server.requests();
    for (before, after) in [(&sent[0].body, &sent[1].body), (&sent[2].body, &sent[3].body)] {
        let mut expected = before.clone();
        expected["input"].as_array_mut().unwrap().push(output());
        assert_eq!(*after, expected);
    }
}

/// What the API does with such a program is not documented.
#[tokio::test]
async fn a_program_that_cannot_finish_is_left_out_and_its_calls_are_the_models() {
    let (_, waiting) = paused().await;
    let mut interrupted = waiting.to_vec();
    interrupted.push(Message::user("stop"));
    // As left by a summary of the first messages.
    let torn: Vec<_> = {
        let later = answer_of(&json!([call("c3", "stock")])).await;
        let results = results(&later);
        vec![Message::user("hi"), Message::Assistant { parts: later.parts }, results]
    };
    for (messages, tools) in [(&interrupted[..], CODE), (&torn, CODE), (&waiting, &[])] {
        let sent = items(messages, tools).await;
        let sent = sent.as_array().unwrap();
        assert!(sent.iter().all(|item| item["type"] != "program" && item.get("caller").is_none()), "{sent:?}");
        let is = |kind: &str| sent.iter().filter(|item| item["type"] == kind).count();
        assert!(is("function_call") > 0 && is("function_call") == is("function_call_output"), "{sent:?}");
    }
}

#[tokio::test]
async fn code_gets_only_the_text_of_a_result() {
    let response = answer_of(&json!([program(), call("c1", "draw")])).await;
    let made = response.tool_calls().next().unwrap().clone();
    let file = Attachment::new("image/png", "hi!").named("a.png");
    let result = ToolResult::new(&made, "see the files").with_attachments([file]);
    let messages =
        [Message::user("hi"), Message::Assistant { parts: response.parts }, Message::Tool { results: vec![result] }];
    let sent = items(&messages, CODE).await;
    let text = sent[2]["output"].as_str().unwrap();
    assert!(text.starts_with("see the files\n") && text.contains("`a.png`"), "{text}");
}
