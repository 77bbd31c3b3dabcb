//! No provider refuses a history, with anything that servers, programs and files bring into it.

use serde_json::{Value, json};

use super::rules::{anthropic, chat, gemini, responses};
use super::transcript::MODELS;
use crate::attachment::Attachment;
use crate::message::{
    Message, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall, ToolResult, UserPart,
};
use crate::model::{Request, Transcript};
use crate::settings::{Settings, ThinkingLevel};

/// How many histories are tried, unless the variable sets the number.
const HISTORIES: u64 = 1_000;
const VARIABLE: &str = "LLM_DO_HISTORIES";

const IDS: [&str; 14] = [
    "",
    "call_1",
    "call_1",
    "call_2",
    "toolu_01A",
    "abcdefghi",
    "chatcmpl-tool-0123456789abcdef0123456789abcdef",
    "call_0123456789012345678901234567890123456789012345678901234567890123456789",
    "functions.bash:0",
    "a.b",
    "a_b",
    "call|1.é",
    "a b\n",
    "x\0y",
];
const NAMES: [&str; 9] = [
    "add",
    "find",
    "multi_tool_use.parallel",
    "",
    "get weather",
    "höhe",
    "a_very_long_name_that_a_model_made_up_and_that_is_longer_than_any_provider_accepts",
    "find\0",
    "9-lives",
];
const ARGUMENTS: [&str; 18] = [
    "{}",
    "",
    " \n",
    r#"{"a": 1.0}"#,
    r#" {"a": [1, {"b": null}]} "#,
    "{\"a\": \"\u{1f600}\"}",
    "not JSON",
    "{\"a\"",
    "[]",
    "\"x\"",
    "null",
    "12",
    r#"{"a": "\ud83d"}"#,
    r#"{"\ude00": 1}"#,
    r#"{"a": "\u0000"}"#,
    r#"{"a": 1e999, "b": 123456789012345678901234567890}"#,
    r#"{"a": 1, "a": 2}"#,
    r#"{"a": 1} {"b": 2}"#,
];
const TEXTS: [&str; 8] = ["", " ", "\n", "a", "two\nlines ", "\"quoted\" é", "nul\0", r#"{"a": "\ud83d"}"#];

/// A generator of numbers whose sequence depends on the seed alone.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    fn text(&mut self) -> String {
        (*self.pick(&TEXTS)).to_owned()
    }
}

fn file(random: &mut Random) -> Attachment {
    let contents: [&[u8]; 12] = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01",
        b"GIF89a\x01\0\x01\0\0\0\0\0",
        b"RIFF\x24\0\0\0WEBPVP8 ",
        b"RIFF\x24\0\0\0WAVEfmt ",
        b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0",
        b"II*\0\x08\0\0\0\0\0\0\0\0\0",
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        b"%PDF-1.7\n%1234567890",
        b"",
        b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7\xf6\xf5\xf4\xf3",
        b"plain text, and more of it",
    ];
    let labels = [
        "image/png",
        "Image/PNG",
        "image/jpg",
        "image/gif; a=b",
        "image/webp",
        "image/svg+xml",
        "image/bmp",
        "image/tiff",
        "image/heic",
        "audio/wav",
        "audio/ogg",
        "application/pdf",
        "application/octet-stream",
        "text/plain",
        "",
    ];
    let file = Attachment::new(*random.pick(&labels), *random.pick(&contents));
    if random.one_in(2) { file.named("a.x") } else { file }
}

