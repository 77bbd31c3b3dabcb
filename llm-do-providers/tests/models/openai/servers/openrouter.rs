//! OpenRouter, by <https://openrouter.ai/docs/api/reference/parameters>, <https://openrouter.ai/docs/use-cases/reasoning-tokens>
//! and <https://openrouter.ai/docs/api/reference/errors-and-debugging>.

use super::*;

const OPENROUTER: Server = Server::OpenRouter;
const CLAUDE: &str = "anthropic/claude-sonnet-4.5";

#[tokio::test]
async fn all_settings_are_sent_for_any_model() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "parallel_tool_calls": false, "service_tier": "flex"
    });
    assert_eq!(sent_with(OPENROUTER, "openai/gpt-5", &everything()).await, body);
}

#[tokio::test]
async fn no_cache_breakpoints_are_sent() {
    for (marked, body) in [(true, json!({"cache_control": {"type": "ephemeral"}})), (false, json!({}))] {
        assert_eq!(sent_with(OPENROUTER, CLAUDE, &Settings::new().cache_prompt(marked)).await, body);
    }
    assert_eq!(sent_with(Server::Groq, "m", &Settings::new().cache_prompt(true)).await, json!({}));
}

#[tokio::test]
async fn thinking_is_an_effort_or_a_number_of_tokens() {
    let effort = |word: &str| json!({"reasoning": {"effort": word}});
    let words = ["none", "minimal", "low", "medium", "high"];
    let expected: Vec<_> = words.into_iter().map(effort).chain([json!({"reasoning": {"max_tokens": 4000}})]).collect();
    assert_eq!(levels(OPENROUTER, CLAUDE).await, expected);
}

#[tokio::test]
async fn a_tool_choice_has_the_values_of_openai() {
    let seen = choices(OPENROUTER, CLAUDE, &Settings::new()).await;
    assert_eq!(seen, [(both(), json!("required")), (both(), by_name()), (both(), json!("none"))]);
}

#[tokio::test]
async fn a_call_is_not_forced_on_claude_with_thinking() {
    let free = [(both(), Value::Null), (vec!["sub".to_owned()], Value::Null), (both(), json!("none"))];
    let forced = [(both(), json!("required")), (both(), by_name()), (both(), json!("none"))];
    for (name, level, expected) in [
        (CLAUDE, ThinkingLevel::Low, &free),
        (CLAUDE, ThinkingLevel::Tokens(4000), &free),
        (CLAUDE, ThinkingLevel::Off, &forced),
        ("google/gemini-2.5-flash", ThinkingLevel::Low, &forced),
    ] {
        assert_eq!(choices(OPENROUTER, name, &Settings::new().thinking(level)).await, *expected, "{name} {level:?}");
    }
}

