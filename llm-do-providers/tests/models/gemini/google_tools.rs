//! Server-side tools of Google: their inputs and outputs.

use llm_do_providers::{ProviderData, Response, ResponsePart, ServerSideToolUse, StreamEvent};
use serde_json::{Value, json};

use crate::gemini::{answer_of, body, model, piece, stream_answer_of};
use crate::question::{events, whole};
use crate::server::{Reply, Server};

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn used(name: &str, input: &Value, output: &Value, data: Value) -> ResponsePart {
    let used = ServerSideToolUse::new(name, input.clone(), output.clone());
    ResponsePart::ServerSideTool(used.with_provider_data(ProviderData::new("gemini", data)))
}

/// The answer and the events of a response with this grounding metadata beside its text.
async fn noted(key: &str, notes: &Value) -> (Response, Vec<StreamEvent>) {
    let mut first = piece(&json!([{"text": "Spain"}]));
    let mut last = piece(&json!([{"text": " won."}]));
    last["candidates"][0][key] = notes.clone();
    last["candidates"][0]["finishReason"] = "STOP".into();
    first["candidates"][0][key] = json!({});
    let stream = Reply::stream().event(&first.to_string()).event(&last.to_string()).end();
    let mut answer = body(&json!([{"text": "Spain won."}]), "STOP");
    answer["candidates"][0][key] = notes.clone();
    let server = Server::scripted([Reply::json(200, &answer), stream]).await;
    let model = model(&server).build().unwrap();
    let response = whole(&model).await.unwrap();
    let mut events: Vec<_> = events(&model).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(streamed)) = events.pop() else { panic!("{events:?}") };
    assert_eq!(streamed.parts, response.parts);
    (response, events)
}

/// By <https://ai.google.dev/gemini-api/docs/google-search#response>.
#[tokio::test]
async fn a_web_search_has_its_queries_and_sources() {
    let notes = json!({
        "webSearchQueries": ["who won euro 2024"],
        "searchEntryPoint": {"renderedContent": "<div/>"},
        "groundingChunks": [{"web": {"uri": "https://vertexaisearch.example/1", "title": "uefa.com"}}],
        "groundingSupports": [{"segment": {"startIndex": 0, "endIndex": 10, "text": "Spain won."}, "groundingChunkIndices": [0]}]
    });
    let (response, events) = noted("groundingMetadata", &notes).await;
    let input = json!({"queries": ["who won euro 2024"]});
    let search = ServerSideToolUse::new("web_search", input.clone(), notes);
    assert_eq!(response.parts, [text("Spain won."), ResponsePart::ServerSideTool(search)]);
    assert_eq!(events[2], StreamEvent::ServerSideTool { name: "web_search".into(), input });
}

