//! What a transcript sends is what a request without one sends, and only what is new is serialized.

use std::sync::{Arc, LazyLock};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::anthropic::AnthropicModel;
use crate::attachment::Attachment;
use crate::error::ProviderError;
use crate::exchange::{Exchange, ResponseAccumulator};
use crate::gemini::GeminiModel;
use crate::message::{
    Message, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall, ToolResult, UserPart,
};
use crate::model::{Request, ToolSpec, Transcript};
use crate::openai::{OpenAiModel, Server};
use crate::responses::OpenAiResponsesModel;
use crate::secret::ApiKey;
use crate::server_side::ServerSideTool;
use crate::settings::{Settings, ThinkingLevel};

/// The body of a request as a model sends it, or the error.
pub(super) type Body = Result<String, String>;
/// Returns the body that one model sends, streamed or whole.
pub(super) type Sender = Box<dyn Fn(&Request<'_>, bool) -> Body + Send + Sync>;

/// Models that differ in how they send a conversation, with the number of bytes that a message has around its values.
pub(super) static MODELS: LazyLock<Vec<(&str, usize, Sender)>> = LazyLock::new(|| {
    let chat = |server: Server, model: &'static str| {
        let model = OpenAiModel::at(server, model).api_key(key()).build().unwrap();
        let send: Sender = Box::new(move |request, stream| body(model.exchange(request, stream)));
        (server.prefix(), 1, send)
    };
    let responses = |model: &'static str| {
        let built = OpenAiResponsesModel::builder(model).api_key(key()).build().unwrap();
        let send: Sender = Box::new(move |request, stream| body(built.exchange(request, stream)));
        (model, 1, send)
    };
    let anthropic = |model: &'static str| {
        let built = AnthropicModel::builder(model).api_key(key()).build().unwrap();
        let send: Sender = Box::new(move |request, stream| body(built.exchange(request, stream)));
        (model, r#",{"role":"assistant","content":[]}"#.len(), send)
    };
    let gemini = |model: &'static str| {
        let built = GeminiModel::builder(model).api_key(key()).build().unwrap();
        let send: Sender = Box::new(move |request, _| body(built.exchange(&built.streamed, request)));
        (model, 1, send)
    };
    vec![
        chat(Server::OpenAi, "gpt-5"),
        chat(Server::DeepSeek, "m"),
        chat(Server::LlamaCpp, "m"),
        chat(Server::Mistral, "m"),
        chat(Server::OpenRouter, "m"),
        responses("gpt-4.1"),
        responses("gpt-5"),
        anthropic("claude-fable-5-1"),
        anthropic("claude-opus-4-1"),
        gemini("gemini-2.5-flash"),
        gemini("gemini-3-pro"),
    ]
});

fn key() -> ApiKey {
    ApiKey::new("k").unwrap()
}

fn body<F, G>(exchange: Result<Exchange<F>, ProviderError>) -> Body
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    let exchange = exchange.map_err(|error| error.to_string())?;
    Ok(String::from_utf8(exchange.begun().0.to_vec()).unwrap())
}

fn tool(name: &str) -> ToolSpec {
    let parameters = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    ToolSpec { name: name.into(), description: "Adds.".into(), parameters: Arc::new(parameters) }
}

fn text() -> impl Strategy<Value = String> {
    select(vec!["", " ", "a", "two\nlines", "\"quoted\" é"]).prop_map(str::to_owned)
}

fn attachment() -> impl Strategy<Value = Attachment> {
    let media_types = vec!["image/png", "text/csv", "application/pdf", "audio/wav"];
    select(media_types).prop_map(|media_type| Attachment::new(media_type, "hi!").named("a"))
}

fn user() -> impl Strategy<Value = Message> {
    let part = prop_oneof![
        3 => text().prop_map(|text| UserPart::Text { text }),
        1 => attachment().prop_map(UserPart::Attachment),
    ];
    vec(part, 0..3).prop_map(|parts| Message::User { parts })
}

