//! Tool calls, complete and streamed, and differences of the server.

use std::sync::Arc;

use llm_do_providers::{
    FinishReason, Message, Model as _, ProviderError, Request, Response, ResponsePart, StreamEvent, ToolCall,
    ToolChoice, ToolResult, ToolSpec,
};
use serde_json::{Value, json};

use crate::llama_cpp::{greedy, model, streamed, texts};

pub(crate) fn tools() -> [ToolSpec; 2] {
    let number = json!({"type": "integer"});
    let add = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let read = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = |name: &str, description: &str, parameters: Value| ToolSpec {
        name: name.into(),
        description: description.into(),
        parameters: Arc::new(parameters),
    };
    [tool("add", "Add two numbers", add), tool("read_file", "Read a text file", read)]
}

/// A question, the resulting call, its result, and the answer.
fn episode(question: &str, name: &str, arguments: &Value, result: &str, answer: &str) -> [Message; 4] {
    let call = ToolCall::new(format!("call_{name}"), name, arguments.to_string());
    let result = ToolResult::new(&call, result);
    [
        Message::user(question),
        Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] },
        Message::Tool { results: vec![result] },
        Message::Assistant { parts: vec![ResponsePart::Text { text: answer.to_owned() }] },
    ]
}

/// Two examples of tool use, then `question`.
pub(crate) fn asked(question: &str) -> Vec<Message> {
    let add = episode("What is 5 plus 6?", "add", &json!({"a": 5, "b": 6}), "11", "The answer is 11.");
    let text = "Once upon a time.";
    let read = episode("Read story.txt", "read_file", &json!({"path": "story.txt"}), text, &format!("It says: {text}"));
    add.into_iter().chain(read).chain([Message::user(question)]).collect()
}

async fn answer(messages: &[Message], choice: ToolChoice<'_>) -> Result<Response, ProviderError> {
    let (tools, settings) = (tools(), greedy(64));
    model().request(Request::new(messages, &settings).tools(&tools).tool_choice(choice)).await
}

/// Returns the only call of an answer and its arguments.
fn called(response: &Response) -> (&str, Value) {
    let mut calls = response.tool_calls();
    let (Some(call), None) = (calls.next(), calls.next()) else { panic!("not one call: {response:?}") };
    (&call.name, serde_json::from_str(&call.arguments).unwrap())
}

with_server! {
    async fn a_tool_is_called_with_tool_choice_auto() {
        let response = answer(&asked("Add 3 and 4"), ToolChoice::Auto).await.unwrap();
        assert_eq!(called(&response), ("add", json!({"a": 3, "b": 4})));
        assert_eq!(response.finish, FinishReason::ToolCalls);
    }

    async fn a_tool_is_called_with_tool_choice_required() {
        let response = answer(&asked("Read notes.txt"), ToolChoice::Required).await.unwrap();
        assert_eq!(called(&response), ("read_file", json!({"path": "notes.txt"})));
    }

    async fn the_servers_empty_text_beside_a_call_is_dropped() {
        let response = answer(&asked("Add 3 and 4"), ToolChoice::Auto).await.unwrap();
        assert!(matches!(response.parts.as_slice(), [ResponsePart::ToolCall(_)]), "{:?}", response.parts);
    }

    async fn a_question_without_need_for_a_tool_is_answered_with_text() {
        let response = answer(&asked("Hello! How are you?"), ToolChoice::Auto).await.unwrap();
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Stop, 0));
        assert!(!response.text().is_empty());
    }

    async fn a_streamed_call_equals_a_complete_one() {
        let (messages, tools, settings) = (asked("Add 3 and 4"), tools(), greedy(64));
        let (events, response) = streamed(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        assert_eq!(called(&response), ("add", json!({"a": 3, "b": 4})));
        assert_eq!(response.finish, FinishReason::ToolCalls);
        assert!(texts(&events).is_empty(), "{events:?}");
    }

    async fn the_arguments_of_a_streamed_call_arrive_as_deltas() {
        let (messages, tools, settings) = (asked("Add 3 and 4"), tools(), greedy(64));
        let (events, response) = streamed(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        let pieces: Vec<_> = events.iter().filter_map(arguments).collect();
        assert!(pieces.len() > 4, "{events:?}");
        assert_eq!(pieces.concat(), response.tool_calls().next().unwrap().arguments);
        assert!(response.usage.output_tokens > 4, "{:?}", response.usage);
    }

    async fn the_answer_uses_the_result_of_a_call() {
        let mut messages = asked("Add 3 and 4");
        let response = answer(&messages, ToolChoice::Auto).await.unwrap();
        let call = response.tool_calls().next().unwrap().clone();
        let results = vec![ToolResult::new(&call, "7")];
        messages.extend([Message::Assistant { parts: response.parts }, Message::Tool { results }]);
        let response = answer(&messages, ToolChoice::Auto).await.unwrap();
        assert_eq!(response.finish, FinishReason::Stop);
        assert!(response.text().contains('7'), "{}", response.text());
    }

    // `required` lets a text precede the call, and the model does not finish it.
    async fn a_missing_required_call_is_a_truncated_text() {
        let response = answer(&asked("Hello! How are you?"), ToolChoice::Required).await.unwrap();
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Length, 0));
        assert_eq!(response.usage.output_tokens, 64);
    }

    async fn a_truncated_streamed_call_is_reported() {
        let (messages, tools, settings) = (asked("Add 3 and 4"), tools(), greedy(12));
        let (_, response) = streamed(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
        assert_eq!(response.finish, FinishReason::Length, "{response:?}");
    }
}

/// Returns the arguments delta of an event.
fn arguments(event: &StreamEvent) -> Option<&str> {
    match event {
        StreamEvent::ToolCall { arguments, .. } => Some(arguments),
        _ => None,
    }
}
