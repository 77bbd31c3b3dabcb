//! Sessions, tasks and calls that ask belong to the client that opened them.

use llm_do::mcp::HttpOptions;
use reqwest::{Method, RequestBuilder, StatusCode};

use super::http::listen;
use super::*;

const TOKENS: [&str; 2] = ["ann-token", "bob-token"];

/// A request to a session, as a client of the handshake sends it.
fn request(address: &str, method: Method, token: &str, session: &str) -> RequestBuilder {
    let request = reqwest::Client::new().request(method, format!("http://{address}/mcp"));
    let request = if token.is_empty() { request } else { request.bearer_auth(token) };
    let request = request.header("accept", "application/json, text/event-stream");
    let request = request.header("mcp-protocol-version", "2025-11-25");
    if session.is_empty() { request } else { request.header("mcp-session-id", session) }
}

fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

/// Initialises a session; returns its id.
async fn session(address: &str, token: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "t", "version": "1" },
    });
    let response =
        request(address, Method::POST, token, "").json(&message("initialize", &params)).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let noted = request(address, Method::POST, token, &id).json(&note).send().await.unwrap();
    assert_eq!(noted.status(), StatusCode::ACCEPTED);
    id
}

/// All that can be sent to a session.
fn attempts(address: &str, token: &str, session: &str) -> Vec<(&'static str, RequestBuilder)> {
    let post = |name, body: Value| (name, request(address, Method::POST, token, session).json(&body));
    let method = |name, params: Value| post(name, message(name, &params));
    let answer =
        json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept", "content": { "decision": "allow" } } });
    let error = json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": -1, "message": "no" } });
    let note = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    vec![
        method("tools/list", json!({})),
        method("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })),
        method(
            "tools/call",
            json!({ "name": "delete", "arguments": { "path": "a" }, "_meta": { "progressToken": 1 } }),
        ),
        method("prompts/list", json!({})),
        method("logging/setLevel", json!({ "level": "debug" })),
        method(
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "welcome" }, "argument": { "name": "name", "value": "" } }),
        ),
        method("ping", json!({})),
        post("the answer to an approval", answer),
        post("an error in place of an answer", error),
        post("a cancellation", note("notifications/cancelled", json!({ "requestId": 7 }))),
        post("progress", note("notifications/progress", json!({ "progressToken": 1, "progress": 1 }))),
        ("the stream", request(address, Method::GET, token, session)),
        ("the stream from an event", request(address, Method::GET, token, session).header("last-event-id", "0")),
        ("an earlier answer", request(address, Method::GET, token, session).header("last-event-id", "0/0")),
        ("the end", request(address, Method::DELETE, token, session)),
    ]
}

