//! The bodies that providers get of a compacted history, checked against the rules of each API.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use llm_do::model::{AnthropicModel, ApiKey, GeminiModel, Message, OpenAiModel, OpenAiResponsesModel, Request};
use llm_do::{Model, Settings, Value, json};

/// Checks a body against the rules of an API.
type Check = fn(&Value) -> Result<(), String>;

/// A server that keeps the bodies of requests, and refuses them.
pub(super) struct Refusing {
    url: String,
    bodies: Receiver<Value>,
}

impl Refusing {
    pub(super) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, bodies) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                    head.push(byte[0]);
                }
                if head.is_empty() {
                    return;
                }
                let head = String::from_utf8(head).unwrap().to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                stream.read_exact(&mut body).unwrap();
                let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                stream.write_all(answer).unwrap();
                sender.send(serde_json::from_slice(&body).unwrap()).unwrap();
            }
        });
        Self { url, bodies }
    }

    /// The models of each provider, with the check of its rules.
    fn models(&self) -> Vec<(Box<dyn Model>, Check)> {
        let gemini = self.url.trim_end_matches("/v1");
        vec![
            (
                Box::new(
                    AnthropicModel::builder("claude-sonnet-4-5")
                        .base_url(&self.url)
                        .api_key(key())
                        .retries(0)
                        .build()
                        .unwrap(),
                ),
                anthropic,
            ),
            (Box::new(OpenAiModel::builder("m").base_url(&self.url).api_key(key()).retries(0).build().unwrap()), chat),
            (
                Box::new(
                    OpenAiResponsesModel::builder("m").base_url(&self.url).api_key(key()).retries(0).build().unwrap(),
                ),
                responses,
            ),
            (
                Box::new(
                    GeminiModel::builder("gemini-2.5-pro").base_url(gemini).api_key(key()).retries(0).build().unwrap(),
                ),
                contents,
            ),
        ]
    }

    /// Returns which provider would refuse the messages, and why.
    pub(super) async fn fault(&self, messages: &[Message]) -> Option<String> {
        let settings = Settings::default();
        for (model, check) in self.models() {
            model.request(Request::new(messages, &settings)).await.unwrap_err();
            let body = self.bodies.recv().unwrap();
            if let Err(fault) = check(&body) {
                return Some(format!("{}: {fault}: {body:#}", model.name()));
            }
        }
        None
    }
}

impl Drop for Refusing {
    /// Ends the server, which waits for a request.
    fn drop(&mut self) {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/v1");
        drop(TcpStream::connect(address));
    }
}

fn key() -> ApiKey {
    ApiKey::new("k").unwrap()
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn ids<'v>(blocks: &'v [Value], kind: &str, field: &str) -> Vec<&'v str> {
    blocks.iter().filter(|block| block["type"] == kind).filter_map(|block| block[field].as_str()).collect()
}

fn require(is_met: bool, rule: &str) -> Result<(), String> {
    is_met.then_some(()).ok_or_else(|| rule.to_owned())
}

/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>: results come directly after the calls, first
/// in their message; the first message is the user's.
fn anthropic(body: &Value) -> Result<(), String> {
    let messages = list(body, "messages");
    require(messages[0]["role"] == "user", "the first message is the user's")?;
    let mut open = Vec::new();
    for message in messages {
        let blocks = list(message, "content");
        let results = ids(blocks, "tool_result", "tool_use_id");
        require(results == open, "each call has its result in the next message")?;
        let is_first = blocks.iter().take(results.len()).all(|block| block["type"] == "tool_result");
        require(is_first, "results come first in their message")?;
        let is_signed = |block: &&Value| block["type"] == "thinking" && block["signature"].is_string();
        let thinking = blocks.iter().filter(|block| block["type"] == "thinking");
        require(thinking.clone().count() == thinking.filter(is_signed).count(), "thinking keeps its signature")?;
        open = ids(blocks, "tool_use", "id");
    }
    require(open.is_empty(), "the last calls have results")
}

/// <https://platform.openai.com/docs/api-reference/chat/create>: messages of the role `tool` answer the calls before them.
fn chat(body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for message in list(body, "messages") {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            require(open.first() == Some(&id), "a result answers a call before it")?;
            open.remove(0);
        } else {
            require(open.is_empty(), "each call has its result before the next message")?;
            open = list(message, "tool_calls").iter().filter_map(|call| call["id"].as_str()).collect();
        }
    }
    require(open.is_empty(), "the last calls have results")
}

/// <https://platform.openai.com/docs/guides/function-calling>: each `function_call` has one `function_call_output` after it.
fn responses(body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for item in list(body, "input") {
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call") => open.push(id),
            Some("function_call_output") => {
                require(open.contains(&id), "an output has a call before it")?;
                open.retain(|call| *call != id);
            }
            _ => {}
        }
    }
    require(open.is_empty(), "each call has an output")
}

/// <https://ai.google.dev/gemini-api/docs/function-calling>: as many responses as calls, in the content directly after them; calls come
/// after a turn of the user or after responses.
fn contents(body: &Value) -> Result<(), String> {
    let contents = list(body, "contents");
    require(contents[0]["role"] == "user", "the first content is the user's")?;
    let (mut open, mut before) = (0, &json!("user"));
    for content in contents {
        let count = |field: &str| list(content, "parts").iter().filter(|part| !part[field].is_null()).count();
        require(count("functionResponse") == open, "each call has its response in the next content")?;
        open = count("functionCall");
        require(open == 0 || before == "user", "calls come after the user's turn or after responses")?;
        before = &content["role"];
    }
    require(open == 0, "the last calls have responses")
}
