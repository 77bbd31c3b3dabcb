//! The permitted URLs: parsed, checked, and either approved by the settings or not.

use reqwest::Url;

use super::fault::Fault;
use super::host;
use super::settings::Http;

/// The maximum length of a URL, in characters.
const MAX_URL: usize = 4_000;

/// Parses a URL as it will be requested; fails if it must not be fetched even with approval.
pub(super) fn parse(settings: &Http, url: &str) -> Result<Url, Fault> {
    if url.chars().count() > MAX_URL {
        return Err(Fault::TooLong(url.chars().take(100).collect()));
    }
    let parsed =
        Url::parse(url.trim()).map_err(|error| Fault::Url { url: url.to_owned(), reason: error.to_string() })?;
    check(settings, parsed)
}

/// Returns the target of a redirect; fails if it must not be fetched.
pub(super) fn redirected(settings: &Http, from: &Url, location: &str) -> Result<Url, Fault> {
    let to = from.join(location).map_err(|_| Fault::Location { url: from.to_string() })?;
    check(settings, to)
}

fn check(settings: &Http, mut url: Url) -> Result<Url, Fault> {
    if !matches!(url.scheme(), "http" | "https") || host::name(&url).is_empty() {
        return Err(Fault::Scheme(url.to_string()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        _ = url.set_username("").and_then(|()| url.set_password(None));
        return Err(Fault::Credentials(url.to_string()));
    }
    if settings.is_denied(&url)? {
        return Err(Fault::Refused(host::name(&url)));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns whether a redirect may be followed without another approval: it stays on the host, or leads to an approved
/// host.
pub(super) fn may_follow(settings: &Http, from: &Url, to: &Url) -> Result<bool, Fault> {
    let is_same_host = from.host_str() == to.host_str() && from.port() == to.port();
    let is_downgrade = from.scheme() == "https" && to.scheme() == "http";
    Ok((is_same_host && !is_downgrade) || settings.is_allowed(to)?)
}
