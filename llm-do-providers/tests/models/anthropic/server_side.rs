//! Server-side tools: their uses are reported, kept and sent back.
//!
//! By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool> and
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool>.

use llm_do_providers::{
    Message, Model, Request, Response, ResponsePart, ServerSideTool, Settings, StreamEvent, ToolResult, ToolSpec,
};
use serde_json::{Value, json};

use crate::anthropic::{begun, block, ended, hello, message, model, text_block};
use crate::question::{add, events};
use crate::server::{Reply, Server};

const TOOLS: [ServerSideTool; 3] =
    [ServerSideTool::WEB_SEARCH, ServerSideTool::WebFetch, ServerSideTool::CodeExecution];

fn used(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": name, "input": input})
}

fn citation() -> Value {
    json!({"type": "web_search_result_location", "url": "https://e.org", "title": "E", "cited_text": "e",
        "encrypted_index": "Eo8BCioIAhgBIiQ+/=="})
}

/// A search, a failed fetch, code, and text with citations of the search.
fn content() -> Value {
    let found = json!({"type": "web_search_result", "url": "https://e.org", "title": "E", "page_age": null,
        "encrypted_content": "EqgfCioIARgBIiQ3YTAw+/=="});
    let ran =
        json!({"type": "bash_code_execution_result", "stdout": "3\n", "stderr": "", "return_code": 0, "content": []});
    json!([
        {"type": "text", "text": "I search."},
        used("srvtoolu_1", "web_search", &json!({"query": "e"})),
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found], "caller": {"type": "direct"}},
        used("srvtoolu_2", "web_fetch", &json!({"url": "https://e.org/x"})),
        {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_2",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"}},
        used("srvtoolu_3", "bash_code_execution", &json!({"command": "echo 3"})),
        {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_3", "content": ran},
        {"type": "text", "text": "It is e.", "citations": [citation()]},
        {"type": "text", "text": " Or so."},
    ])
}

async fn asked(reply: Reply) -> Response {
    let server = Server::scripted([reply]).await;
    let (messages, settings) = ([Message::user("news?")], Settings::default());
    model(&server).request(Request::new(&messages, &settings).server_side_tools(&TOOLS)).await.unwrap()
}

/// The next request of the conversation: `then` follows the answer.
async fn next(response: Response, then: Message) -> Value {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let messages = [Message::user("news?"), Message::Assistant { parts: response.parts }, then];
    let settings = Settings::default();
    model(&server).request(Request::new(&messages, &settings).server_side_tools(&TOOLS)).await.unwrap();
    server.requests().remove(0).body
}

#[tokio::test]
async fn server_tool_uses_have_their_output() {
    let response = asked(Reply::json(200, &message(&content(), "end_turn"))).await;
    let uses: Vec<_> = response
        .parts
        .iter()
        .filter_map(|part| match part {
            ResponsePart::ServerSideTool(used) => Some((used.name.as_str(), &used.input, &used.output)),
            _ => None,
        })
        .collect();
    assert_eq!(uses.len(), 3);
    assert_eq!((uses[0].0, &uses[0].1["query"], &uses[0].2[0]["title"]), ("web_search", &json!("e"), &json!("E")));
    assert_eq!((uses[1].0, &uses[1].2["error_code"]), ("web_fetch", &json!("url_not_accessible")));
    assert_eq!((uses[2].0, &uses[2].2["stdout"]), ("bash_code_execution", &json!("3\n")));
    let errors = response.parts.iter().filter_map(|part| match part {
        ResponsePart::ServerSideTool(one) => Some(one.error.as_deref()),
        _ => None,
    });
    assert_eq!(errors.collect::<Vec<_>>(), [None, Some("url_not_accessible"), None]);
    assert_eq!(response.text(), "I search.It is e. Or so.");
    assert_eq!(response.tool_calls().count(), 0);
}

#[tokio::test]
async fn uses_results_and_citations_are_sent_back_unchanged() {
    let response = asked(Reply::json(200, &message(&content(), "end_turn"))).await;
    assert_eq!(next(response, Message::user("more")).await["messages"][1]["content"], content());
}

#[tokio::test]
async fn a_stream_emits_a_use_once_its_input_is_complete() {
    let content = content();
    let mut begin = content[1].clone();
    begin["input"] = json!({});
    let pieces = ["{\"que", "ry\": \"e\"}"].map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
    let mut reply = block(text_block(begun(), 0, "I search."), 1, &begin, &pieces);
    reply = block(reply, 2, &content[2], &[]);
    let deltas =
        [json!({"type": "citations_delta", "citation": citation()}), json!({"type": "text_delta", "text": "It is e."})];
    reply = block(reply, 3, &json!({"type": "text", "text": "", "citations": []}), &deltas);
    let server = Server::scripted([ended(reply, "end_turn")]).await;
    let mut events: Vec<_> = events(&model(&server)).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(response)) = events.pop() else { panic!("{events:?}") };
    let expected = [
        StreamEvent::Text("I search.".into()),
        StreamEvent::ServerSideTool { name: "web_search".into(), input: json!({"query": "e"}) },
        StreamEvent::ServerSideToolDone { name: "web_search".into(), input: json!({"query": "e"}), error: None },
        StreamEvent::Text("It is e.".into()),
    ];
    assert_eq!(events, expected);
    let expected = json!([content[0], content[1], content[2], content[7]]);
    assert_eq!(next(response, Message::user("more")).await["messages"][1]["content"], expected);
}

