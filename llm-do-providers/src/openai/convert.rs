//! From our terms to those of the wire and back.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::json;

use super::parts;
use super::strict::strict;
use super::wire::{
    Call, CalledFunction, ChatMessage, ChatRequest, Choose, Function, JsonSchema, Named, StreamOptions, Tokens, Tool,
    Typed, WebSearchOptions,
};
use crate::error::ProviderError;
use crate::message::{FinishReason, Message, ResponsePart, ToolCall, ToolResult};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::settings::ThinkingLevel;
use crate::usage::Usage;

/// How a server wants to be asked, where servers differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Whether the limit on tokens is called `max_completion_tokens`, or `max_tokens` as it was first.
    pub(super) completion_limit: bool,
}

/// Returns what asks `model` for an answer to `request`, whole or streamed.
///
/// # Errors
///
/// Returns an error if the request holds a file that the protocol has no place for.
pub(super) fn chat<'a>(
    model: &'a str,
    request: &Request<'a>,
    dialect: Dialect,
    stream: bool,
) -> Result<ChatRequest<'a>, ProviderError> {
    let settings = request.settings;
    let (new, old) = if dialect.completion_limit { (settings.max_tokens, None) } else { (None, settings.max_tokens) };
    Ok(ChatRequest {
        model,
        messages: messages(request)?,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(request),
        response_format: request.output.map(response_format),
        web_search_options: (!request.server_side_tools.is_empty()).then_some(WebSearchOptions {}),
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_tokens: old,
        max_completion_tokens: new,
        seed: settings.seed,
        stop: &settings.stop,
        presence_penalty: settings.presence_penalty,
        frequency_penalty: settings.frequency_penalty,
        reasoning_effort: settings.thinking.map(effort),
        // Servers refuse it without tools.
        parallel_tool_calls: settings.parallel_tool_calls.filter(|_| !request.tools.is_empty()),
        service_tier: settings.service_tier.as_deref(),
        stream: stream.then_some(true),
        stream_options: stream.then_some(StreamOptions { include_usage: true }),
    })
}

/// Returns the word for a level, of those on <https://platform.openai.com/docs/guides/reasoning>; there are none for numbers
/// of tokens, so that those go as what is near.
pub(crate) fn effort(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Tokens(0) => "none",
        ThinkingLevel::Minimal => "minimal",
        ThinkingLevel::Low | ThinkingLevel::Tokens(..=2048) => "low",
        ThinkingLevel::Medium | ThinkingLevel::Tokens(..=8192) => "medium",
        ThinkingLevel::High | ThinkingLevel::Tokens(_) => "high",
    }
}

fn messages<'a>(request: &Request<'a>) -> Result<Vec<ChatMessage<'a>>, ProviderError> {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    messages.extend(request.instructions.map(|content| ChatMessage::System { content }));
    for message in request.messages {
        match message {
            Message::User { parts } => messages.push(parts::user(parts)?),
            Message::Assistant { parts } => messages.push(assistant(parts)),
            Message::Tool { results } => {
                messages.extend(results.iter().map(tool_result));
                messages.extend(parts::attached(results)?);
            }
        }
    }
    Ok(messages)
}

fn tool_result(result: &ToolResult) -> ChatMessage<'_> {
    ChatMessage::Tool { tool_call_id: &result.call_id, content: &result.content }
}

/// Thoughts are not sent back, nor what other protocols brought: servers refuse or ignore them.
fn assistant(parts: &[ResponsePart]) -> ChatMessage<'_> {
    let mut text = Cow::Borrowed("");
    let mut tool_calls = Vec::new();
    for part in parts {
        match part {
            ResponsePart::Text { text: more } => text += more.as_str(),
            ResponsePart::Thinking(_)
            | ResponsePart::ServerSideTool(_)
            | ResponsePart::Attachment(_)
            | ResponsePart::Opaque(_) => {}
            ResponsePart::ToolCall(made) => tool_calls.push(call(made)),
        }
    }
    let content = (!text.is_empty() || tool_calls.is_empty()).then_some(text);
    ChatMessage::Assistant { content, tool_calls }
}

fn call(call: &ToolCall) -> Call<'_> {
    let function = CalledFunction { name: &call.name, arguments: arguments(&call.arguments) };
    Call { id: &call.id, function: Typed::Function { function } }
}

