//! The HTTP clients for servers at a URL.

use reqwest::StatusCode;
use reqwest::redirect::Policy;

use super::Exchange;

/// The maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 10;

impl Exchange {
    /// Returns a client that follows redirects within the origin only; a different origin would receive headers and the
    /// session, or the message would be lost.
    pub(in crate::client) fn new() -> reqwest::Result<Self> {
        Self::with(reqwest::Client::builder())
    }

    /// Returns a client for a token, which a redirect would leak.
    pub(in crate::client) fn without_redirects() -> reqwest::Result<Self> {
        reqwest::Client::builder().redirect(Policy::none()).build().map(Self)
    }

    /// Returns a client of a server on a socket; a name that begins with `@` is in the abstract namespace of Linux.
    #[cfg(unix)]
    pub(in crate::client) fn on_socket(socket: &std::path::Path) -> reqwest::Result<Self> {
        use std::ffi::OsString;
        use std::os::unix::ffi::{OsStrExt, OsStringExt};

        let socket = match socket.as_os_str().as_bytes().strip_prefix(b"@") {
            Some(name) => OsString::from_vec([b"\0", name].concat()),
            None => socket.as_os_str().to_owned(),
        };
        Self::with(reqwest::Client::builder().unix_socket(std::path::PathBuf::from(socket)))
    }

    fn with(builder: reqwest::ClientBuilder) -> reqwest::Result<Self> {
        // The server may have closed an idle connection, and a request on it would be lost.
        builder.pool_max_idle_per_host(0).redirect(within_origin()).build().map(Self)
    }
}

/// Follows redirects that keep the method and the body, within the origin.
fn within_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let first = attempt.previous().first();
        if !keeps || first.is_none_or(|first| first.origin() != attempt.url().origin()) {
            attempt.stop()
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error(format!("more than {MAX_REDIRECTS} redirects"))
        } else {
            attempt.follow()
        }
    })
}
