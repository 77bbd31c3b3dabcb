//! Answers, the same complete and streamed.

use llm_do_providers::{Attachment, FinishReason, ProviderData, ResponsePart, StreamEvent, Thinking, ToolCall};
use serde_json::{Value, json};

use crate::gemini::{answer_of, model, stream_answer_of, stream_of};
use crate::question::{events, whole};
use crate::server::{Reply, Server};

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn data(data: Value) -> ProviderData {
    ProviderData::new("gemini", data)
}

#[tokio::test]
async fn a_text_is_the_same_complete_and_streamed() {
    let response = answer_of(json!([{"text": "Hello, world"}]), "STOP").await;
    assert_eq!(response.parts, [text("Hello, world")]);
    assert_eq!((response.finish, response.model.as_str()), (FinishReason::Stop, "gemini-3-flash-001"));
    let usage = response.usage;
    assert_eq!(
        (usage.requests, usage.input_tokens, usage.cached_tokens),
        (1, 13, 2),
        "what Google's tools read is read"
    );
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (9, 5), "thoughts are not among the candidate's tokens");
    let pieces = [json!([{"text": "Hello"}]), json!([{"text": ""}]), json!([{"text": ", world"}]), json!([])];
    assert_eq!(stream_answer_of(pieces, "STOP").await, response);
}

#[tokio::test]
async fn chunks_are_emitted_as_events() {
    let pieces = [
        json!([{"text": "Hm", "thought": true}]),
        json!([{"text": "So:"}]),
        json!([
            {"functionCall": {"name": "add", "args": {"a": 1}, "id": "f1"}}, {"functionCall": {"name": "add", "args": {"a": 2}, "id": "f2"}}
        ]),
    ];
    let server = Server::scripted([stream_of(pieces, "STOP")]).await;
    let events: Vec<_> = events(&model(&server).build().unwrap()).await.into_iter().map(Result::unwrap).collect();
    let call =
        |index, arguments: &str| StreamEvent::ToolCall { index, name: "add".into(), arguments: arguments.into() };
    let expected = [
        StreamEvent::Thinking("Hm".into()),
        StreamEvent::Text("So:".into()),
        call(0, "{\"a\":1}"),
        call(1, "{\"a\":2}"),
    ];
    assert_eq!(events[..4], expected);
    assert!(matches!(&events[4..], [StreamEvent::Done(_)]), "{events:?}");
}

#[tokio::test]
async fn calls_keep_their_ids_or_get_some() {
    let parts = json!([
        {"functionCall": {"name": "add", "args": {"a": 1}, "id": "f1"}},
        {"functionCall": {"name": "now"}},
        {"functionCall": {"name": "now", "args": null, "id": ""}},
    ]);
    let response = answer_of(parts.clone(), "STOP").await;
    assert_eq!(response.finish, FinishReason::ToolCalls, "although the server sends `STOP`");
    let calls: Vec<_> = response.tool_calls().cloned().collect();
    let own = ToolCall::new("f1", "add", "{\"a\":1}").with_provider_data(data(json!({"id": "f1"})));
    assert_eq!(calls, [own, ToolCall::new("call_1_1", "now", "{}"), ToolCall::new("call_1_2", "now", "{}")]);
    let pieces = parts.as_array().unwrap().iter().map(|part| json!([part])).collect::<Vec<_>>();
    assert_eq!(stream_answer_of(pieces, "STOP").await, response);
}

#[tokio::test]
async fn arguments_are_unchanged() {
    let response =
        stream_answer_of([json!([{"functionCall": {"name": "add", "args": {"z": 1.0, "a": 1e2}}}])], "STOP").await;
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"z\":1.0,\"a\":100.0}");
}

#[tokio::test]
async fn signatures_stay_with_their_parts() {
    let parts = json!([
        {"text": "Hm", "thought": true},
        {"text": "so.", "thought": true, "thoughtSignature": "QQ=="},
        {"text": "Well", "thoughtSignature": "Qg=="},
        {"text": ", yes"},
        {"functionCall": {"name": "add", "args": {}, "id": "f1"}, "thoughtSignature": "Qw=="},
        {"text": "", "thoughtSignature": "RA=="},
    ]);
    let expected = [
        ResponsePart::Thinking(Thinking::new("Hm")),
        ResponsePart::Thinking(Thinking::new("so.").with_provider_data(data(json!({"thoughtSignature": "QQ=="})))),
        text("Well"),
        ResponsePart::Opaque(data(json!({"thoughtSignature": "Qg=="}))),
        text(", yes"),
        ResponsePart::ToolCall(
            ToolCall::new("f1", "add", "{}").with_provider_data(data(json!({"id": "f1", "thoughtSignature": "Qw=="}))),
        ),
        ResponsePart::Opaque(data(json!({"part": {"text": "", "thoughtSignature": "RA=="}}))),
    ];
    assert_eq!(answer_of(parts.clone(), "STOP").await.parts, expected);
    let pieces = parts.as_array().unwrap().iter().map(|part| json!([part])).collect::<Vec<_>>();
    assert_eq!(stream_answer_of(pieces, "STOP").await.parts, expected);
}

#[tokio::test]
async fn a_signed_text_is_not_merged_with_an_unsigned_one() {
    let pieces = [json!([{"text": "a"}]), json!([{"text": "b", "thoughtSignature": "QQ=="}]), json!([{"text": "c"}])];
    let response = stream_answer_of(pieces, "STOP").await;
    let signature = ResponsePart::Opaque(data(json!({"thoughtSignature": "QQ=="})));
    assert_eq!(response.parts, [text("a"), text("b"), signature, text("c")]);
    assert_eq!(response.text(), "abc");
}

