//! The body of a response, up to a limit, and data from its headers.

use encoding_rs::Encoding;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use reqwest::{Response, StatusCode, Url};

use super::client;
use super::fault::Fault;
use super::settings::Http;

/// A finished response.
#[derive(Debug)]
pub(super) struct FetchedResponse {
    pub(super) url: Url,
    pub(super) status: StatusCode,
    /// The media type without parameters, in lower case; empty if the server sends none.
    pub(super) media_type: String,
    pub(super) charset: Option<&'static Encoding>,
    pub(super) body: Vec<u8>,
    /// Whether the body is longer than the limit.
    pub(super) is_cut: bool,
}

impl FetchedResponse {
    /// Reads a response.
    pub(super) async fn read(mut response: Response, url: Url, settings: &Http) -> Result<Self, Fault> {
        let content_type = header(&response, CONTENT_TYPE);
        let (media_type, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
        let media_type = media_type.trim().to_ascii_lowercase();
        let charset = parameters.split(';').find_map(charset_parameter);
        let encoding = header(&response, CONTENT_ENCODING);
        if !matches!(encoding.trim(), "" | "identity") {
            return Err(Fault::Encoding { url: url.to_string(), encoding });
        }
        let (mut body, mut is_cut) = (Vec::new(), false);
        while let Some(chunk) = response.chunk().await.map_err(|error| client::fault(error, &url, settings))? {
            let room = settings.max_size - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                is_cut = true;
                break;
            }
        }
        Ok(Self { status: response.status(), url, media_type, charset, body, is_cut })
    }
}

/// Returns a header as text, at most 200 characters of it.
pub(super) fn header(response: &Response, name: HeaderName) -> String {
    let value = response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    value.unwrap_or_default().chars().take(200).collect()
}

fn charset_parameter(parameter: &str) -> Option<&'static Encoding> {
    let (name, value) = parameter.split_once('=')?;
    let is_charset = name.trim().eq_ignore_ascii_case("charset");
    Encoding::for_label(value.trim().trim_matches('"').as_bytes()).filter(|_| is_charset)
}
