//! Errors of the hub, from the status and the error code of a response, without its message.
//!
//! The codes of the header `x-error-code` are those that the hub's own client distinguishes
//! (<https://huggingface.co/docs/huggingface_hub/package_reference/utilities>); a private or missing repository gives
//! 401 or 404.

use super::hub::Hub;
use super::hub_file::HubFile;
use crate::error::{ErrorKind, ProviderError};
use crate::http::FileResponse;

/// Returns the error for `answer`, which is not a file.
pub(super) fn hub_error(answer: &FileResponse, hub: &Hub, file: &HubFile) -> ProviderError {
    let repo = format!("{}/{}", file.owner, file.repo);
    let page = format!("{}/{repo}", hub.endpoint.trim_end_matches('/'));
    let has_token = hub.token.is_some();
    let token = if has_token { "the hub's token" } else { "`HF_TOKEN`" };
    let no_path = format!("if you meant a path, there is no file `{file}`");
    let (kind, text) = match (answer.status(), answer.header("x-error-code").unwrap_or_default()) {
        (_, "GatedRepo") => (
            ErrorKind::Auth,
            format!("`{repo}` is gated; accept its terms at {page}, and set `HF_TOKEN` to a token of that account"),
        ),
        (_, "RevisionNotFound") => (
            ErrorKind::InvalidRequest,
            format!("`{repo}` has no branch, tag or commit `{}`; see {page}", file.revision),
        ),
        (_, "EntryNotFound") => (
            ErrorKind::InvalidRequest,
            format!("`{repo}` has no file `{}`; see {page}/tree/main; {no_path}", file.path.join("/")),
        ),
        (401 | 403 | 404, "RepoNotFound") | (404, _) => (
            ErrorKind::InvalidRequest,
            format!("the repository `{repo}` does not exist or is private; check the name and {token}; {no_path}"),
        ),
        (401, _) if has_token => (ErrorKind::Auth, "the hub rejected the token; check `HF_TOKEN`".to_owned()),
        (401, _) => (
            ErrorKind::InvalidRequest,
            format!(
                "the repository `{repo}` does not exist or is private; check the name, or set `HF_TOKEN`; {no_path}"
            ),
        ),
        (403, _) => (ErrorKind::Auth, format!("access to `{repo}` was denied; check the permissions of {token}")),
        (429, _) => (ErrorKind::RateLimited, "rate limit of the hub reached; wait, or set `HF_TOKEN`".to_owned()),
        (503, _) => (ErrorKind::Overloaded, "the hub is overloaded; try again later".to_owned()),
        (408 | 409 | 500.., _) => (ErrorKind::Unavailable, "the hub failed; try again later".to_owned()),
        _ => (ErrorKind::InvalidRequest, format!("the hub rejected the request for `{file}`; see {page}")),
    };
    answer.refusal(kind, text)
}