/// Many servers parse the arguments of earlier calls and fail at what a model once wrote wrongly.
pub(crate) fn arguments(text: &str) -> Cow<'_, str> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => text.into(),
        Err(_) if text.trim().is_empty() => "{}".into(),
        Err(_) => json!({ "invalid_json": text }).to_string().into(),
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    let function = Function { name: &spec.name, description: &spec.description, parameters: &spec.parameters };
    Typed::Function { function }
}

/// Servers refuse a choice among no tools.
fn tool_choice<'a>(request: &Request<'a>) -> Option<Choose<Typed<Named<'a>>>> {
    if request.tools.is_empty() {
        return None;
    }
    match request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(Choose::Word("required")),
        ToolChoice::None => Some(Choose::Word("none")),
        ToolChoice::Tool(name) => Some(Choose::Tool(Typed::Function { function: Named { name } })),
    }
}

fn response_format(output: &OutputSchema) -> Typed<JsonSchema<'_>> {
    let strict = strict(&output.schema);
    let json_schema = JsonSchema {
        name: &output.name,
        strict: strict.is_some(),
        schema: strict.map_or(Cow::Borrowed(&*output.schema), Cow::Owned),
    };
    Typed::JsonSchema { json_schema }
}

/// Returns our reason for the server's word, if it gives one.
pub(super) fn finish_reason(word: &str) -> Option<FinishReason> {
    match word {
        "" => None,
        "stop" => Some(FinishReason::Stop),
        "tool_calls" | "function_call" => Some(FinishReason::ToolCalls),
        "length" => Some(FinishReason::Length),
        "content_filter" => Some(FinishReason::ContentFilter),
        _ => Some(FinishReason::Other),
    }
}

