//! The secrets of a request that errors must not show: keys, the values of the user's headers, and the password of the
//! base URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::HeaderMap;

/// Returns the password in a URL: as written, decoded, and in the form of basic authentication.
pub(super) fn in_url(url: &Url) -> Vec<String> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let Some(password) = url.password() else { return Vec::new() };
    let sent = STANDARD.encode(format!("{}:{}", decoded(url.username()), decoded(password)));
    vec![password.to_owned(), decoded(password), sent]
}

/// Returns the secrets in headers, with and without an authentication scheme such as `Bearer`.
pub(super) fn in_headers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let secrets = headers.values().filter(|value| value.is_sensitive()).filter_map(|value| value.to_str().ok());
    secrets.flat_map(|secret| [secret, secret.split_once(' ').map_or(secret, |(_, rest)| rest)])
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::in_url;

    #[test]
    fn a_password_is_found_in_each_form() {
        let secrets = |url: &str| in_url(&Url::parse(url).unwrap());
        let expected = ["p%40ssword", "p@ssword", "bWU6cEBzc3dvcmQ="];
        assert_eq!(secrets("http://me:p%40ssword@localhost/v1"), expected);
        assert!(secrets("http://me@localhost/v1").is_empty() && secrets("http://localhost/v1").is_empty());
    }
}