/// Data that one of the providers reads.
fn data(random: &mut Random) -> ProviderData {
    let known = [
        ("anthropic", json!({ "type": "thinking", "signature": "s" })),
        ("anthropic", json!({ "type": "thinking", "signature": "" })),
        ("anthropic", json!({ "type": "redacted_thinking", "data": "d" })),
        (
            "anthropic",
            json!({ "use": { "type": "server_tool_use", "id": "u" }, "result": { "type": "web_search_tool_result", "tool_use_id": "u" } }),
        ),
        ("anthropic", json!({ "type": "citations", "citations": [{ "cited_text": "c" }] })),
        ("anthropic", json!({ "type": "container", "id": "c" })),
        ("anthropic", json!({ "caller": { "type": "direct" } })),
        ("openai-responses", json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "e", "summary": [] })),
        ("openai-responses", json!({ "type": "reasoning", "id": "rs_2", "encrypted_content": "e", "summary": [] })),
        ("openai-responses", json!({ "type": "reasoning", "id": "rs_3", "summary": [] })),
        ("openai-responses", json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" })),
        ("openai-responses", json!({ "id": "msg_1", "status": "completed" })),
        ("openai-responses", json!({ "id": "fc_1" })),
        ("gemini", json!({ "thoughtSignature": "s", "id": "g" })),
        ("gemini", json!({ "id": "" })),
        ("gemini", json!({ "part": { "text": "t", "thoughtSignature": "s" } })),
        ("gemini", json!({ "asked": { "as": "toolCall" }, "answered": { "as": "toolResponse" } })),
        ("deepseek", json!({ "model": "m", "field": "reasoning_content" })),
        ("openrouter", json!({ "model": "m", "details": [{ "type": "reasoning.text", "text": "t" }] })),
        ("mistral", json!({ "chunks": [{ "type": "thinking", "thinking": [{ "type": "text", "text": "t" }] }] })),
        ("other", json!({ "type": "thinking", "signature": "s", "id": "rs_1" })),
    ];
    let (provider, data) = random.pick(&known).clone();
    ProviderData::new(provider, data)
}