#[tokio::test]
async fn images_are_attachments_and_their_drafts_are_not() {
    let image = json!({"mimeType": "image/png", "data": "aGkh"});
    let parts = json!([
        {"inlineData": image, "thought": true},
        {"text": "Here:"},
        {"inlineData": image, "thoughtSignature": "QQ=="},
    ]);
    let expected = [
        text("Here:"),
        ResponsePart::Attachment(Attachment::new("image/png", "hi!")),
        ResponsePart::Opaque(data(json!({"thoughtSignature": "QQ=="}))),
    ];
    assert_eq!(answer_of(parts.clone(), "STOP").await.parts, expected);
    assert_eq!(stream_answer_of([parts], "STOP").await.parts, expected);
}

#[tokio::test]
async fn a_part_of_an_unknown_kind_is_kept() {
    let part = json!({"telepathy": {"a": 1}, "thoughtSignature": "QQ=="});
    let response = answer_of(json!([{"text": "a"}, part, {}]), "STOP").await;
    assert_eq!(response.parts, [text("a"), ResponsePart::Opaque(data(json!({"part": part})))]);
}

#[tokio::test]
async fn each_finish_reason_is_mapped() {
    let cases = [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::ContentFilter),
        ("RECITATION", FinishReason::ContentFilter),
        ("BLOCKLIST", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("SPII", FinishReason::ContentFilter),
        ("IMAGE_SAFETY", FinishReason::ContentFilter),
        ("LANGUAGE", FinishReason::Other),
        ("OTHER", FinishReason::Other),
        ("SOMETHING_NEW", FinishReason::Other),
    ];
    for (word, reason) in cases {
        assert_eq!(answer_of(json!([{"text": "a"}]), word).await.finish, reason, "{word}");
        assert_eq!(stream_answer_of([json!([{"text": "a"}])], word).await.finish, reason, "{word}");
    }
}

#[tokio::test]
async fn a_filtered_answer_is_empty() {
    let response = stream_answer_of([Value::Null], "SAFETY").await;
    assert_eq!((response.finish, response.parts.len()), (FinishReason::ContentFilter, 0));
}

#[tokio::test]
async fn a_call_that_may_be_truncated_is_dropped() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let response = answer_of(json!([call("first"), call("last")]), "MAX_TOKENS").await;
    assert_eq!(response.finish, FinishReason::Length);
    assert_eq!(response.tool_calls().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["first"]);
}

#[tokio::test]
async fn usage_figures_missing_in_later_chunks_are_kept() {
    let piece = |usage: Value| json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": usage});
    let mut last = piece(json!({"candidatesTokenCount": 4}));
    last["candidates"][0]["finishReason"] = json!("STOP");
    let reply = crate::server::Reply::stream()
        .event(&piece(json!({"promptTokenCount": 9, "cachedContentTokenCount": 8})).to_string())
        .event(&last.to_string())
        .end();
    let server = Server::scripted([reply]).await;
    let usage = crate::gemini::streamed(&model(&server).build().unwrap()).await.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens), (9, 8, 4));
}

/// By <https://ai.google.dev/api/generate-content#FinishReason> (read 2026-11-22): a call although no tool was offered.
#[tokio::test]
async fn a_readable_unexpected_call_is_a_call() {
    let call = json!([{"functionCall": {"name": "no_such_tool", "args": {"a": 1}}}]);
    let response = answer_of(call.clone(), "UNEXPECTED_TOOL_CALL").await;
    let calls: Vec<_> = response.tool_calls().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!((calls, response.finish), (vec![("no_such_tool", "{\"a\":1}")], FinishReason::ToolCalls));
    let streamed = stream_answer_of([json!([{"text": "Hm."}]), call, json!([])], "UNEXPECTED_TOOL_CALL").await;
    assert_eq!((streamed.tool_calls().count(), streamed.finish), (1, FinishReason::ToolCalls));
}

/// By <https://ai.google.dev/api/generate-content#UsageMetadata> (read 2026-11-22).
#[tokio::test]
async fn audio_tokens_are_counted_separately() {
    let usage = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 4,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 30}, {"modality": "AUDIO", "tokenCount": 70}],
        "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 25}, {"modality": "TEXT", "tokenCount": 15}]
    });
    let mut body = crate::gemini::body(&json!([{"text": "fine"}]), "STOP");
    body["usageMetadata"] = usage;
    let server = Server::scripted([crate::server::Reply::json(200, &body)]).await;
    let usage = crate::gemini::whole(&model(&server).build().unwrap()).await.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens), (100, 40));
    assert_eq!((usage.audio_tokens, usage.cached_audio_tokens), (70, 25));
}

#[tokio::test]
async fn calls_without_a_finish_reason_finish_with_other() {
    let mut body = crate::gemini::body(&json!([{"functionCall": {"name": "add"}}]), "");
    for reason in [json!(null), json!("FINISH_REASON_UNSPECIFIED")] {
        body["candidates"][0]["finishReason"] = reason;
        let server = Server::scripted([Reply::json(200, &body)]).await;
        let response = whole(&model(&server).build().unwrap()).await.unwrap();
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Other, 1));
    }
}
