//! Who may connect over HTTP, and from where.

use llm_do::mcp::HttpOptions;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Serves at a free port; returns its address.
async fn serve(options: HttpOptions) -> String {
    listen(serving(|builder| builder), options).await
}

/// Serves a service at a free port; returns its address.
pub(crate) async fn listen(service: McpService, options: HttpOptions) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(service.serve_http(listener, options));
    address
}

/// Connects a client with a token.
pub(super) async fn client(address: &str, token: &str, era: Era, user: User) -> Connected {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{address}/mcp")).auth_header(token);
    let transport = StreamableHttpClientTransport::from_config(config);
    user.serve_with_lifecycle(transport, era.lifecycle()).await.unwrap()
}

/// Sends a request with these header lines and this body; returns the response.
async fn send(address: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    exchange(address, &request).await
}

/// Sends a request; returns the response.
async fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

fn initialize() -> String {
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

#[tokio::test]
async fn a_client_calls_tools_over_http_in_each_era() {
    let address = serve(HttpOptions::default().token("secret")).await;
    for era in ERAS {
        let client = client(&address, "secret", era, User::accepting(json!({ "decision": "allow" }))).await;
        let result = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap();
        assert_eq!(text(&result), "deleted a", "{era:?}");
    }
}

#[tokio::test]
async fn a_request_without_the_token_is_refused() {
    let address = serve(HttpOptions::default().token("secret").authorization_server("https://login.example.com")).await;
    let host = format!("Host: {address}\r\n");
    for headers in
        ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic secret\r\n", "Authorization: secret\r\n"]
    {
        let response = send(&address, &format!("{host}{headers}"), &initialize()).await;
        assert!(response.starts_with("HTTP/1.1 401"), "{headers}: {response}");
        assert!(response.to_lowercase().contains("www-authenticate: bearer resource_metadata="), "{response}");
    }
    let response = send(&address, &format!("{host}Authorization: Bearer secret\r\n"), &initialize()).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

#[tokio::test]
async fn a_refusal_names_the_url_of_metadata_that_name_the_service() {
    for (public_url, resource) in
        [(None, None), (Some("https://example.com/ann/mcp"), Some("https://example.com/ann/mcp"))]
    {
        let options = HttpOptions::default().token("secret").authorization_server("https://login.example.com");
        let options = public_url.into_iter().fold(options, HttpOptions::public_url);
        let address = serve(options).await;
        let resource = resource.map_or_else(|| format!("http://{address}/mcp"), str::to_owned);
        let refusal = send(&address, &format!("Host: {address}\r\n"), &initialize()).await;
        let url = refusal.split_once("resource_metadata=\"").unwrap().1.split_once('"').unwrap().0;
        let (origin, path) = resource.split_at(resource[8..].find('/').unwrap() + 8);
        assert_eq!(url, format!("{origin}/.well-known/oauth-protected-resource{path}"));
        let paths = ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"];
        for path in paths {
            let get = format!("GET {path} HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\n\r\n");
            let response = exchange(&address, &get).await;
            let body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
            assert_eq!(body["resource"], resource);
            assert_eq!(body["authorization_servers"], json!(["https://login.example.com"]));
        }
    }
}

#[tokio::test]
async fn requests_to_other_hosts_and_of_other_origins_are_refused() {
    let address = serve(HttpOptions::default()).await;
    for (headers, status) in [
        (format!("Host: {address}\r\n"), "200"),
        (format!("Host: {address}\r\nOrigin: http://localhost:3000\r\n"), "200"),
        ("Host: evil.example.com\r\n".to_owned(), "403"),
        (format!("Host: {address}\r\nOrigin: https://evil.example.com\r\n"), "403"),
    ] {
        let response = send(&address, &headers, &initialize()).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {response}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let address = serve(HttpOptions::default().max_body_bytes(1000)).await;
    let body = initialize().replace("\"t\"", &format!("\"{}\"", "t".repeat(2000)));
    let response = send(&address, &format!("Host: {address}\r\n"), &body).await;
    assert!(response.starts_with("HTTP/1.1 413"), "{response}");
}

#[tokio::test]
async fn nothing_listens_beyond_this_machine_without_a_token_and_a_host() {
    for (options, fault) in [
        (HttpOptions::default(), "set a token"),
        (HttpOptions::default().token("secret"), "set the accepted hosts"),
        (HttpOptions::default().allow_unauthenticated(), "set the accepted hosts"),
    ] {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let error = serving(|builder| builder).serve_http(listener, options).await.unwrap_err();
        assert!(error.to_string().contains(fault), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_sends_half_a_head_is_closed() {
    let address = serve(HttpOptions::default()).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").await.unwrap();
    let closed = tokio::time::timeout(std::time::Duration::from_secs(20), stream.read_to_end(&mut Vec::new())).await;
    assert!(closed.is_ok(), "it is open after 20 seconds");
}