fn call(random: &mut Random) -> ToolCall {
    let deep = [70, 31].map(|depth| format!("{}{}", r#"{"a":"#.repeat(depth), "1".to_owned() + &"}".repeat(depth)));
    let arguments = if random.one_in(12) { random.pick(&deep).clone() } else { (*random.pick(&ARGUMENTS)).to_owned() };
    let call = ToolCall::new(*random.pick(&IDS), *random.pick(&NAMES), arguments);
    if random.one_in(2) { call.with_provider_data(data(random)) } else { call }
}

fn part(random: &mut Random) -> ResponsePart {
    match random.below(8) {
        0 | 1 => ResponsePart::Text { text: random.text() },
        2 => ResponsePart::Thinking(Thinking::new(random.text()).with_provider_data(data(random))),
        3..=5 => ResponsePart::ToolCall(call(random)),
        6 if random.one_in(2) => ResponsePart::Attachment(file(random)),
        6 => {
            let used = ServerSideToolUse::new("web_search", json!({ "query": "q" }), json!([]));
            ResponsePart::ServerSideTool(used.with_provider_data(data(random)))
        }
        _ => ResponsePart::Opaque(data(random)),
    }
}

fn user(random: &mut Random, with_files: bool) -> Message {
    let parts = (0..random.below(3)).map(|_| match random.below(3) {
        0 if with_files => UserPart::Attachment(file(random)),
        _ => UserPart::Text { text: random.text() },
    });
    Message::User { parts: parts.collect() }
}

/// Results of the calls of an answer: of all or some, and of unknown calls, in any order, over one message or several.
fn results(parts: &[ResponsePart], random: &mut Random) -> Vec<Message> {
    let calls = parts.iter().filter_map(|part| match part {
        ResponsePart::ToolCall(call) => Some(call),
        _ => None,
    });
    let is_complete = random.one_in(2);
    let mut given: Vec<_> = calls.filter(|_| is_complete || !random.one_in(3)).cloned().collect();
    if random.one_in(6) {
        given.push(call(random));
    }
    if random.one_in(4) {
        given.reverse();
    }
    let mut result = |call: &ToolCall| {
        let files = (0..random.below(3).saturating_sub(1)).map(|_| file(random)).collect::<Vec<_>>();
        ToolResult::new(call, random.text()).with_error(random.one_in(3)).with_attachments(files)
    };
    let results: Vec<_> = given.iter().map(&mut result).collect();
    let size = if random.one_in(5) { 1 } else { 8 };
    results.chunks(size).map(|results| Message::Tool { results: results.to_vec() }).collect()
}

/// A conversation as it may be after anything that happens to it.
fn history(random: &mut Random, with_files: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    for _ in 0..=random.below(5) {
        if !random.one_in(5) {
            messages.push(user(random, with_files));
        }
        let parts: Vec<_> = (0..random.below(5)).map(|_| part(random)).collect();
        let results = results(&parts, random);
        messages.push(Message::Assistant { parts });
        messages.extend(results);
    }
    match random.below(7) {
        // Cut anywhere.
        0 => drop(messages.drain(..random.below(messages.len()))),
        1 => messages.truncate(1 + random.below(messages.len())),
        2 => drop(messages.remove(random.below(messages.len()))),
        // Compacted.
        3 => drop(messages.splice(..random.below(messages.len()), [Message::user("Notes.")])),
        // The same part twice.
        4 => messages.extend_from_within(random.below(messages.len())..),
        _ => {}
    }
    if random.one_in(2) {
        // Saved and loaded.
        let saved = serde_json::to_string(&messages).unwrap();
        messages = serde_json::from_str(&saved).unwrap();
    }
    if random.one_in(4) && messages.is_empty() {
        messages.push(Message::user("Hello!"));
    }
    messages
}

fn findings(model: &str, body: &Value) -> Vec<String> {
    match model {
        "gpt-4.1" => responses::check(body, false),
        "gpt-5" => responses::check(body, true),
        "claude-fable-5-1" => anthropic::check(body, false),
        "claude-opus-4-1" => anthropic::check(body, true),
        "gemini-2.5-flash" => gemini::check(body, false),
        "gemini-3-pro" => gemini::check(body, true),
        "mistral" => chat::check(body, true),
        _ => chat::check(body, false),
    }
}

fn settings(random: &mut Random) -> Settings {
    let thinking = *random.pick(&[None, Some(ThinkingLevel::Off), Some(ThinkingLevel::High)]);
    Settings { thinking, ..Settings::default() }
}

#[test]
fn no_provider_refuses_what_is_sent_of_a_history() {
    let number = std::env::var(VARIABLE).ok().map_or(HISTORIES, |number| number.parse().unwrap());
    let mut all = Vec::new();
    for seed in 0..number {
        let random = &mut Random(seed);
        let (messages, settings) = (history(random, false), settings(random));
        let request = Request::new(&messages, &settings);
        for (model, _, send) in &*MODELS {
            let body = send(&request, true).unwrap_or_else(|error| panic!("{model}, {seed}: {error}\n{messages:?}"));
            let body = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{model}, {seed}: {error}\n{body}"));
            let found = findings(model, &body).into_iter().map(|finding| format!("{model}, seed {seed}: {finding}"));
            all.extend(found);
        }
    }
    assert!(all.is_empty(), "{} findings in {number} histories, such as {:#?}", all.len(), &all[..all.len().min(40)]);
}

#[test]
fn a_history_is_sent_unchanged_as_it_grows() {
    for seed in 0..HISTORIES / 15 {
        let random = &mut Random(seed);
        let (messages, settings) = (history(random, false), settings(random));
        let mut transcript = Transcript::default();
        for message in messages {
            transcript.push(message);
            let request = Request::new(&transcript, &settings);
            for (model, _, send) in &*MODELS {
                let expected = send(&request, true);
                assert_eq!(send(&request.transcript(&transcript), true), expected, "{model}, {seed}");
            }
        }
    }
}

#[test]
fn a_file_of_the_user_is_sent_as_it_is_or_refused_by_name() {
    for seed in 0..HISTORIES / 15 {
        let random = &mut Random(seed);
        let file = file(random);
        let messages = [Message::User { parts: vec![UserPart::Attachment(file.clone())] }];
        let settings = Settings::default();
        for (model, _, send) in &*MODELS {
            match send(&Request::new(&messages, &settings), true) {
                Ok(body) => {
                    let body = serde_json::from_str(&body).unwrap();
                    let findings = findings(model, &body);
                    assert!(findings.is_empty(), "{model}, {seed}: {findings:#?}\n{body}");
                }
                Err(error) => {
                    let is_named = error.contains(&format!("of type `{}`", file.media_type()));
                    assert!(is_named && error.contains(file.name().unwrap_or("an attachment")), "{model}: {error}");
                }
            }
        }
    }
}
