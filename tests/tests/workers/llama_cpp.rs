//! A whole run with the HTTP server of llama.cpp and a small model.

#[path = "../../../llm-do-providers/tests/models/llama_cpp/server.rs"]
mod server;

use std::time::Duration;

use llm_do::model::{Message, OpenAiModel, ResponsePart, Server, ToolCall, ToolResult};
use llm_do::prelude::*;
use llm_do::{History, Settings};
use serde_json::{Value, json};

/// You answer briefly and correctly.
#[worker(toolsets = [add, read_file])]
async fn small_model(input: String) -> String;

/// Add two numbers
#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Read a text file
#[tool(effect = read_only)]
fn read_file(path: String) -> String {
    path
}

/// An example for the model: a question, a tool call, its result and the answer.
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

fn runtime(streaming: bool) -> Runtime {
    let limit = Duration::from_secs(120);
    let model = OpenAiModel::at(Server::LlamaCpp, "smollm2-135m").base_url(server::base_url());
    let model = model.idle_timeout(limit).timeout(limit).retries(0).build().unwrap();
    let settings = Settings::new().temperature(0.0).max_tokens(64);
    Runtime::builder().force_model(model).settings(settings).streaming(streaming).build().unwrap()
}

#[tokio::test]
#[ignore = "needs the weights and the server: sh llm-do-providers/fetch-local-model.sh; sh llm-do-providers/tests/models/llama_cpp/install"]
async fn a_worker_calls_a_tool_and_uses_its_result_streamed_or_not() {
    let add = episode("What is 5 plus 6?", "add", &json!({"a": 5, "b": 6}), "11", "The answer is 11.");
    let path = json!({"path": "story.txt"});
    let read = episode("Read story.txt", "read_file", &path, "Once upon a time.", "It says: Once upon a time.");
    let history = History::from(add.into_iter().chain(read).collect::<Vec<_>>());
    for streaming in [false, true] {
        let run = runtime(streaming).start(small_model { input: "Add 3 and 4".to_owned() }).history(history.clone());
        let handle = run.handle();
        let answer = run.await.unwrap();
        assert!(answer.contains('7'), "{answer}");
        let messages: Vec<Message> = handle.history().into();
        let [.., Message::Assistant { parts }, Message::Tool { results }, Message::Assistant { .. }] =
            messages.as_slice()
        else {
            panic!("{messages:?}")
        };
        let [ResponsePart::ToolCall(call)] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((&*call.name, serde_json::from_str(&call.arguments).ok()), ("add", Some(json!({"a": 3, "b": 4}))));
        assert_eq!(&*results[0].content, "7");
        let used = handle.usage().model;
        assert_eq!(used.requests, 2);
        assert!(used.input_tokens > 600 && used.output_tokens > 10, "{used:?}");
    }
}
