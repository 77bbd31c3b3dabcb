//! Servers at a URL: streamable HTTP.

use std::collections::HashMap;

use http::{HeaderName, HeaderValue, Uri};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::server::McpServer;
use super::transport::Endpoint;

/// Headers that the protocol sets.
const RESERVED: [&str; 6] =
    ["accept", "content-length", "content-type", "host", "mcp-protocol-version", "mcp-session-id"];

/// Returns the settings of the transport to a server.
pub(super) fn config(server: &McpServer, endpoint: &Endpoint) -> StreamableHttpClientTransportConfig {
    let parsed = endpoint.headers.iter().filter_map(|(name, value)| header(name, value).ok());
    let headers: HashMap<_, _> = parsed.collect();
    let config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(server.max_message)
        .max_json_response_size(server.max_message);
    match &endpoint.token {
        Some(token) => config.auth_header(token.as_str()),
        None => config,
    }
}

/// Parses a header, whose value is then never printed.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("invalid header name `{name}`"))?;
    if RESERVED.contains(&parsed.as_str()) {
        return Err(format!("the header `{parsed}` is set by the protocol"));
    }
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("invalid value of the header `{parsed}`: it must not contain control characters"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Returns what is wrong with a header, without its value.
pub(super) fn header_fault(name: &str, value: &str) -> Option<String> {
    header(name, value).err()
}

/// Returns what is wrong with a URL.
pub(super) fn url_fault(url: &str) -> Option<String> {
    let shown = without_secrets(url);
    let Ok(uri) = url.parse::<Uri>() else {
        return Some(format!("invalid URL `{shown}`: expected `http://HOST/..` or `https://HOST/..`"));
    };
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !is_http || uri.host().is_none_or(str::is_empty) {
        return Some(format!("invalid URL `{shown}`: expected `http://HOST/..` or `https://HOST/..`"));
    }
    None
}

/// Returns what is wrong with the path of a socket.
#[cfg(unix)]
pub(super) fn socket_fault(socket: &std::path::Path) -> Option<String> {
    match socket.to_str() {
        None => Some("the path of the socket is not UTF-8".to_owned()),
        Some("" | "@") => Some("the path of the socket is empty".to_owned()),
        Some(_) => None,
    }
}

/// Returns a URL without the user, the password and the query, which may be secret.
pub(super) fn without_secrets(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (scheme, rest) = url[..end].split_once("://").unwrap_or(("", &url[..end]));
    let (authority, path) = rest.find('/').map_or((rest, ""), |start| rest.split_at(start));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_url_has_no_secrets() {
        assert_eq!(without_secrets("https://u:p@example.org/mcp?key=1#x"), "https://example.org/mcp");
        assert_eq!(without_secrets("http://[::1]:80"), "http://[::1]:80");
        assert_eq!(without_secrets("user:secret@host"), "host");
    }

    #[test]
    fn only_urls_of_http_are_accepted() {
        assert_eq!(url_fault("https://example.org/mcp"), None);
        for url in ["", "example.org", "ftp://example.org", "file:///etc/passwd", "http://", "https:///mcp"] {
            assert!(url_fault(url).is_some(), "{url}");
        }
    }

    #[test]
    fn the_value_of_a_faulty_header_is_not_shown() {
        assert_eq!(header_fault("x-key", "secret"), None);
        let fault = header_fault("x-key", "sec\nret").unwrap();
        assert!(fault.contains("x-key") && !fault.contains("sec"), "{fault}");
        assert!(header_fault("Host", "a").is_some() && header_fault("a b", "c").is_some());
    }
}
