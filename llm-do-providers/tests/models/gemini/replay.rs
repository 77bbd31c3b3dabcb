//! Parts that are sent back byte for byte, and parts that are not.

use llm_do_providers::{
    Attachment, Message, Model, ProviderData, Request, ResponsePart, ServerSideToolUse, Settings, Thinking, ToolCall,
    ToolResult,
};
use serde_json::{Value, json};

use crate::gemini::{body, model, named, sent_by, stream_of};
use crate::question::{streamed, whole};
use crate::server::{Reply, Server};

/// Every kind of part that an answer has, with signatures, by <https://ai.google.dev/gemini-api/docs/thought-signatures>.
fn rich() -> Vec<Value> {
    vec![
        json!({"text": "Hm", "thought": true, "thoughtSignature": "U2lnbmF0dXJlIDE="}),
        json!({"text": "So: ", "thoughtSignature": "U2lnbmF0dXJlIDI="}),
        json!({"text": "well"}),
        json!({"executableCode": {"language": "PYTHON", "code": "print(1)", "id": "e1"}, "thoughtSignature": "U2lnbmF0dXJlIDM="}),
        json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n", "id": "e1"}}),
        json!({"inlineData": {"mimeType": "image/png", "data": "aGkh"}, "thoughtSignature": "U2lnbmF0dXJlIDQ="}),
        json!({"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}, "thoughtSignature": "U2lnbmF0dXJlIDU="}),
        json!({"text": "between"}),
        json!({"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}, "thoughtSignature": "U2lnbmF0dXJlIDY="}),
        json!({"telepathy": {"b": 1, "a": [1.50]}, "thoughtSignature": "U2lnbmF0dXJlIDc="}),
        json!({"functionCall": {"id": "f1", "name": "add", "args": {"z": 1.0, "a": 1}}, "thoughtSignature": "U2lnbmF0dXJlIDg="}),
        json!({"functionCall": {"id": "f2", "name": "add", "args": {}}}),
        json!({"text": "", "thoughtSignature": "U2lnbmF0dXJlIDk="}),
    ]
}

#[tokio::test]
async fn an_answer_goes_back_as_it_came_whole_and_streamed() {
    let fine = Reply::json(200, &body(&json!([{"text": "fine"}]), "STOP"));
    let stream = stream_of(rich().into_iter().map(|part| json!([part])), "STOP");
    let replies = [Reply::json(200, &body(&json!(rich()), "STOP")), fine.clone(), stream, fine];
    let server = Server::scripted(replies).await;
    let model = model(&server).build().unwrap();
    let settings = Settings::default();
    for streams in [false, true] {
        let response = if streams { streamed(&model).await.unwrap() } else { whole(&model).await.unwrap() };
        // Saved and loaded again.
        let saved = serde_json::to_string(&response.parts).unwrap();
        let parts: Vec<ResponsePart> = serde_json::from_str(&saved).unwrap();
        let results = response.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
        let messages = [Message::user("hi"), Message::Assistant { parts }, Message::Tool { results }];
        model.request(Request::new(&messages, &settings)).await.unwrap();
        let contents = server.requests().pop().unwrap().body["contents"].take();
        assert_eq!(contents[1]["role"], "model");
        for (part, came) in contents[1]["parts"].as_array().unwrap().iter().zip(rich()) {
            assert_eq!(part.to_string(), came.to_string());
        }
        assert_eq!(contents[1]["parts"].as_array().unwrap().len(), rich().len());
        let response = |id: &str| json!({"functionResponse": {"id": id, "name": "add", "response": {"output": "3"}}});
        assert_eq!(contents[2], json!({"role": "user", "parts": [response("f1"), response("f2")]}));
    }
}

#[tokio::test]
async fn generated_ids_are_not_sent() {
    let call = ToolCall::new("call_1_0", "add", "{\"a\":1}");
    let messages = [
        Message::user("hi"),
        Message::Assistant { parts: vec![ResponsePart::ToolCall(call.clone())] },
        Message::Tool { results: vec![ToolResult::new(&call, "3").with_error(true)] },
    ];
    let sent = sent_by("gemini-2.5-flash", Request::new(&messages, &Settings::default())).await;
    let made = json!({"functionCall": {"name": "add", "args": {"a": 1}}});
    let given = json!({"functionResponse": {"name": "add", "response": {"error": "3"}}});
    assert_eq!(sent["contents"][1], json!({"role": "model", "parts": [made]}));
    assert_eq!(sent["contents"][2], json!({"role": "user", "parts": [given]}));
}

#[tokio::test]
async fn results_are_objects_with_exact_numbers() {
    let call = ToolCall::new("c", "add", "{}");
    let cases = [
        ("3", json!("3")),
        ("plain", json!("plain")),
        ("{\"b\": 1.50, \"a\": [null]}", json!({"b": 1.5, "a": [null]})),
        ("[1]", json!([1])),
        ("{\"id\": 12345678901234567}", json!("{\"id\": 12345678901234567}")),
        ("{cut", json!("{cut")),
        ("", json!("")),
    ];
    for (content, expected) in cases {
        let results = vec![ToolResult::new(&call, content)];
        let answer = Message::Assistant { parts: vec![ResponsePart::ToolCall(call.clone())] };
        let messages = [Message::user("hi"), answer, Message::Tool { results }];
        let sent = sent_by("gemini-3-flash", Request::new(&messages, &Settings::default())).await;
        assert_eq!(
            sent["contents"][2]["parts"][0]["functionResponse"]["response"],
            json!({"output": expected}),
            "{content}"
        );
    }
}

#[tokio::test]
async fn arguments_of_earlier_calls_are_always_objects() {
    let cases =
        [("", json!({})), ("{\"a\"", json!({"invalid_json": "{\"a\""})), ("[1]", json!({"invalid_json": "[1]"}))];
    for (written, expected) in cases {
        let call = ResponsePart::ToolCall(ToolCall::new("c", "add", written));
        let messages = [Message::user("hi"), Message::Assistant { parts: vec![call] }];
        let sent = sent_by("gemini-2.5-flash", Request::new(&messages, &Settings::default())).await;
        assert_eq!(sent["contents"][1]["parts"][0]["functionCall"]["args"], expected, "{written}");
    }
}

#[tokio::test]
async fn messages_of_other_providers_are_sent_without_their_data() {
    let theirs = ProviderData::new("anthropic", json!({"thoughtSignature": "secret", "id": "secret", "part": {}}));
    let call = |id: &str| ResponsePart::ToolCall(ToolCall::new(id, "add", "{}").with_provider_data(theirs.clone()));
    let parts = vec![
        ResponsePart::Thinking(Thinking::new("secret").with_provider_data(theirs.clone())),
        ResponsePart::Thinking(Thinking::new("secret")),
        ResponsePart::Text { text: "So:".into() },
        ResponsePart::Opaque(theirs.clone()),
        ResponsePart::ServerSideTool(
            ServerSideToolUse::new("web_search", json!("secret"), json!("secret")).with_provider_data(theirs.clone()),
        ),
        ResponsePart::Attachment(Attachment::new("application/zip", "secret")),
        call("c1"),
        call("c2"),
    ];
    let messages = [Message::user("hi"), Message::Assistant { parts }];
    let (settings, made) = (Settings::default(), json!({"functionCall": {"name": "add", "args": {}}}));
    let sent = sent_by("gemini-2.5-flash", Request::new(&messages, &settings)).await;
    assert_eq!(sent["contents"][1]["parts"], json!([{"text": "So:"}, made, made]));
    // Version 3 rejects calls if the first one has no signature.
    let sent = sent_by("gemini-3-flash", Request::new(&messages, &settings)).await;
    let mut first = made.clone();
    first["thoughtSignature"] = json!("skip_thought_signature_validator");
    assert_eq!(sent["contents"][1]["parts"], json!([{"text": "So:"}, first, made]));
}

#[tokio::test]
async fn a_signature_without_its_part_is_sent_alone() {
    let signature = ResponsePart::Opaque(ProviderData::new("gemini", json!({"thoughtSignature": "QQ=="})));
    let messages = [Message::user("hi"), Message::Assistant { parts: vec![signature] }];
    let sent = sent_by("gemini-3-flash", Request::new(&messages, &Settings::default())).await;
    assert_eq!(sent["contents"][1]["parts"], json!([{"text": "", "thoughtSignature": "QQ=="}]));
}

#[tokio::test]
async fn grounding_metadata_is_not_sent_back() {
    let mut answer = body(&json!([{"text": "Spain."}]), "STOP");
    answer["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": ["who"]});
    let server = Server::scripted([Reply::json(200, &answer), Reply::json(200, &answer)]).await;
    let model = named(&server, "gemini-2.5-flash").build().unwrap();
    let parts = whole(&model).await.unwrap().parts;
    assert_eq!(parts.len(), 2);
    let messages = [Message::user("hi"), Message::Assistant { parts }];
    model.request(Request::new(&messages, &Settings::default())).await.unwrap();
    assert_eq!(server.requests()[1].body["contents"][1]["parts"], json!([{"text": "Spain."}]));
}