/// Who may use a service.
fn options() -> Vec<(&'static str, HttpOptions)> {
    let is_known = |token: &str| TOKENS.contains(&token);
    let name = move |token: &str| is_known(token).then(|| token.split('-').next().unwrap_or_default().to_owned());
    vec![
        ("check_token", HttpOptions::default().check_token(is_known)),
        ("authenticate", HttpOptions::default().authenticate(name)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn to_another_valid_token_a_session_looks_as_if_it_did_not_exist() {
    for (name, options) in options() {
        let address = listen(serving(|builder| builder), options).await;
        let id = session(&address, TOKENS[0]).await;
        let unknown = format!("{}x", &id[..id.len() - 1]);
        let theirs = attempts(&address, TOKENS[1], &id).into_iter();
        let guessed = attempts(&address, TOKENS[1], "b5f0dc3e-3c0f-4bd0-8f65-2a3c5e6a7d11").into_iter();
        for (((attempt, theirs), (_, guessed)), (_, forged)) in
            theirs.zip(guessed).zip(attempts(&address, TOKENS[0], &unknown))
        {
            let theirs = theirs.send().await.unwrap();
            assert_eq!(theirs.status(), StatusCode::NOT_FOUND, "{name}: {attempt}");
            let headers = |response: &reqwest::Response| {
                let names = response.headers().keys().filter(|name| *name != "date");
                names.map(ToString::to_string).collect::<Vec<_>>()
            };
            for other in [guessed.send().await.unwrap(), forged.send().await.unwrap()] {
                assert_eq!((other.status(), headers(&other)), (theirs.status(), headers(&theirs)), "{attempt}");
            }
            assert_eq!(theirs.text().await.unwrap(), "Not Found: Session not found", "{name}: {attempt}");
        }
        // It is as it was for its own client.
        let call = message("tools/call", &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
        let own = request(&address, Method::POST, TOKENS[0], &id).json(&call).send().await.unwrap();
        assert_eq!(own.status(), StatusCode::OK, "{name}");
        assert!(own.text().await.unwrap().contains("\"3\""));
        let end = |token| request(&address, Method::DELETE, token, &id).send();
        assert!(end(TOKENS[0]).await.unwrap().status().is_success());
        assert_eq!(end(TOKENS[0]).await.unwrap().status(), StatusCode::NOT_FOUND, "it has ended");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_other_client_answers_what_a_session_asks() {
    for (name, options) in options() {
        let address = listen(serving(|builder| builder), options).await;
        let id = session(&address, TOKENS[0]).await;
        let call = message("tools/call", &json!({ "name": "delete", "arguments": { "path": "a" } }));
        let mut calling = request(&address, Method::POST, TOKENS[0], &id).json(&call).send().await.unwrap();
        let mut shown = String::new();
        while !shown.contains("elicitation/create") {
            shown += &String::from_utf8_lossy(&calling.chunk().await.unwrap().unwrap());
        }
        let asked: Value = shown
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
            .next_back()
            .unwrap();
        let answer = |token, decision: &str| {
            let content = json!({ "decision": decision });
            let answer =
                json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": content } });
            request(&address, Method::POST, token, &id).json(&answer).send()
        };
        assert_eq!(answer(TOKENS[1], "allow").await.unwrap().status(), StatusCode::NOT_FOUND, "{name}");
        assert_eq!(answer(TOKENS[0], "deny").await.unwrap().status(), StatusCode::ACCEPTED);
        let mut rest = String::new();
        while let Some(chunk) = calling.chunk().await.unwrap() {
            rest += &String::from_utf8_lossy(&chunk);
            if rest.contains("\"result\"") {
                break;
            }
        }
        assert!(!rest.contains("deleted a") && rest.contains("denied"), "{name}: {rest}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_token_ends_nothing_but_can_do_nothing_and_a_renewed_one_of_the_same_owner_continues() {
    let valid = Arc::new(Mutex::new(vec![("old", "ann"), ("bob", "bob")]));
    let known = Arc::clone(&valid);
    let owner = move |token: &str| {
        let known = known.lock().unwrap();
        known.iter().find(|(known, _)| *known == token).map(|(_, owner)| (*owner).to_owned())
    };
    let address = listen(serving(|builder| builder), HttpOptions::default().authenticate(owner)).await;
    let id = session(&address, "old").await;
    let list = |token| request(&address, Method::POST, token, &id).json(&message("tools/list", &json!({}))).send();
    *valid.lock().unwrap() = vec![("new", "ann"), ("bob", "bob")];
    assert_eq!(list("old").await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(list("bob").await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(list("new").await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_the_same_in_each_form_of_its_header() {
    let address = listen(serving(|builder| builder), HttpOptions::default().token("secret")).await;
    let id = session(&address, "secret").await;
    for header in ["Bearer secret", "bearer secret", "BEARER  secret "] {
        let list = request(&address, Method::POST, "", &id).header("authorization", header);
        let list = list.json(&message("tools/list", &json!({}))).send().await.unwrap();
        assert_eq!(list.status(), StatusCode::OK, "{header}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_a_session_belongs_to_who_has_its_id() {
    let address = listen(serving(|builder| builder), HttpOptions::default()).await;
    let id = session(&address, "").await;
    for (attempt, request) in attempts(&address, "", &id) {
        if attempt.starts_with("tools/list") || attempt == "ping" || attempt == "the end" {
            let status = request.send().await.unwrap().status();
            assert!(status.is_success(), "{attempt}: {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_answers_and_a_task_belong_to_who_started_them() {
    let modern = |token: &str, address: &str, method: &str, mut params: Value, name: &str| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        let request = reqwest::Client::new().post(format!("http://{address}/mcp")).bearer_auth(token.to_owned());
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method.to_owned());
        let request = if name.is_empty() { request } else { request.header("mcp-name", name.to_owned()) };
        request.json(&message(method, &params)).send()
    };
    for (name, options) in options() {
        let address = listen(serving(|builder| builder), options).await;
        let call = json!({ "name": "delete", "arguments": { "path": "a" } });
        let asked =
            modern(TOKENS[0], &address, "tools/call", call.clone(), "delete").await.unwrap().text().await.unwrap();
        let asked: Value = asked
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok())
            .find(|message: &Value| message["result"]["requestState"].is_string())
            .unwrap_or_else(|| panic!("{asked}"));
        let mut answered = call;
        answered["requestState"] = asked["result"]["requestState"].clone();
        let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        answered["inputResponses"] = json!({ key: { "action": "accept", "content": { "decision": "allow" } } });
        let theirs =
            modern(TOKENS[1], &address, "tools/call", answered.clone(), "delete").await.unwrap().text().await.unwrap();
        assert!(!theirs.contains("deleted a") && theirs.contains("invalid `requestState`"), "{name}: {theirs}");
        let own = modern(TOKENS[0], &address, "tools/call", answered, "delete").await.unwrap().text().await.unwrap();
        assert!(own.contains("deleted a"), "{name}: {own}");
    }
}

/// Opens sessions of one service.
struct Opening {
    client: reqwest::Client,
    address: String,
}

impl Opening {
    async fn at(options: HttpOptions) -> Self {
        let address = listen(serving(|builder| builder), options).await;
        Self { client: reqwest::Client::new(), address }
    }

    /// Sends `initialize` with this description of the client.
    async fn open_as(&self, token: &str, name: &str, capabilities: Value) -> reqwest::Response {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": name, "version": "1" },
        });
        let request = self.client.post(format!("http://{}/mcp", self.address));
        let request = if token.is_empty() { request } else { request.bearer_auth(token) };
        let request = request.header("accept", "application/json, text/event-stream");
        request.json(&message("initialize", &params)).send().await.unwrap()
    }

    async fn open(&self, token: &str) -> reqwest::Response {
        self.open_as(token, "t", json!({})).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_a_maximum_of_sessions_and_other_clients_have_theirs() {
    let opening = Opening::at(HttpOptions::default().check_token(|token| TOKENS.contains(&token))).await;
    let mut sessions = Vec::new();
    for _ in 0..250 {
        let opened = opening.open(TOKENS[0]).await;
        assert_eq!(opened.status(), StatusCode::OK);
        sessions.push(opened.headers()["mcp-session-id"].to_str().unwrap().to_owned());
    }
    let refused = opening.open(TOKENS[0]).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "60");
    assert!(!refused.headers().contains_key("mcp-session-id"));
    let text = refused.text().await.unwrap();
    assert!(text.starts_with("limit reached: 250 sessions of this client are open"), "{text}");
    assert_eq!(opening.open(TOKENS[1]).await.status(), StatusCode::OK, "another client");
    let end = request(&opening.address, Method::DELETE, TOKENS[0], &sessions[0]).send().await.unwrap();
    assert!(end.status().is_success());
    assert_eq!(opening.open(TOKENS[0]).await.status(), StatusCode::OK, "one has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_has_a_maximum_of_sessions() {
    let opening = Opening::at(HttpOptions::default()).await;
    for _ in 0..1000 {
        assert_eq!(opening.open("").await.status(), StatusCode::OK);
    }
    let refused = opening.open("").await;
    assert_eq!(
        (refused.status(), refused.headers()["retry-after"].to_str().unwrap()),
        (StatusCode::SERVICE_UNAVAILABLE, "60")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_describes_itself_by_a_megabyte_gets_no_session() {
    let opening = Opening::at(HttpOptions::default()).await;
    let long = "t".repeat(1 << 20);
    for (name, capabilities) in
        [(long.as_str(), json!({})), ("t", json!({ "experimental": { "x": { "y": long.as_str() } } }))]
    {
        let refused = opening.open_as("", name, capabilities).await;
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert!(!refused.headers().contains_key("mcp-session-id"));
        assert!(refused.text().await.unwrap().ends_with("the maximum is 65536\n"));
    }
}