/// Data that one of the providers reads.
fn data() -> impl Strategy<Value = ProviderData> {
    select(vec![
        ("anthropic", json!({ "type": "thinking", "signature": "s" })),
        ("anthropic", json!({ "use": { "type": "server_tool_use", "id": "u" } })),
        (
            "anthropic",
            json!({ "use": { "id": "u" }, "result": { "type": "web_search_tool_result", "tool_use_id": "u" } }),
        ),
        ("anthropic", json!({ "type": "citations", "citations": [{ "cited_text": "c" }] })),
        ("anthropic", json!({ "type": "container", "id": "c" })),
        ("anthropic", json!({ "caller": { "type": "direct" } })),
        ("anthropic", json!({ "caller": { "type": "code_execution_20260120", "tool_id": "u" } })),
        ("anthropic", json!({ "type": "code_execution_tool_result", "tool_use_id": "u" })),
        ("openai-responses", json!({ "type": "program", "call_id": "p", "code": "text(1)" })),
        ("openai-responses", json!({ "type": "program_output", "call_id": "p", "result": "1" })),
        ("openai-responses", json!({ "id": "fc", "caller": { "type": "program", "caller_id": "p" } })),
        ("openai-responses", json!({ "type": "reasoning", "id": "r", "encrypted_content": "e" })),
        ("openai-responses", json!({ "id": "msg", "status": "completed" })),
        ("gemini", json!({ "thoughtSignature": "s", "id": "g" })),
        ("gemini", json!({ "part": { "text": "t", "thoughtSignature": "s" } })),
        ("gemini", json!({ "asked": { "as": "toolCall" }, "answered": { "as": "toolResponse" } })),
        ("deepseek", json!({ "model": "m", "field": "reasoning_content" })),
        ("openrouter", json!({ "model": "m", "details": [{ "type": "reasoning.text", "text": "t" }] })),
        ("mistral", json!({ "chunks": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "t" }] }] })),
    ])
    .prop_map(|(provider, data)| ProviderData::new(provider, data))
}

