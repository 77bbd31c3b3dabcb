//! The metadata that the header `www-authenticate` of a server names: those of its own origin only.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use reqwest::Url;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::reach::origin;

/// The parameter that names the metadata of a server (RFC 9728).
const PARAMETER: &str = "resource_metadata";

/// How an answer without a challenge begins: the library reports one with a challenge by an error of its own.
const UNAUTHORIZED: &str = "HTTP 401 ";

/// Returns whether a server answered with 401, with no challenge.
pub(in super::super) fn is_unauthorized(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
        let error = error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
        matches!(error, Some(StreamableHttpError::UnexpectedServerResponse(text)) if text.starts_with(UNAUTHORIZED))
    })
}

/// Checks that a server names metadata of its own origin only.
pub(super) fn check_challenges(headers: &HeaderMap, server: &Url) -> Result<(), String> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    challenges.into_iter().try_for_each(|challenge| check_challenge(challenge, server))
}

/// Checks that a challenge names metadata of the server's own origin only.
pub(super) fn check_challenge(challenge: &str, server: &Url) -> Result<(), String> {
    for named in metadata_urls(challenge) {
        let url = server.join(&named).map_err(|_| format!("`resource_metadata` is not a URL: {named}"))?;
        if url.origin() != server.origin() {
            return Err(format!(
                "the server names metadata of another origin, {}: only {} describes it",
                origin(&url),
                origin(server)
            ));
        }
    }
    Ok(())
}

/// Returns each value of the parameter, of all challenges in a header.
fn metadata_urls(header: &str) -> Vec<String> {
    let (mut urls, mut rest) = (Vec::new(), header);
    while !rest.is_empty() {
        let end = rest.find(['"', ',', ' ', '\t', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let is_named = name.eq_ignore_ascii_case(PARAMETER);
        match after.trim_start().strip_prefix('=') {
            Some(value) if !name.is_empty() => {
                let (value, after) = value_of(value.trim_start());
                urls.extend(is_named.then_some(value));
                rest = after;
            }
            _ if after.starts_with('"') => rest = value_of(after).1,
            _ => rest = after.get(1..).unwrap_or_default(),
        }
    }
    urls
}

/// Splits a text into the value at its start, quoted or not, and the rest.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
        return (value.to_owned(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            character => value.push(character),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::reach::tests::url;
    use super::{check_challenge, metadata_urls};

    #[test]
    fn the_metadata_that_a_header_names_are_found_in_each_form() {
        for (header, expected) in [
            ("", &[][..]),
            ("Bearer", &[]),
            ("Bearer resource_metadata=\"https://a/b\"", &["https://a/b"]),
            ("bearer RESOURCE_METADATA=https://a/b, scope=\"x\"", &["https://a/b"]),
            ("Bearer scope=\"a, b\" , resource_metadata =  \"/b\"", &["/b"]),
            ("Basic realm=\"a\\\"resource_metadata=c\", Bearer resource_metadata=\"d\\\"e\"", &["d\"e"]),
            ("Bearer resource_metadata=a, Bearer resource_metadata=b", &["a", "b"]),
            ("Bearer realm=\"resource_metadata=x\"", &[]),
            ("Bearer x_resource_metadata=\"x\", resource_metadata", &[]),
            ("Bearer resource_metadata=\"unclosed", &["unclosed"]),
            ("\"resource_metadata=a\"", &[]),
        ] {
            assert_eq!(metadata_urls(header), expected, "{header}");
        }
    }

    #[test]
    fn metadata_of_another_origin_is_refused_with_its_name() {
        let server = url("https://mcp.example.org/mcp");
        for named in [
            "https://evil.example.com/.well-known/oauth-protected-resource",
            "https://mcp.example.org:8443/m",
            "http://mcp.example.org/m",
            "https://mcp.example.org.evil.example.com/m",
            "//evil.example.com/m",
            "https://mcp.example.org@evil.example.com/m",
        ] {
            for challenge in [
                format!("Bearer resource_metadata=\"{named}\""),
                format!("Bearer error=\"invalid_token\", Resource_Metadata = \"{named}\", scope=\"a\""),
                format!("Basic realm=\"x\", Bearer resource_metadata={named}"),
                format!("Bearer resource_metadata=\"/m\", resource_metadata=\"{named}\""),
            ] {
                let fault = check_challenge(&challenge, &server).unwrap_err();
                assert!(
                    fault.contains("metadata of another origin") && fault.contains("mcp.example.org"),
                    "{challenge}"
                );
            }
        }
        for own in ["https://mcp.example.org/m", "/m", "https://mcp.example.org:443/m"] {
            check_challenge(&format!("Bearer resource_metadata=\"{own}\""), &server).unwrap();
        }
        check_challenge("Bearer realm=\"resource_metadata=https://evil.example.com/\"", &server).unwrap();
    }
}
