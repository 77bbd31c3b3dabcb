//! Why the hub does not send a file, from its status and its code, without its prose.
//!
//! The codes of the header `x-error-code` are those that the hub's own client tells apart
//! (<https://huggingface.co/docs/huggingface_hub/package_reference/utilities>); a repository that is private, or that
//! is not there at all, is refused with 401 or 404.

use super::hub::Hub;
use super::hub_file::HubFile;
use crate::error::{ErrorKind, ProviderError};
use crate::http::Answer;

/// Returns the error that stands for `answer`, which is no file.
pub(super) fn refused(answer: &Answer, hub: &Hub, file: &HubFile) -> ProviderError {
    let repo = format!("{}/{}", file.owner, file.repo);
    let page = format!("{}/{repo}", hub.endpoint.trim_end_matches('/'));
    let has_token = hub.token.is_some();
    let token = if has_token { "the hub's token" } else { "`HF_TOKEN`" };
    let no_path = format!("no file `{file}` is here either, if a path was meant");
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
            format!("no repository `{repo}`, or one that is private; check the name and {token}; {no_path}"),
        ),
        (401, _) if has_token => (ErrorKind::Auth, "the hub's token was refused; check `HF_TOKEN`".to_owned()),
        (401, _) => (
            ErrorKind::InvalidRequest,
            format!("no repository `{repo}`, or one that is private; check the name, or set `HF_TOKEN`; {no_path}"),
        ),
        (403, _) => (ErrorKind::Auth, format!("access to `{repo}` was refused; check what {token} permits")),
        (429, _) => (ErrorKind::RateLimited, "the hub has had too many requests; wait, or set `HF_TOKEN`".to_owned()),
        (503, _) => (ErrorKind::Overloaded, "the hub is overloaded; try again later".to_owned()),
        (408 | 409 | 500.., _) => (ErrorKind::Unavailable, "the hub fails; try again later".to_owned()),
        _ => (ErrorKind::InvalidRequest, format!("the hub does not send `{file}`; see {page}")),
    };
    answer.refusal(kind, text)
}
