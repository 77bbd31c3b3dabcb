//! The same loop, hand-written with reqwest and `serde_json` for this use only.

use std::sync::Arc;
use std::time::Duration;

use cost::events;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url, redirect};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ours::{INSTRUCTIONS, QUESTION};

/// The state that runs share.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    url: Url,
    streaming: bool,
    off_thread: bool,
    tools: Vec<Value>,
}

impl Session {
    /// Returns a session with the server at `base_url`; the HTTP client is configured as in llm-do.
    pub(crate) fn new(base_url: &str, streaming: bool, off_thread: bool) -> Arc<Self> {
        let client = Client::builder()
            .user_agent("by-hand/0.1.0")
            .connect_timeout(Duration::from_secs(10))
            .redirect(redirect::Policy::none())
            .build()
            .expect("a client");
        let parameters = json!({
            "type": "object",
            "properties": {
                "left": { "description": "First number.", "type": "integer", "format": "int64" },
                "right": { "description": "Second number.", "type": "integer", "format": "int64" }
            },
            "required": ["left", "right"],
            "additionalProperties": false
        });
        let function = json!({ "name": "add", "description": "Add two numbers.", "parameters": parameters });
        let tools = vec![json!({ "type": "function", "function": function })];
        let url = Url::parse(&format!("{base_url}/v1/chat/completions")).expect("a valid URL");
        Arc::new(Self { client, url, streaming, off_thread, tools })
    }

    /// Makes one run.
    pub(crate) async fn run(&self) -> String {
        let mut messages = vec![
            Message { content: Some(INSTRUCTIONS.to_owned()), ..Message::empty("system") },
            Message { content: Some(QUESTION.to_owned()), ..Message::empty("user") },
        ];
        loop {
            let answer = self.request(&messages).await;
            if answer.tool_calls.is_empty() {
                return answer.content.expect("an answer");
            }
            let mut results = Vec::new();
            for call in &answer.tool_calls {
                results.push(self.result(call).await);
            }
            messages.push(answer);
            messages.extend(results);
        }
    }

    async fn result(&self, call: &Call) -> Message {
        assert_eq!(call.function.name, "add");
        let Add { left, right } = serde_json::from_str(&call.function.arguments).expect("arguments");
        let sum = if self.off_thread {
            tokio::task::spawn_blocking(move || left + right).await.expect("a sum")
        } else {
            left + right
        };
        let (content, tool_call_id) = (Some(sum.to_string()), Some(call.id.clone()));
        Message { content, tool_call_id, ..Message::empty("tool") }
    }

    async fn request(&self, messages: &[Message]) -> Message {
        let (stream, tools) = (self.streaming, &self.tools);
        let stream_options = stream.then_some(StreamOptions { include_usage: true });
        let chat = Chat { model: "bench", messages, tools, stream, stream_options };
        let body = serde_json::to_vec(&chat).expect("a request");
        let request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).expect("an answer");
        if self.streaming { streamed(answer).await } else { whole(&answer.bytes().await.expect("a body")) }
    }
}

fn whole(body: &[u8]) -> Message {
    let mut answer: Answer = serde_json::from_slice(body).expect("chat completions");
    assert!(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens > 0);
    answer.choices.remove(0).message
}

async fn streamed(answer: reqwest::Response) -> Message {
    let mut message = Message::empty("assistant");
    events::each(answer, |data| grow(&mut message, serde_json::from_slice(data).expect("chat completions"))).await;
    message
}

fn grow(message: &mut Message, piece: Piece) {
    let Some(Delta { content, tool_calls }) = piece.choices.into_iter().next().map(|choice| choice.delta) else {
        return;
    };
    if let Some(content) = content {
        message.content.get_or_insert_default().push_str(&content);
    }
    for CallPiece { index, id, function } in tool_calls {
        if message.tool_calls.len() <= index {
            let function = Function { name: String::new(), arguments: String::new() };
            message.tool_calls.push(Call { id: String::new(), kind: "function".to_owned(), function });
        }
        let call = &mut message.tool_calls[index];
        call.id.push_str(&id.unwrap_or_default());
        call.function.name.push_str(&function.name.unwrap_or_default());
        call.function.arguments.push_str(&function.arguments.unwrap_or_default());
    }
}

#[derive(Serialize)]
struct Chat<'a> {
    model: &'a str,
    messages: &'a [Message],
    tools: &'a [Value],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

impl Message {
    fn empty(role: &str) -> Self {
        Self { role: role.to_owned(), content: None, tool_calls: Vec::new(), tool_call_id: None }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Call {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    function: Function,
}

#[derive(Debug, Serialize, Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Add {
    left: i64,
    right: i64,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Usage,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

#[derive(Deserialize)]
struct Piece {
    choices: Vec<ChoicePiece>,
}

#[derive(Deserialize)]
struct ChoicePiece {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<CallPiece>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: usize,
    id: Option<String>,
    function: FunctionPiece,
}

#[derive(Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}
