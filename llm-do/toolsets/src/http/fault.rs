//! The errors of the tools.

use std::time::Duration;

/// The reason that nothing is fetched, as text for a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("invalid URL `{url}`: {reason}")]
    Url { url: String, reason: String },

    #[error("`{0}` is not an `http` or `https` URL")]
    Scheme(String),

    #[error("`{0}` contains a user name or password; URLs with credentials are refused")]
    Credentials(String),

    #[error("`{0}` is longer than 4,000 characters")]
    TooLong(String),

    #[error("the application refuses to fetch from `{0}`")]
    Refused(String),

    #[error("`{0}` is, or resolves to, a local or private address, which is refused")]
    Private(String),

    #[error("cannot find the host `{host}`")]
    Lookup { host: String, source: std::io::Error },

    #[error("invalid host `{0}` in the application's settings: write `docs.rs`, `*.example.com` or `localhost:8080`")]
    Pattern(String),

    #[error("no answer from `{url}` within {after:?}")]
    Timeout { url: String, after: Duration },

    #[error("cannot fetch `{url}`")]
    Request { url: String, source: reqwest::Error },

    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),

    #[error("stopped after {count} redirects, at `{url}`")]
    Redirects { count: u32, url: String },

    #[error("`{url}` redirects to an invalid address")]
    Location { url: String },

    #[error("`{url}` answered with the encoding `{encoding}`, which was not requested")]
    Encoding { url: String, encoding: String },

    #[error("`{url}` is of type `{media_type}`, which is neither text, an image nor a PDF")]
    MediaType { url: String, media_type: String },

    #[error("`{url}` has more than {limit} bytes: too large for a file")]
    FileSize { url: String, limit: usize },

    #[error("the HTML of `{url}` cannot be converted to text: {reason}")]
    Html { url: String, reason: String },

    #[error("`offset` {offset} is past the end: the text has {total} characters")]
    Offset { offset: usize, total: usize },
}