fn call() -> impl Strategy<Value = ToolCall> {
    let arguments = select(vec!["{}", "", r#"{"a": 1.0}"#, "not JSON", "[1]"]);
    (select(vec!["c1", "c/2"]), select(vec!["add", "find"]), arguments, option::of(data())).prop_map(
        |(id, name, arguments, data)| {
            let call = ToolCall::new(id, name, arguments);
            if let Some(data) = data { call.with_provider_data(data) } else { call }
        },
    )
}

fn answer() -> impl Strategy<Value = Message> {
    let part = prop_oneof![
        text().prop_map(|text| ResponsePart::Text { text }),
        (text(), data()).prop_map(|(text, data)| ResponsePart::Thinking(Thinking::new(text).with_provider_data(data))),
        call().prop_map(ResponsePart::ToolCall),
        data().prop_map(|data| {
            let used = ServerSideToolUse::new("web_search", json!({ "query": "q" }), json!([]));
            ResponsePart::ServerSideTool(used.with_provider_data(data))
        }),
        attachment().prop_map(ResponsePart::Attachment),
        data().prop_map(ResponsePart::Opaque),
    ];
    vec(part, 0..4).prop_map(|parts| Message::Assistant { parts })
}

fn results() -> impl Strategy<Value = Message> {
    let result = (call(), text(), any::<bool>(), vec(attachment(), 0..2));
    let result = result.prop_map(|(call, content, is_error, attachments)| {
        ToolResult::new(&call, content).with_error(is_error).with_attachments(attachments)
    });
    vec(result, 0..3).prop_map(|results| Message::Tool { results })
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![user(), answer(), results()]
}

/// A change of a conversation, and what the next request has beside it.
#[derive(Clone, Debug)]
struct Turn {
    added: Vec<Message>,
    /// The place of a message that is replaced.
    replaced: Option<usize>,
    settings: Settings,
    stream: bool,
    /// The names of the tools, and of those that are deferred.
    tools: [Vec<&'static str>; 2],
    /// Whether code may call the tools, except for `list`.
    has_code: bool,
}

fn settings() -> impl Strategy<Value = Settings> {
    let thinking = select(vec![None, Some(ThinkingLevel::Off), Some(ThinkingLevel::High)]);
    (thinking, any::<bool>(), any::<bool>()).prop_map(|(thinking, cache_prompt, has_extra)| {
        let extra_body = has_extra.then(|| ("extra".to_owned(), Value::from(1))).into_iter().collect();
        Settings { thinking, cache_prompt: Some(cache_prompt), extra_body, ..Settings::default() }
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    let names = || subsequence(vec!["add", "find", "list"], 0..=3);
    let (added, replaced) = (vec(message(), 1..3), option::weighted(0.1, 0_usize..8));
    (added, replaced, settings(), any::<bool>(), names(), names(), any::<bool>()).prop_map(
        |(added, replaced, settings, stream, now, deferred, has_code)| {
            let deferred = deferred.into_iter().filter(|name| !now.contains(name)).collect();
            Turn { added, replaced, settings, stream, tools: [now, deferred], has_code }
        },
    )
}

proptest! {
    #[test]
    fn a_transcript_is_sent_like_its_messages(turns in vec(turn(), 1..6)) {
        let known = ["add", "find", "list"].map(tool);
        let mut transcript = Transcript::default();
        for turn in turns {
            turn.added.iter().cloned().for_each(|message| transcript.push(message));
            if let Some(place) = turn.replaced.filter(|place| *place < transcript.len()) {
                let mut messages = transcript.to_vec();
                messages[place] = Message::user("replaced");
                transcript.replace(messages);
            }
            let [now, deferred] = turn.tools.each_ref().map(|names| {
                names.iter().filter_map(|name| known.iter().find(|tool| &*tool.name == *name)).cloned().collect::<Vec<_>>()
            });
            let request = Request::new(&transcript, &turn.settings).instructions(Some("Be brief."));
            let code: &[ServerSideTool] = if turn.has_code { &[ServerSideTool::ProgrammaticToolCalling] } else { &[] };
            let request = request.tools(&now).deferred_tools(&deferred).server_side_tools(code).output_tool(Some("list"));
            for (name, _, send) in &*MODELS {
                let expected = send(&request, turn.stream);
                prop_assert_eq!(&send(&request.transcript(&transcript), turn.stream), &expected, "{}", name);
            }
        }
    }
}

#[test]
fn the_hundredth_turn_serializes_no_more_than_the_tenth() {
    let (tools, settings) = ([tool("add")], Settings::default());
    for (name, around, send) in &*MODELS {
        let mut transcript = Transcript::default();
        transcript.push(Message::user("Add up!"));
        let mut serialized = Vec::new();
        for number in 100..200 {
            let known = transcript.written_size();
            let request = Request::new(&[], &settings).tools(&tools).transcript(&transcript);
            serialized.push(send(&request, true).unwrap().len() - known);
            let call = ToolCall::new(format!("c{number}"), "add", r#"{"a":1}"#);
            let result = ToolResult::new(&call, "1");
            transcript.push(Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] });
            transcript.push(Message::Tool { results: vec![result] });
        }
        // Only what is between the messages is written again.
        let messages_between = 2 * 90;
        assert!(serialized[99] <= serialized[9] + messages_between * around, "{name}: {serialized:?}");
    }
}

#[test]
fn other_messages_than_those_of_the_transcript_are_sent_as_they_are() {
    let settings = Settings::default();
    let transcript = Transcript::from(vec![Message::user("one")]);
    let other = [Message::user("two")];
    for (name, _, send) in &*MODELS {
        let mut request = Request::new(&[], &settings).transcript(&transcript);
        assert!(send(&request, false).unwrap().contains("one"), "{name}");
        request.messages = &other;
        let sent = send(&request, false).unwrap();
        assert!(sent.contains("two") && !sent.contains("one"), "{name}: {sent}");
    }
}
