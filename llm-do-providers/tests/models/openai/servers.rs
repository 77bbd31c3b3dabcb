//! The servers with their own profile, each by the documentation named in its file.

mod deepseek;
mod each;
mod families;
mod groq;
mod llama_cpp;
mod mistral;
mod ollama;
mod openrouter;
mod vllm;
mod warnings;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use llm_do_providers::{
    Attachment, ErrorKind, Message, Model, OpenAiModel, OutputSchema, ProviderError, Request, Response, ResponsePart,
    Server, Settings, StreamEvent, Thinking, ThinkingLevel, ToolChoice, ToolResult, UserPart,
};
use serde_json::{Value, json};

use crate::openai::stream_of;
use crate::question::add;
use crate::server::{Reply, Server as Scripted};

/// The model `name` of `server`; its requests are sent to `scripted`.
fn model(server: Server, name: &str, scripted: &Scripted) -> OpenAiModel {
    let limit = Duration::from_secs(5);
    let builder = OpenAiModel::at(server, name).base_url(scripted.base_url()).idle_timeout(limit).timeout(limit);
    builder.retries(0).build().unwrap()
}

/// A complete reply with this message.
fn reply(message: &Value) -> Reply {
    Reply::json(200, &json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
}

fn hello() -> Reply {
    reply(&json!({"role": "assistant", "content": "hello"}))
}

/// The body sent for `request`.
async fn sent(server: Server, name: &str, request: Request<'_>) -> Value {
    let scripted = Scripted::scripted([hello()]).await;
    model(server, name, &scripted).request(request).await.unwrap();
    scripted.requests().remove(0).body
}

/// The body sent with these settings and a tool.
async fn sent_with(server: Server, name: &str, settings: &Settings) -> Value {
    let mut body = sent(server, name, Request::new(&[Message::user("hi")], settings).tools(&[add()])).await;
    let fields = body.as_object_mut().unwrap();
    assert_eq!(fields.remove("model").unwrap(), name);
    assert_eq!(fields.remove("messages").unwrap(), json!([{"role": "user", "content": "hi"}]));
    let parameters = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let function = json!({"name": "add", "description": "Adds.", "parameters": parameters});
    assert_eq!(fields.remove("tools").unwrap(), json!([{"type": "function", "function": function}]));
    body
}

/// All settings except thinking.
fn everything() -> Settings {
    let settings = Settings::new().temperature(0.5).top_p(0.9).max_tokens(9).seed(7).stop("x");
    settings.presence_penalty(0.1).frequency_penalty(0.2).parallel_tool_calls(false).service_tier("flex")
}

/// The fields sent with a tool for each level, from `off` to `high`, and for 4000 tokens.
async fn levels(server: Server, name: &str) -> Vec<Value> {
    let mut bodies = Vec::new();
    for level in [
        ThinkingLevel::Off,
        ThinkingLevel::Minimal,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
        ThinkingLevel::Tokens(4000),
    ] {
        bodies.push(sent_with(server, name, &Settings::new().thinking(level)).await);
    }
    bodies
}

/// The levels in the single field that they are sent in, if so.
async fn efforts(server: Server, name: &str) -> Vec<Value> {
    let bodies = levels(server, name).await;
    bodies.into_iter().map(|mut body| body["reasoning_effort"].take()).collect()
}

/// The tools and the tool choice sent for each choice: any, one by name, none.
async fn choices(server: Server, name: &str, settings: &Settings) -> Vec<(Vec<String>, Value)> {
    let mut other = add();
    other.name = "sub".into();
    let (messages, tools) = ([Message::user("hi")], [add(), other]);
    let mut seen = Vec::new();
    for choice in [ToolChoice::Required, ToolChoice::Tool("sub"), ToolChoice::None] {
        let request = Request::new(&messages, settings).tools(&tools).tool_choice(choice);
        let mut body = sent(server, name, request).await;
        let tools = body["tools"].as_array().into_iter().flatten();
        let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect();
        seen.push((names, body["tool_choice"].take()));
    }
    seen
}

fn both() -> Vec<String> {
    vec!["add".to_owned(), "sub".to_owned()]
}

fn by_name() -> Value {
    json!({"type": "function", "function": {"name": "sub"}})
}

/// The response format sent for an answer with one optional number.
async fn format(server: Server, name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}});
    let output = OutputSchema { name: "out".into(), schema: Arc::new(schema) };
    let request = [Message::user("hi")];
    sent(server, name, Request::new(&request, &Settings::new()).output(Some(&output))).await["response_format"].take()
}

/// The parts sent for a file, or the error.
async fn file(server: Server, name: &str, attachment: Attachment) -> Result<Value, ProviderError> {
    let scripted = Scripted::scripted([hello()]).await;
    let messages = [Message::User { parts: vec![UserPart::Attachment(attachment)] }];
    model(server, name, &scripted).request(Request::new(&messages, &Settings::new())).await?;
    Ok(scripted.requests().remove(0).body["messages"][0]["content"].take())
}

fn image() -> Attachment {
    Attachment::new("image/png", "hi!")
}

fn pdf() -> Attachment {
    Attachment::new("application/pdf", "hi!").named("a.pdf")
}

fn audio() -> Attachment {
    Attachment::new("audio/wav", "hi!")
}

fn image_url() -> Value {
    json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGkh"}}])
}