#[tokio::test]
async fn a_schema_is_strict() {
    let form = format(OPENROUTER, "openai/gpt-5").await;
    assert_eq!((&form["type"], &form["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
}

#[tokio::test]
async fn reasoning_details_are_sent_back_byte_for_byte() {
    let details = json!([
        {"type": "reasoning.text", "text": "I \u{e9}\u{1f980}\n", "signature": "Eq/+==", "id": null, "format": "anthropic-claude-v1", "index": 0},
        {"type": "reasoning.text", "text": "and", "signature": null, "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA==", "z": 1.50, "a": {"y": 1, "b": 2}},
        {"type": "reasoning.summary", "summary": "so"},
    ]);
    let message =
        json!({"content": "", "reasoning": "shown", "reasoning_details": details, "tool_calls": called("c1")});
    let (first, back) = turned(OPENROUTER, CLAUDE, reply(&message), false).await;
    assert_eq!(thoughts(&first), "shown");
    let expected = json!({"role": "assistant", "reasoning_details": details, "tool_calls": called("c1")});
    assert_eq!(back.to_string(), expected.to_string());
}

#[tokio::test]
async fn streamed_reasoning_details_are_merged() {
    let piece = |detail: Value| json!({"content": "", "reasoning_details": [detail]});
    let text = |index: u8, text: &str| json!({"type": "reasoning.text", "text": text, "format": "f", "index": index});
    let stream = stream_of(
        [
            piece(text(0, "I ")),
            piece(text(0, "add")),
            piece(json!({"type": "reasoning.text", "signature": "Eq/+==", "format": "f", "index": 0})),
            piece(text(1, "then")),
            piece(json!({"type": "reasoning.encrypted", "data": "gA", "index": 2})),
            piece(json!({"type": "reasoning.encrypted", "data": "AA", "index": 3})),
            json!({"tool_calls": called("c1")}),
        ],
        "tool_calls",
    );
    let (first, back) = turned(OPENROUTER, CLAUDE, stream, true).await;
    assert_eq!(thoughts(&first), "I addthen");
    let details = json!([
        {"type": "reasoning.text", "text": "I add", "format": "f", "index": 0, "signature": "Eq/+=="},
        {"type": "reasoning.text", "text": "then", "format": "f", "index": 1},
        {"type": "reasoning.encrypted", "data": "gA", "index": 2},
        {"type": "reasoning.encrypted", "data": "AA", "index": 3},
    ]);
    let expected = json!({"role": "assistant", "reasoning_details": details, "tool_calls": called("c1")});
    assert_eq!(back.to_string(), expected.to_string());
}

#[tokio::test]
async fn reasoning_details_are_not_sent_to_another_model() {
    let details = json!([{"type": "reasoning.text", "text": "hm", "signature": "s"}]);
    let message = json!({"content": "4", "reasoning_details": details});
    let (first, back) = turned_to(OPENROUTER, (OPENROUTER, "openai/gpt-5"), CLAUDE, reply(&message), false).await;
    assert_eq!(thoughts(&first), "hm");
    assert_eq!(back, json!({"role": "assistant", "content": "4"}));
}

#[tokio::test]
async fn empty_reasoning_details_are_sent_back_with_calls() {
    let message = json!({"content": null, "reasoning_details": [], "tool_calls": called("c1")});
    let back = turned(OPENROUTER, "deepseek/deepseek-v4", reply(&message), false).await.1;
    assert_eq!(back, json!({"role": "assistant", "reasoning_details": [], "tool_calls": called("c1")}));
    let (first, _) = turned(OPENROUTER, CLAUDE, reply(&json!({"content": "4", "reasoning_details": []})), false).await;
    assert_eq!(first.parts, [ResponsePart::Text { text: "4".into() }]);
}

#[tokio::test]
async fn reasoning_details_of_any_shape_are_accepted() {
    for details in [json!("hm"), json!({"a": 1}), json!(null), json!([1, null, "a", [], {"type": 3}])] {
        let message = json!({"content": "4", "reasoning_details": details});
        let (first, _) = turned(OPENROUTER, CLAUDE, reply(&message), false).await;
        assert_eq!(first.text(), "4", "{details}");
        let stream = stream_of(
            [json!({"reasoning_details": details}), json!({"reasoning_details": details, "content": "4"})],
            "stop",
        );
        assert_eq!(turned(OPENROUTER, CLAUDE, stream, true).await.0.text(), "4", "{details}");
    }
}

#[tokio::test]
async fn files_have_the_format_of_openai() {
    assert_eq!(file(OPENROUTER, CLAUDE, image()).await.unwrap(), image_url());
    assert_eq!(file(OPENROUTER, CLAUDE, audio()).await.unwrap(), input_audio());
    let document =
        json!([{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGkh"}}]);
    assert_eq!(file(OPENROUTER, CLAUDE, pdf()).await.unwrap(), document);
}

#[tokio::test]
async fn errors_have_kinds() {
    let error = |code: u16, metadata: Value| json!({"error": {"code": code, "message": "Provider returned error", "metadata": metadata}});
    let flagged =
        json!({"reasons": ["violence"], "flagged_input": "my secret", "provider_name": "OpenAI", "model_slug": "m"});
    fails(OPENROUTER, 403, &error(403, flagged), ErrorKind::ContentFilter, "rephrase the request").await;
    fails(OPENROUTER, 403, &error(403, Value::Null), ErrorKind::Auth, "`OPENROUTER_API_KEY`").await;
    let raw = "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}";
    let long = json!({"raw": raw, "provider_name": "Anthropic"});
    fails(OPENROUTER, 400, &error(400, long), ErrorKind::ContextTooLong, "shorten or summarise it").await;
    fails(OPENROUTER, 402, &error(402, Value::Null), ErrorKind::NoCredit, "no credit left").await;
    fails(OPENROUTER, 502, &error(502, Value::Null), ErrorKind::Unavailable, "try again later").await;
}

#[tokio::test]
async fn an_error_in_a_stream_has_its_kind_and_the_partial_response() {
    let error = json!({
        "id": "gen-1", "object": "chat.completion.chunk", "error": {"code": 429, "message": "my secret"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]
    });
    let first = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    let scripted = Scripted::scripted([Reply::stream()
        .chunk(": OPENROUTER PROCESSING\n\n")
        .event(&first.to_string())
        .event(&error.to_string())
        .end()])
    .await;
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let error =
        answer(&model(OPENROUTER, CLAUDE, &scripted), Request::new(&messages, &settings), true).await.unwrap_err();
    assert_eq!((error.kind(), error.partial_response().unwrap().text().as_str()), (ErrorKind::RateLimited, "a"));
    assert!(!error.to_string().contains("secret"), "{error}");
}