/// By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>, "Errors", and the page on the code
/// execution tool, "Response format".
#[tokio::test]
async fn a_failed_use_has_its_error_code_in_any_position() {
    let content = json!([
        used("srvtoolu_1", "bash_code_execution", &json!({"command": "false"})),
        used("srvtoolu_2", "web_search", &json!({"query": "e"})),
        {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_1",
            "content": {"type": "bash_code_execution_result", "stdout": "", "stderr": "", "return_code": 1, "content": []}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}},
        {"type": "text", "text": "Neither."},
    ]);
    let expected = [("bash_code_execution", "return code 1"), ("web_search", "max_uses_exceeded")];
    let whole = asked(Reply::json(200, &message(&content, "end_turn"))).await;
    let failed = |part: &ResponsePart| match part {
        ResponsePart::ServerSideTool(used) => Some((used.name.clone(), used.error.clone().unwrap())),
        _ => None,
    };
    let failed: Vec<_> = whole.parts.iter().filter_map(failed).collect();
    assert_eq!(failed, expected.map(|(name, error)| (name.to_owned(), error.to_owned())));

    let mut reply = begun();
    for (index, content) in content.as_array().unwrap().iter().enumerate() {
        reply = block(reply, index, content, &[]);
    }
    let server = Server::scripted([ended(reply, "end_turn")]).await;
    let done = events(&model(&server)).await.into_iter().filter_map(|event| match event.unwrap() {
        StreamEvent::ServerSideToolDone { name, error, .. } => Some((name.to_string(), error.unwrap())),
        StreamEvent::Done(streamed) => {
            assert_eq!(streamed.parts, whole.parts);
            None
        }
        _ => None,
    });
    assert_eq!(done.collect::<Vec<_>>(), failed);
}

/// A search started by code: its result is between the code and the result of the code.
#[tokio::test]
async fn results_apart_from_their_uses_keep_their_positions() {
    let content = json!([
        used("srvtoolu_1", "code_execution", &json!({"code": "search()"})),
        used("srvtoolu_2", "web_search", &json!({"query": "e"})),
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": []},
        {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {"stdout": ""}},
        {"type": "text", "text": "Done."},
    ]);
    let response = asked(Reply::json(200, &message(&content, "end_turn"))).await;
    assert_eq!(next(response, Message::user("more")).await["messages"][1]["content"], content);
}

#[tokio::test]
async fn a_pending_use_is_sent_back_only_within_the_turn() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}});
    let content = json!([used("srvtoolu_1", "web_search", &json!({"query": "e"})), call]);
    let response = asked(Reply::json(200, &message(&content, "tool_use"))).await;
    let results = response.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
    let within = next(response, Message::Tool { results }).await;
    assert_eq!(within["messages"][1]["content"], content);

    let content = json!([{"type": "text", "text": "I search."}, content[0]]);
    let cut_off = asked(Reply::json(200, &message(&content, "max_tokens"))).await;
    let after = next(cut_off, Message::user("go on")).await;
    assert_eq!(after["messages"][1]["content"], json!([content[0]]));
}

#[tokio::test]
async fn a_container_is_reused_within_a_turn_only() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}});
    let mut body = message(&json!([call]), "tool_use");
    body["container"] = json!({"id": "container_1", "expires_at": "2026-11-22T00:00:00Z"});
    let response = asked(Reply::json(200, &body)).await;
    let results = response.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
    let within = next(response.clone(), Message::Tool { results }).await;
    assert_eq!(within["container"], "container_1");
    assert_eq!(within["messages"][1]["content"], json!([call]));
    assert!(next(response, Message::user("more")).await.get("container").is_none());
}

/// By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool>.
fn searched() -> Value {
    let found = json!({"type": "tool_search_tool_search_result",
        "tool_references": [{"type": "tool_reference", "tool_name": "add"}]});
    json!([
        {"type": "text", "text": "I search."},
        used("srvtoolu_1", "tool_search_tool_bm25", &json!({"query": "sum"})),
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1, "b": 2}},
    ])
}

#[tokio::test]
async fn deferred_tools_are_searched_by_the_provider_and_come_after_what_is_cached() {
    let server = Server::scripted([Reply::json(200, &message(&searched(), "tool_use"))]).await;
    let (messages, settings) = ([Message::user("1 + 2?")], Settings::new().cache_prompt(true));
    let (tools, deferred) =
        ([ToolSpec { name: "now".into(), ..add() }], [add(), ToolSpec { name: "sub".into(), ..add() }]);
    let request = Request::new(&messages, &settings).tools(&tools).deferred_tools(&deferred);
    let response = model(&server).request(request).await.unwrap();
    assert_eq!(response.tool_calls().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["add"]);
    let body = server.requests().remove(0).body;
    let listed = body["tools"].as_array().unwrap();
    let names: Vec<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["now", "tool_search_tool_bm25", "add", "sub"]);
    assert_eq!(
        listed[1],
        json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25",
            "cache_control": {"type": "ephemeral"}})
    );
    for (tool, is_deferred) in listed.iter().zip([false, false, true, true]) {
        assert_eq!(tool.get("defer_loading"), is_deferred.then_some(&json!(true)), "{tool}");
        assert!(!is_deferred || tool.get("cache_control").is_none(), "the API refuses it: {tool}");
    }
}

#[tokio::test]
async fn what_a_search_found_is_sent_back_as_it_was() {
    let response = asked(Reply::json(200, &message(&searched(), "tool_use"))).await;
    let call = response.tool_calls().next().unwrap().clone();
    let body = next(response, Message::Tool { results: vec![ToolResult::new(&call, "3")] }).await;
    assert_eq!(body["messages"][1]["content"], searched());
}