/// Returns the usage of one request.
pub(super) fn usage(tokens: Tokens) -> Usage {
    let prompt = tokens.prompt_tokens_details.unwrap_or_default();
    let completion = tokens.completion_tokens_details.unwrap_or_default();
    Usage {
        cached_tokens: prompt.cached_tokens.count(),
        cache_write_tokens: prompt.cache_write_tokens.count(),
        reasoning_tokens: completion.reasoning_tokens.count(),
        ..Usage::of_request(tokens.prompt_tokens.count(), tokens.completion_tokens.count())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Dialect, chat};
    use crate::attachment::Attachment;
    use crate::message::{Message, ResponsePart, Thinking, ToolCall, ToolResult, UserPart};
    use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
    use crate::settings::Settings;

    const NEW: Dialect = Dialect { completion_limit: true };
    const OLD: Dialect = Dialect { completion_limit: false };

    fn sent(request: &Request<'_>, dialect: Dialect, stream: bool) -> Value {
        serde_json::to_value(chat("m", request, dialect, stream).unwrap()).unwrap()
    }

    fn sent_messages(messages: &[Message]) -> Value {
        sent(&Request::new(messages, &Settings::default()), NEW, false)["messages"].clone()
    }

    fn text(text: &str) -> ResponsePart {
        ResponsePart::Text { text: text.into() }
    }

    fn made(id: &str, arguments: &str) -> ToolCall {
        ToolCall::new(id, "add", arguments)
    }

    fn call(arguments: &str) -> ResponsePart {
        ResponsePart::ToolCall(made("c1", arguments))
    }

    #[test]
    fn a_bare_request_sends_nothing_unasked() {
        let settings = Settings::default();
        let request = Request::new(&[], &settings).tool_choice(ToolChoice::Required);
        assert_eq!(sent(&request, NEW, false), json!({"model": "m", "messages": []}));
    }

    #[test]
    fn a_streamed_request_asks_for_usage() {
        let body = sent(&Request::new(&[], &Settings::default()), NEW, true);
        assert_eq!(body["stream"], true);
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
    }

    #[test]
    fn instructions_are_the_system_message() {
        let settings = Settings::default();
        let request = Request::new(&[], &settings).instructions(Some("be brief"));
        assert_eq!(sent(&request, NEW, false)["messages"], json!([{"role": "system", "content": "be brief"}]));
    }

    #[test]
    fn several_user_parts_stay_several() {
        let part = |text: &str| UserPart::Text { text: text.into() };
        let messages = [Message::user("a"), Message::User { parts: vec![part("b"), part("c")] }];
        let parts = json!([{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]);
        let expected = json!([{"role": "user", "content": "a"}, {"role": "user", "content": parts}]);
        assert_eq!(sent_messages(&messages), expected);
    }

    #[test]
    fn calls_and_their_results_carry_the_same_id() {
        let result = |id: &str| ToolResult::new(&made(id, "{}"), "3");
        let messages = [
            Message::Assistant { parts: vec![ResponsePart::Thinking(Thinking::new("hm")), call("{\"a\":1}")] },
            Message::Tool { results: vec![result("c1"), result("c2")] },
            Message::Assistant { parts: vec![text("3"), text("!")] },
            Message::Assistant { parts: vec![] },
        ];
        let function = json!({"name": "add", "arguments": "{\"a\":1}"});
        let expected = json!([
            {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
            {"role": "assistant", "content": "3!"},
            {"role": "assistant", "content": ""},
        ]);
        assert_eq!(sent_messages(&messages), expected);
    }

    #[test]
    fn files_of_results_follow_all_results_of_the_turn() {
        let file = |data: &str| Attachment::new("image/png", data);
        let result = |id: &str| ToolResult::new(&made(id, "{}"), "3");
        let results = vec![
            result("c1").with_attachments([file("a").named("a.png"), file("b")]),
            result("c2"),
            result("c3").with_attachments([Attachment::new("text/plain", "c").named("c.txt")]),
        ];
        let messages = [Message::Tool { results }, Message::Assistant { parts: vec![text("ok")] }];
        let parts = json!([
            {"type": "text", "text": "File `a.png`, from the tool `add`:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ=="}},
            {"type": "text", "text": "File of type `image/png`, from the tool `add`:"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,Yg=="}},
            {"type": "text", "text": "File `c.txt`, from the tool `add`:"},
            {"type": "text", "text": "File `c.txt`:\nc"},
        ]);
        let expected = json!([
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
            {"role": "tool", "tool_call_id": "c3", "content": "3"},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "ok"},
        ]);
        assert_eq!(sent_messages(&messages), expected);
    }

    #[test]
    fn arguments_of_earlier_calls_are_always_json() {
        for (written, expected) in [("", "{}"), ("{\"a\"", r#"{"invalid_json":"{\"a\""}"#), ("[1]", "[1]")] {
            let messages = sent_messages(&[Message::Assistant { parts: vec![call(written)] }]);
            assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], expected);
        }
    }

    #[test]
    fn tools_and_the_choice_among_them_are_sent() {
        let parameters = Arc::new(json!({"type": "object"}));
        let tools = [ToolSpec { name: "add".into(), description: "Adds.".into(), parameters }];
        let settings = Settings::default();
        let request = Request::new(&[], &settings).tools(&tools);
        let choices = [
            (ToolChoice::Auto, Value::Null),
            (ToolChoice::None, json!("none")),
            (ToolChoice::Required, json!("required")),
            (ToolChoice::Tool("add"), json!({"type": "function", "function": {"name": "add"}})),
        ];
        for (choice, expected) in choices {
            let body = sent(&request.tool_choice(choice), NEW, false);
            assert_eq!(body["tool_choice"], expected);
            let function = json!({"name": "add", "description": "Adds.", "parameters": {"type": "object"}});
            assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
        }
    }

    #[test]
    fn an_output_schema_is_strict_only_if_it_qualifies() {
        let loose = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let output = OutputSchema { name: "out".into(), schema: Arc::new(loose.clone()) };
        let settings = Settings::default();
        let body = sent(&Request::new(&[], &settings).output(Some(&output)), NEW, false);
        let json_schema = json!({"name": "out", "strict": false, "schema": loose});
        assert_eq!(body["response_format"], json!({"type": "json_schema", "json_schema": json_schema}));

        let schema = Arc::new(json!({"type": "object", "properties": {}}));
        let output = OutputSchema { name: "out".into(), schema };
        let body = sent(&Request::new(&[], &settings).output(Some(&output)), NEW, false);
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    }

    #[test]
    fn the_limit_on_tokens_has_the_name_that_the_server_knows() {
        let settings = Settings { max_tokens: Some(5), stop: vec!["x".into()], seed: Some(1), ..Settings::default() };
        let request = Request::new(&[], &settings);
        let body = json!({"model": "m", "messages": [], "stop": ["x"], "seed": 1, "max_completion_tokens": 5});
        assert_eq!(sent(&request, NEW, false), body);
        let body = json!({"model": "m", "messages": [], "stop": ["x"], "seed": 1, "max_tokens": 5});
        assert_eq!(sent(&request, OLD, false), body);
    }
}