/// By <https://ai.google.dev/gemini-api/docs/url-context#understanding_the_response>.
#[tokio::test]
async fn fetched_pages_are_listed() {
    let page = json!({"retrievedUrl": "https://a.example/", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"});
    let notes = json!({"urlMetadata": [page]});
    let (response, events) = noted("urlContextMetadata", &notes).await;
    let input = json!({"urls": ["https://a.example/"]});
    let fetch = ServerSideToolUse::new("web_fetch", input.clone(), notes);
    assert_eq!(response.parts, [text("Spain won."), ResponsePart::ServerSideTool(fetch)]);
    assert_eq!(events[2], StreamEvent::ServerSideTool { name: "web_fetch".into(), input });
}

/// By <https://ai.google.dev/gemini-api/docs/code-execution>.
#[tokio::test]
async fn executed_code_has_its_result() {
    let code = json!({"language": "PYTHON", "code": "print(1)"});
    let result = json!({"outcome": "OUTCOME_OK", "output": "1\n"});
    let parts = json!([
        {"text": "So:"}, {"executableCode": code, "thoughtSignature": "QQ=="}, {"codeExecutionResult": result}, {"text": "1."}
    ]);
    let data = json!({
        "asked": {"as": "executableCode", "thoughtSignature": "QQ=="}, "answered": {"as": "codeExecutionResult"}
    });
    let expected = [text("So:"), used("code_execution", &code, &result, data), text("1.")];
    assert_eq!(answer_of(parts.clone(), "STOP").await.parts, expected);
    let pieces: Vec<_> = parts.as_array().unwrap().iter().map(|part| json!([part])).collect();
    assert_eq!(stream_answer_of(pieces, "STOP").await.parts, expected);
}

/// By <https://ai.google.dev/api/caching#Outcome>.
#[tokio::test]
async fn a_stream_emits_the_start_and_the_end_of_code() {
    let code = json!({"language": "PYTHON", "code": "1/0"});
    let result = json!({"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"});
    let [first, mut last] =
        [json!([{"executableCode": code}]), json!([{"codeExecutionResult": result}])].map(|parts| piece(&parts));
    last["candidates"][0]["finishReason"] = "STOP".into();
    let stream = Reply::stream().event(&first.to_string()).event(&last.to_string()).end();
    let server = Server::scripted([stream]).await;
    let mut events: Vec<_> = events(&model(&server).build().unwrap()).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(response)) = events.pop() else { panic!("{events:?}") };
    let (name, error) = (std::sync::Arc::from("code_execution"), Some("OUTCOME_FAILED".to_owned()));
    let expected = [
        StreamEvent::ServerSideTool { name: std::sync::Arc::clone(&name), input: code.clone() },
        StreamEvent::ServerSideToolDone { name, input: code, error: error.clone() },
    ];
    assert_eq!(events, expected);
    let [ResponsePart::ServerSideTool(used)] = &response.parts[..] else { panic!("{response:?}") };
    assert_eq!(used.error, error);
}

/// By <https://ai.google.dev/api/generate-content#UrlRetrievalStatus>.
#[tokio::test]
async fn a_fetch_without_a_readable_page_has_failed() {
    let page = |status: &str| json!({"retrievedUrl": "https://a.example/", "urlRetrievalStatus": status});
    let (lost, read) = ("URL_RETRIEVAL_STATUS_ERROR", "URL_RETRIEVAL_STATUS_SUCCESS");
    for (statuses, expected) in [(vec![lost, lost], Some(lost)), (vec![lost, read], None), (vec![read, lost], None)] {
        let pages: Vec<_> = statuses.iter().map(|status| page(status)).collect();
        let (response, _) = noted("urlContextMetadata", &json!({"urlMetadata": pages})).await;
        let Some(ResponsePart::ServerSideTool(used)) = response.parts.last() else { panic!("{response:?}") };
        assert_eq!(used.error.as_deref(), expected, "{statuses:?}");
    }
}

/// By <https://ai.google.dev/gemini-api/docs/tool-combination>.
#[tokio::test]
async fn calls_of_googles_tools_are_uses_and_grounding_metadata_is_not() {
    let call = |id: &str| json!({"id": id, "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}});
    let given = |id: &str| json!({"id": id, "toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "s"}});
    let fetch = json!({"id": "t3", "toolType": "URL_CONTEXT", "args": {}});
    let parts = json!([
        {"toolCall": call("t1"), "thoughtSignature": "QQ=="}, {"toolResponse": given("t1")},
        {"toolCall": call("t2")}, {"toolCall": fetch}, {"toolResponse": given("t2")}
    ]);
    let mut answer = body(&parts, "STOP");
    answer["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": ["x"]});
    let server = Server::scripted([Reply::json(200, &answer)]).await;
    let response = whole(&model(&server).build().unwrap()).await.unwrap();
    let asked = json!({"asked": {"as": "toolCall"}});
    let both = json!({"asked": {"as": "toolCall", "thoughtSignature": "QQ=="}, "answered": {"as": "toolResponse"}});
    let notes = ProviderData::new("gemini", json!({"groundingMetadata": {"webSearchQueries": ["x"]}}));
    let expected = [
        used("web_search", &call("t1"), &given("t1"), both),
        used("web_search", &call("t2"), &Value::Null, asked.clone()),
        used("web_fetch", &fetch, &Value::Null, asked),
        used("web_search", &Value::Null, &given("t2"), json!({"answered": {"as": "toolResponse"}})),
        ResponsePart::Opaque(notes),
    ];
    assert_eq!(response.parts, expected);
}
