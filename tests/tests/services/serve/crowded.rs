//! Connections that send nothing, or slowly: they keep no client out.

use std::time::Instant;

use llm_do::mcp::HttpOptions;
use llm_do::serve::{Client, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

const ANN: &str = "ann-0123456789abcdef";
/// Within which a client is answered.
const SOON: Duration = Duration::from_secs(1);

fn clients(service: Service) -> Service {
    let client = Client::new("ann", ANN).unwrap();
    service.client([Role::Start, Role::Watch, Role::Decide].into_iter().fold(client, Client::role))
}

/// Opens connections that send this and no more.
async fn crowd(address: &str, count: usize, begin: &str) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Ignored: it had to make room already.
        let _ = stream.write_all(begin.as_bytes()).await;
        streams.push(stream);
    }
    streams
}

/// Asks by a new connection; returns the status, and how long it took.
async fn asked(server: &Server, path: &str, token: &str) -> (StatusCode, Duration) {
    let begun = Instant::now();
    let request = reqwest::Client::new().get(format!("http://{}{path}", server.address)).bearer_auth(token);
    let response = tokio::time::timeout(Duration::from_secs(30), request.send()).await.unwrap().unwrap();
    (response.status(), begun.elapsed())
}

async fn assert_served(server: &Server, what: &str) {
    for path in ["/health", "/runs", "/entries"] {
        let (status, time) = asked(server, path, ANN).await;
        assert_eq!(status, StatusCode::OK, "{what}: {path}");
        assert!(time < SOON, "{what}: {path} took {time:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_send_no_whole_request_keep_no_client_out() {
    let head = "GET /runs HTTP/1.1\r\nHost: localhost\r\n";
    let body = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    let posted = |path: &str, token: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{body}")
    };
    for (what, begin, count) in [
        ("nothing", String::new(), 1030),
        ("nothing, 3,000 times", String::new(), 3000),
        ("half a head", head.to_owned(), 1030),
        ("half a body", posted("/runs", ANN), 1030),
        ("half a body for a webhook", posted("/webhooks/none", "x"), 1030),
        ("half a body without a valid token", posted("/runs", "wrong"), 1030),
        ("a request and half of another", format!("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n{head}"), 1030),
    ] {
        let server = Setup::new().serve_with(clients).await;
        let crowd = crowd(&server.address, count, &begin).await;
        assert_served(&server, what).await;
        drop(crowd);
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_with_an_answer_in_progress_is_not_closed_for_others() {
    let server = Setup::new().serve_with(|service| clients(service).max_connections(64)).await;
    let started = server.request(Method::POST, "/runs").bearer_auth(ANN);
    let run = json_of(started.json(&json!({ "entry": "nap", "arguments": {} })).send().await.unwrap()).await;
    let path = format!("/runs/{}/events", run["id"].as_str().unwrap());
    let mut events = server.request(Method::GET, &path).bearer_auth(ANN).send().await.unwrap();
    assert!(events.chunk().await.unwrap().is_some());
    let crowd = crowd(&server.address, 500, "GET / HTTP/1.1\r\n").await;
    assert_served(&server, "streams").await;
    let cancelled = server.request(Method::POST, &path.replace("events", "cancel")).bearer_auth(ANN).send();
    assert!(cancelled.await.unwrap().status().is_success());
    let mut rest = String::new();
    while let Some(chunk) = events.chunk().await.unwrap() {
        rest += &String::from_utf8_lossy(&chunk);
    }
    assert!(rest.contains("cancelled"), "{rest}");
    drop(crowd);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_made_room_is_closed_and_a_body_that_pauses_is_refused() {
    let server = Setup::new().serve_with(|service| clients(service).max_connections(8)).await;
    let mut first = TcpStream::connect(&server.address).await.unwrap();
    let others = crowd(&server.address, 20, "").await;
    let closed = tokio::time::timeout(Duration::from_secs(5), first.read_to_end(&mut Vec::new())).await;
    assert!(closed.is_ok(), "the oldest made room");
    drop(others);
    let mut slow = TcpStream::connect(&server.address).await.unwrap();
    let request = format!(
        "POST /runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ANN}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{"
    );
    slow.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(25), slow.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "it is open after 25 seconds");
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 2"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_send_no_whole_request_keep_no_mcp_client_out() {
    let service = crate::mcp_serve::service();
    let address = crate::mcp_serve::listen(service, HttpOptions::default().token("secret")).await;
    for begin in
        ["", "POST /mcp HTTP/1.1\r\nHost: ", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]
    {
        let crowd = crowd(&address, 1030, begin).await;
        let begun = Instant::now();
        let request = reqwest::Client::new().get(format!("http://{address}/mcp")).bearer_auth("secret");
        let response = tokio::time::timeout(Duration::from_secs(30), request.send()).await.unwrap().unwrap();
        assert!(response.status().is_client_error(), "{}", response.status());
        assert!(begun.elapsed() < SOON, "{begin}: {:?}", begun.elapsed());
        drop(crowd);
    }
}