fn input_audio() -> Value {
    json!([{"type": "input_audio", "input_audio": {"data": "aGkh", "format": "wav"}}])
}

/// Checks that a file is rejected before the request, by an error with the supported types.
async fn refuses(server: Server, name: &str, attachment: Attachment, taken: &str) {
    let error = file(server, name, attachment).await.unwrap_err();
    assert_eq!((error.provider(), error.kind(), error.status()), (server.prefix(), ErrorKind::InvalidRequest, None));
    assert!(error.to_string().ends_with(&format!("convert it to one of {taken}")), "{error}");
}

async fn answer(model: &OpenAiModel, request: Request<'_>, streamed: bool) -> Result<Response, ProviderError> {
    if !streamed {
        return model.request(request).await;
    }
    let events: Vec<_> = model.stream(request).await?.collect().await;
    let mut shown = String::new();
    for event in events {
        match event? {
            StreamEvent::Thinking(more) => shown += &more,
            StreamEvent::Done(response) => {
                assert_eq!(shown, thoughts(&response), "what is shown of the thoughts is what is kept");
                return Ok(response);
            }
            _ => {}
        }
    }
    panic!("a stream ends in an answer or an error")
}

/// The thinking of an answer.
fn thoughts(response: &Response) -> String {
    let thoughts = response.parts.iter().filter_map(|part| match part {
        ResponsePart::Thinking(thought) => Some(thought.text.as_str()),
        _ => None,
    });
    thoughts.collect()
}

/// A first answer and the message sent back to `back` for it, after the results of its calls.
async fn turned_to(
    server: Server,
    back: (Server, &str),
    name: &str,
    reply: Reply,
    streamed: bool,
) -> (Response, Value) {
    let scripted = Scripted::scripted([reply, hello()]).await;
    let (settings, tools) = (Settings::new(), [add()]);
    let mut messages = vec![Message::user("hi")];
    let request = Request::new(&messages, &settings).tools(&tools);
    let first = answer(&model(server, name, &scripted), request, streamed).await.unwrap();
    messages.push(Message::Assistant { parts: first.parts.clone() });
    let results: Vec<_> = first.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
    messages.push(if results.is_empty() { Message::user("go on") } else { Message::Tool { results } });
    // A saved and loaded history is the same.
    let messages: Vec<Message> = serde_json::from_str(&serde_json::to_string(&messages).unwrap()).unwrap();
    let request = Request::new(&messages, &settings).tools(&tools);
    model(back.0, back.1, &scripted).request(request).await.unwrap();
    (first, scripted.requests().remove(1).body["messages"][1].take())
}

/// The same with one model of one server.
async fn turned(server: Server, name: &str, reply: Reply, streamed: bool) -> (Response, Value) {
    turned_to(server, (server, name), name, reply, streamed).await
}

/// A call of the tool, in both directions.
fn called(id: &str) -> Value {
    json!([{"id": id, "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}}])
}

/// A history started by a model of another provider.
fn of_another() -> Vec<Message> {
    let data = llm_do_providers::ProviderData::new("anthropic", json!({"signature": "s", "field": "reasoning"}));
    let thought = ResponsePart::Thinking(Thinking::new("mine").with_provider_data(data));
    let call = llm_do_providers::ToolCall::new("toolu_01A09q90qw90lq917835lq9", "add", "{\"a\":1}");
    let results = vec![ToolResult::new(&call, "3")];
    let parts = vec![thought, ResponsePart::ToolCall(call)];
    vec![Message::user("hi"), Message::Assistant { parts }, Message::Tool { results }]
}

/// The same, with a file in the result and a further user message.
fn with_files_and_more() -> Vec<Message> {
    let mut messages = of_another();
    let Some(Message::Tool { results }) = messages.last_mut() else { panic!("results") };
    *results = vec![results.remove(0).with_attachments([image()])];
    messages.push(Message::user("go on"));
    messages
}

/// The roles and the messages sent to a model for a history.
async fn roles(server: Server, name: &str, messages: &[Message]) -> (Vec<String>, Value) {
    let sent = sent(server, name, Request::new(messages, &Settings::new())).await["messages"].take();
    let roles = sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap().to_owned());
    (roles.collect(), sent)
}

/// The messages sent to a model for a history of another provider.
async fn sent_of_another(server: Server, name: &str) -> Value {
    sent(server, name, Request::new(&of_another(), &Settings::new()).tools(&[add()])).await["messages"].take()
}

/// The errors of a complete and of a streamed request that both get `reply`.
async fn failures(server: Server, name: &str, reply: Reply) -> [ProviderError; 2] {
    let scripted = Scripted::scripted([reply.clone(), reply]).await;
    let model = model(server, name, &scripted);
    let (messages, settings) = ([Message::user("my secret")], Settings::new());
    let request = Request::new(&messages, &settings);
    [answer(&model, request, false).await.unwrap_err(), answer(&model, request, true).await.unwrap_err()]
}

/// Checks both errors.
async fn fails(server: Server, status: u16, body: &Value, kind: ErrorKind, says: &str) {
    for error in failures(server, "m", Reply::json(status, body)).await {
        assert_eq!((error.provider(), error.kind(), error.status()), (server.prefix(), kind, Some(status)), "{error}");
        assert!(error.to_string().starts_with(&format!("{}: status {status}: ", server.prefix())), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
