//! Requests of those who may not: refused, and nothing secret in what is answered or stored.

use std::time::Instant;

use llm_do::serve::{Client, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

const ANN: &str = "ann-0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef";
const WATCHER: &str = "watcher-0123456789ab";
const ADMIN: &str = "admin-0123456789abcd";

/// Ann and a watcher are of one tenant, Bob is of another.
fn clients(service: Service) -> Service {
    let client = |name: &str, token| Client::new(name.to_owned(), token).unwrap();
    let all = [Role::Start, Role::Watch, Role::Decide];
    let ann = all.into_iter().fold(client("ann", ANN), Client::role).tenant("web");
    let bob = all.into_iter().fold(client("bob", BOB), Client::role);
    let watcher = client("watcher", WATCHER).role(Role::Watch).tenant("web");
    let admin = client("admin", ADMIN).role(Role::Administer);
    [ann, bob, watcher, admin].into_iter().fold(service, Service::client)
}

async fn send(server: &Server, method: Method, path: &str, token: &str, body: Option<Value>) -> (StatusCode, Value) {
    let mut request = server.request(method, path).bearer_auth(token);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    (response.status(), json_of(response).await)
}

/// Sends bytes as they are, and returns the answer.
async fn send_raw(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn ask_approval(server: &Server, token: &str) -> (String, Value) {
    let body = json!({ "entry": "write_lines", "arguments": { "lines": ["a"] } });
    let (status, run) = send(server, Method::POST, "/runs", token, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let id = run["id"].as_str().unwrap().to_owned();
    loop {
        let (_, list) = send(server, Method::GET, "/approvals", token, None).await;
        if let Some(shown) = list["waiting"].as_array().unwrap().first() {
            return (id, shown.clone());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_a_valid_token_are_refused() {
    let server = Setup::new().serve_with(clients).await;
    for path in [
        "/runs",
        "/runs/1",
        "/runs/1/events",
        "/runs/1/records",
        "/approvals",
        "/questions",
        "/chats",
        "/entries",
        "/hybrids",
        "/metrics",
    ] {
        for authorization in ["", "Bearer", "Bearer ", "Bearer wrong", "Basic YW5uOg==", ANN, "Bearer ann", "bearer  "]
        {
            let response =
                server.request(Method::GET, path).header("authorization", authorization).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path} {authorization}");
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
        }
    }
    for path in ["/health", "/ready", "/openapi.json"] {
        assert_eq!(server.request(Method::GET, path).send().await.unwrap().status(), StatusCode::OK, "{path}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_does_only_what_its_roles_allow() {
    let server = Setup::new().serve_with(clients).await;
    let (id, shown) = ask_approval(&server, ANN).await;
    let approval = format!("/approvals/{}", shown["id"].as_str().unwrap());
    let decision = json!({ "digest": shown["digest"], "decision": "approve" });
    for (method, path, body) in [
        (Method::POST, "/runs".to_owned(), Some(json!({ "entry": "greet", "arguments": { "name": "a" } }))),
        (Method::POST, format!("/runs/{id}/cancel"), None),
        (Method::POST, format!("/runs/{id}/resume"), None),
        (Method::POST, approval, Some(decision)),
        (Method::POST, "/chats".to_owned(), Some(json!({ "entry": "meet" }))),
        (Method::GET, "/metrics".to_owned(), None),
    ] {
        let (status, problem) = send(&server, method, &path, WATCHER, body).await;
        assert_eq!(
            (status, &problem["type"]),
            (StatusCode::FORBIDDEN, &json!("urn:llm-do:problem:forbidden")),
            "{path}"
        );
    }
    let (status, _) = send(&server, Method::GET, &format!("/runs/{id}"), WATCHER, None).await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = send(&server, Method::GET, &format!("/runs/{id}"), ADMIN, None).await;
    assert_eq!(status, StatusCode::OK);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_tenant_looks_as_if_it_did_not_exist() {
    let setup = Setup::new();
    let server = setup.serve_with(clients).await;
    let (id, shown) = ask_approval(&server, ANN).await;
    let (_, chat) = send(&server, Method::POST, "/chats", ANN, Some(json!({ "entry": "meet" }))).await;
    let (chat, approval) = (chat["id"].as_str().unwrap(), shown["id"].as_str().unwrap());
    let decision = json!({ "digest": shown["digest"], "decision": "approve" });
    for (method, path, body) in [
        (Method::GET, format!("/runs/{id}"), None),
        (Method::GET, format!("/runs/{id}/events"), None),
        (Method::GET, format!("/runs/{id}/records"), None),
        (Method::POST, format!("/runs/{id}/cancel"), None),
        (Method::POST, format!("/runs/{id}/resume"), None),
        (Method::GET, format!("/approvals/{approval}"), None),
        (Method::POST, format!("/approvals/{approval}"), Some(decision.clone())),
        (Method::POST, format!("/questions/{approval}"), Some(json!({ "digest": "a", "answer": "a" }))),
        (Method::GET, format!("/chats/{chat}"), None),
        (Method::POST, format!("/chats/{chat}/messages"), Some(json!({ "arguments": {} }))),
    ] {
        let guessed = path.replace(&id, "0198").replace(approval, "0198").replace(chat, "0198");
        let theirs = send(&server, method.clone(), &path, BOB, body.clone()).await;
        assert_eq!(theirs.0, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(theirs, send(&server, method, &guessed, BOB, body).await, "{path}");
    }
    for path in ["/runs", "/approvals", "/questions", "/chats"] {
        let (_, list) = send(&server, Method::GET, path, BOB, None).await;
        assert!(list.as_object().unwrap().values().all(|value| value.as_array().is_none_or(Vec::is_empty)), "{list}");
    }
    assert!(setup.lines.all().is_empty());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_is_replayed_or_stale_has_no_effect() {
    let setup = Setup::new();
    let server = setup.serve_with(clients).await;
    let body = json!({ "entry": "write_lines", "arguments": { "lines": ["a", "b"] } });
    let (_, run) = send(&server, Method::POST, "/runs", ANN, Some(body)).await;
    let first = loop {
        let (_, list) = send(&server, Method::GET, "/approvals", ANN, None).await;
        if let Some(shown) = list["waiting"].as_array().unwrap().first() {
            break shown.clone();
        }
    };
    let path = format!("/approvals/{}", first["id"].as_str().unwrap());
    let decision = json!({ "digest": first["digest"], "decision": "approve" });
    assert_eq!(send(&server, Method::POST, &path, ANN, Some(decision.clone())).await.0, StatusCode::OK);
    let second = loop {
        let (_, list) = send(&server, Method::GET, "/approvals", ANN, None).await;
        if let Some(shown) = list["waiting"].as_array().unwrap().iter().find(|shown| shown["id"] != first["id"]) {
            break shown.clone();
        }
    };
    // The same decision again, and the decision about the first call for the second one.
    assert_eq!(send(&server, Method::POST, &path, ANN, Some(decision.clone())).await.0, StatusCode::CONFLICT);
    let other = format!("/approvals/{}", second["id"].as_str().unwrap());
    assert_eq!(send(&server, Method::POST, &other, ANN, Some(decision)).await.0, StatusCode::CONFLICT);
    assert_eq!(setup.lines.all(), ["a"]);
    let (_, run) = send(&server, Method::GET, &format!("/runs/{}", run["id"].as_str().unwrap()), ANN, None).await;
    assert_ne!(run["state"], "succeeded");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_too_large_or_no_json_are_refused() {
    let server = Setup::new().serve_with(|service| clients(service).max_body_bytes(1000)).await;
    let large = json!({ "entry": "greet", "arguments": { "name": "x".repeat(2000) } });
    let (status, _) = send(&server, Method::POST, "/runs", ANN, Some(large)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let start = || server.request(Method::POST, "/runs").bearer_auth(ANN);
    // What a form of another web page can send.
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let request = start().header("content-type", content_type).body(r#"{"entry":"greet"}"#);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type}");
    }
    for body in ["", "{", "null", "[1]", "{\"entry\":\"greet\"} {}", &"[".repeat(900)] {
        let request = start().header("content-type", "application/json").body(body.to_owned());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_that_never_finishes_the_head_of_a_request_is_disconnected() {
    let server = Setup::new().serve_with(clients).await;
    let mut slow = TcpStream::connect(&server.address).await.unwrap();
    slow.write_all(b"GET /runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
    let begun = Instant::now();
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(30), slow.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    // Other clients were served meanwhile.
    assert_eq!(send(&server, Method::GET, "/runs", ANN, None).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_reads_its_answers_is_disconnected() {
    let server = Setup::new().serve_with(clients).await;
    let mut deaf = TcpStream::connect(&server.address).await.unwrap();
    let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    // Fails once the service has closed the connection: before, it reads no further since its answers are not read.
    let refused = async { while deaf.write_all(request.as_bytes()).await.is_ok() {} };
    assert!(tokio::time::timeout(Duration::from_secs(40), refused).await.is_ok());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_hold_all_connections_by_streams_of_events() {
    let server = Setup::new().serve_with(clients).await;
    let (id, _) = ask_approval(&server, ANN).await;
    let follow = |token| server.request(Method::GET, &format!("/runs/{id}/events")).bearer_auth(token).send();
    let mut streams = Vec::new();
    for _ in 0..128 {
        streams.push(follow(ANN).await.unwrap());
    }
    assert!(streams.iter().all(|stream| stream.status() == StatusCode::OK));
    assert_eq!(follow(ANN).await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(follow(WATCHER).await.unwrap().status(), StatusCode::OK);
    drop(streams);
    while follow(ANN).await.unwrap().status() != StatusCode::OK {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_hosts_and_pages_of_other_origins_are_refused() {
    let server = Setup::new().serve_with(|service| clients(service).host("runs.example.com")).await;
    let address = &server.address;
    for (headers, status) in [
        (format!("Host: {address}"), "200"),
        ("Host: runs.example.com".to_owned(), "200"),
        ("Host: runs.example.com\r\nOrigin: https://runs.example.com".to_owned(), "200"),
        ("Host: RUNS.Example.com".to_owned(), "200"),
        ("Host: LOCALHOST".to_owned(), "200"),
        ("X-Host: localhost".to_owned(), "400"),
        ("Host: evil.example.com".to_owned(), "421"),
        ("Host: runs.example.com.evil.example.com".to_owned(), "421"),
        (format!("Host: {address}\r\nOrigin: https://evil.example.com"), "403"),
        (format!("Host: {address}\r\nOrigin: null"), "403"),
        (format!("Host: {address}\r\nOrigin: http://{address}.evil.example.com"), "403"),
    ] {
        let request =
            format!("GET /runs HTTP/1.1\r\n{headers}\r\nAuthorization: Bearer {ANN}\r\nConnection: close\r\n\r\n");
        let answer = send_raw(&server, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {answer}");
    }
    let preflight = server.request(Method::OPTIONS, "/runs").header("access-control-request-method", "POST");
    let response = preflight.send().await.unwrap();
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_paths_that_try_to_escape_are_data() {
    let server = Setup::new().serve_with(clients).await;
    for path in [
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/1'%20OR%20'1'='1",
        "/runs/1%0d%0aset-cookie:%20a=b",
        "/approvals/%00",
        "/chats/%25s%25n",
        "/webhooks/..%2fruns",
        "/runs/%ff",
        "/runs/x/../../y",
    ] {
        let response = server.request(Method::GET, path).bearer_auth(ANN).send().await.unwrap();
        assert!(response.status().is_client_error(), "{path}: {}", response.status());
        assert!(!response.headers().contains_key("set-cookie"), "{path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json", "{path}");
    }
    let entry = "greet\r\nset-cookie: a=b\u{1b}[31m'; DROP TABLE runs; --";
    let (status, problem) = send(&server, Method::POST, "/runs", ANN, Some(json!({ "entry": entry }))).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("urn:llm-do:problem:unknown_entry"))
    );
    assert_eq!(send(&server, Method::GET, "/runs", ANN, None).await.0, StatusCode::OK);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_neither_stored_nor_shown() {
    let setup = Setup::new();
    let server = setup.serve_with(clients).await;
    let (id, _) = ask_approval(&server, ANN).await;
    let mut shown = String::new();
    for path in ["/runs", &format!("/runs/{id}"), "/approvals", "/metrics", "/openapi.json"] {
        shown += &server.request(Method::GET, path).bearer_auth(ADMIN).send().await.unwrap().text().await.unwrap();
    }
    server.stop().await;
    for file in std::fs::read_dir(setup.folder.path()).unwrap() {
        match std::fs::read(file.unwrap().path()) {
            Ok(stored) => shown += &String::from_utf8_lossy(&stored),
            // The last connection that closes removes the log of writes.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
    }
    let debugged = format!("{:?}", clients(setup.service()));
    for token in [ANN, BOB, WATCHER, ADMIN] {
        assert!(!shown.contains(token) && !debugged.contains(token));
    }
}

#[tokio::test]
async fn a_service_listens_beyond_this_machine_only_with_clients_and_a_host() {
    let listener = || async { TcpListener::bind("0.0.0.0:0").await.unwrap() };
    let setup = Setup::new();
    let open = setup.open(setup.service()).await;
    let refused = open.serve(listener().await, CancellationToken::new()).await.unwrap_err();
    assert!(refused.to_string().contains("add clients with tokens"), "{refused}");
    let refused =
        setup.open(clients(setup.service())).await.serve(listener().await, CancellationToken::new()).await.unwrap_err();
    assert!(refused.to_string().contains("set the accepted hosts"), "{refused}");
}

#[tokio::test]
async fn two_clients_with_one_token_are_refused() {
    let setup = Setup::new();
    let service = clients(setup.service()).client(Client::new("eve", ANN).unwrap().role(Role::Administer));
    let error = service.open(setup.folder.path().join("runs.db")).await.unwrap_err().to_string();
    assert!(error.contains("`ann` and `eve`") && !error.contains(ANN), "{error}");
}

#[test]
fn a_token_that_can_be_guessed_is_refused() {
    for (token, fault) in [("short", "has 5 characters"), ("0123456789abcde\n", "invalid characters"), ("", "has 0")] {
        let error = Client::new("a", token).unwrap_err().to_string();
        assert!(error.contains(fault) && (token.is_empty() || !error.contains(token)), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_may_only_start_runs_gets_no_results_and_no_arguments() {
    const STARTER: &str = "starter-0123456789ab";
    let setup = Setup::new();
    let starter = Client::new("starter", STARTER).unwrap().role(Role::Start).tenant("web");
    let server = setup.serve_with(|service| clients(service).client(starter)).await;
    let (id, _) = ask_approval(&server, ANN).await;
    let brief = |state: &str| json!({ "id": id, "state": state });
    let (status, run) = send(&server, Method::POST, &format!("/runs/{id}/cancel"), STARTER, None).await;
    assert!(status.is_success());
    assert_eq!(run, brief(run["state"].as_str().unwrap()));
    while send(&server, Method::GET, &format!("/runs/{id}"), ANN, None).await.1["state"] != "cancelled" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (_, run) = send(&server, Method::POST, &format!("/runs/{id}/resume"), STARTER, None).await;
    assert_eq!(run, brief(run["state"].as_str().unwrap()));

    let body = json!({ "entry": "greet", "arguments": { "name": "Ann" } });
    let start =
        |token| server.request(Method::POST, "/runs").bearer_auth(token).header("idempotency-key", "k").json(&body);
    let run = json_of(start(ANN).send().await.unwrap()).await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    while send(&server, Method::GET, &path, ANN, None).await.1["state"] != "succeeded" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let known = json_of(start(STARTER).send().await.unwrap()).await;
    assert_eq!(known, json!({ "id": run["id"], "state": "succeeded" }));
    server.stop().await;
}
