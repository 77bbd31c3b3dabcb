//! Items that are sent back: unchanged, or as far as the model accepts them.

use llm_do_providers::{Message, ProviderData, Request, ResponsePart, Settings, Thinking, ToolResult};
use serde_json::{Value, json};

use crate::responses::{answer_of, message, sent, sent_to};

/// The items sent back to `model` for an answer with them, from a saved and loaded history.
async fn returned(model: &str, items: &Value) -> Vec<Value> {
    let answer = answer_of(items).await;
    let mut messages = vec![Message::user("hi"), Message::Assistant { parts: answer.parts.clone() }];
    let results: Vec<_> = answer.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
    messages.push(Message::Tool { results });
    let messages: Vec<Message> = serde_json::from_str(&serde_json::to_string(&messages).unwrap()).unwrap();
    let body = sent_to(model, Request::new(&messages, &Settings::default())).await;
    body["input"].as_array().unwrap()[1..].to_vec()
}

#[tokio::test]
async fn items_of_the_provider_are_sent_back_byte_for_byte() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA+/=="},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "bees", "sources": [{"url": "https://a"}]}},
        {"type": "message", "id": "msg_1", "status": "completed", "phase": "commentary", "role": "assistant",
         "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "something_new", "id": "x_1", "deep": {"a": [1, 2.5]}},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{ \"a\": 1 }", "status": "completed"},
    ]);
    let input = returned("m", &items).await;
    let mut expected = items;
    // The only field that is not sent: the status of a call.
    expected[4].as_object_mut().unwrap().remove("status");
    assert_eq!(Value::from(&input[..5]), expected);
    assert_eq!(input[5], json!({"type": "function_call_output", "call_id": "call_1", "output": "3"}));
}

/// "Reasoning input items can only be provided to a reasoning or computer use model", and what was made with one is refused
/// without it: "was provided without its required 'reasoning' item".
#[tokio::test]
async fn reasoned_answers_are_sent_to_other_models_as_text_and_calls() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA+/=="},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "bees"}},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "output_format": "png", "result": "aGkh"},
        message("I look."),
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{}"},
    ]);
    let expected = [
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]}),
        json!({"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": "call_1", "output": "3"}),
    ];
    for model in ["gpt-4.1", "gpt-4o-mini", "gpt-5-chat-latest"] {
        assert_eq!(returned(model, &items).await, expected, "{model}");
    }
    assert_eq!(returned("o3", &items).await[..5], *items.as_array().unwrap());
}

#[tokio::test]
async fn answers_without_reasoning_are_sent_to_any_model_unchanged() {
    let items = json!([
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "bees"}},
        message("I look."),
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "add", "arguments": "{}"},
    ]);
    for model in ["gpt-4.1", "gpt-5-mini"] {
        assert_eq!(returned(model, &items).await[..3], *items.as_array().unwrap(), "{model}");
    }
}

#[tokio::test]
async fn answers_of_other_providers_are_sent_as_far_as_the_api_supports() {
    let data = ProviderData::new("anthropic", json!({"signature": "s"}));
    let thought = Thinking::new("hm").with_provider_data(data.clone());
    let parts =
        vec![ResponsePart::Thinking(thought), ResponsePart::Opaque(data), ResponsePart::Text { text: "Hello".into() }];
    let input =
        sent(Request::new(&[Message::user("hi"), Message::Assistant { parts }], &Settings::default())).await["input"]
            .clone();
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello", "annotations": []}]});
    assert_eq!(input.as_array().unwrap()[1..], [said]);
}
