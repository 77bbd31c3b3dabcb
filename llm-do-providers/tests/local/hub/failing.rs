//! Failures: each error names the problem and the fix.

use std::fs;
use std::time::Duration;

use llm_do_providers::{ApiKey, ErrorKind, LocalModel, ProviderError};
use tokio::net::TcpListener;

use crate::hub::server::{COMMIT, Reply, Server, sha256};
use crate::hub::{NAME, World, content, fetch, files};

/// Checks the properties of every error.
fn check(error: &ProviderError, kind: ErrorKind, status: Option<u16>, advice: &str) {
    let text = format!("{error} {error:?}");
    assert_eq!((error.provider(), error.kind(), error.status()), ("local", kind, status), "{text}");
    assert!(error.to_string().contains(advice), "{text}");
    assert!(!text.contains("prose") && !text.contains("Secret"), "{text}");
}

/// The error of a download that the hub answers with `reply`.
async fn rejected(reply: Reply) -> ProviderError {
    World::answering(reply).await.fetch().await.unwrap_err()
}

/// The same with a token.
async fn rejected_with_token(reply: Reply) -> ProviderError {
    let world = World::answering(reply).await;
    fetch(&world.builder(NAME).token(ApiKey::new("hf_Secret").unwrap())).await.unwrap_err()
}

#[tokio::test]
async fn a_gated_repository_names_the_page_of_its_terms() {
    for status in [401, 403] {
        let world = World::answering(Reply::refusal(status, "GatedRepo")).await;
        let advice =
            format!("`owner/repo` is gated; accept its terms at {}/owner/repo, and set `HF_TOKEN`", world.hub.url());
        check(&world.fetch().await.unwrap_err(), ErrorKind::Auth, Some(status), &advice);
    }
}

#[tokio::test]
async fn a_missing_repository_may_be_private_or_a_path() {
    for (status, code) in [(401, ""), (401, "RepoNotFound"), (404, "RepoNotFound"), (404, "")] {
        let error = rejected(Reply::refusal(status, code)).await;
        check(
            &error,
            ErrorKind::InvalidRequest,
            Some(status),
            "the repository `owner/repo` does not exist or is private",
        );
        check(&error, ErrorKind::InvalidRequest, Some(status), "`HF_TOKEN`");
        check(
            &error,
            ErrorKind::InvalidRequest,
            Some(status),
            "if you meant a path, there is no file `owner/repo/model.gguf`",
        );
    }
}

#[tokio::test]
async fn a_missing_file_error_names_the_page_of_files() {
    let error = rejected(Reply::refusal(404, "EntryNotFound")).await;
    check(&error, ErrorKind::InvalidRequest, Some(404), "`owner/repo` has no file `model.gguf`; see http://127.0.0.1");
}

#[tokio::test]
async fn a_missing_revision_is_named() {
    let world = World::answering(Reply::refusal(404, "RevisionNotFound")).await;
    let error = fetch(&world.builder("owner/repo@v9/model.gguf")).await.unwrap_err();
    check(&error, ErrorKind::InvalidRequest, Some(404), "`owner/repo` has no branch, tag or commit `v9`");
}

#[tokio::test]
async fn a_rejected_token_is_not_shown() {
    let error = rejected_with_token(Reply::refusal(401, "")).await;
    check(&error, ErrorKind::Auth, Some(401), "the hub rejected the token; check `HF_TOKEN`");
    let error = rejected_with_token(Reply::refusal(403, "")).await;
    check(&error, ErrorKind::Auth, Some(403), "check the permissions of the hub's token");
}

#[test]
fn a_token_is_not_shown_by_debug() {
    let builder =
        LocalModel::builder(NAME).cache_dir("/nowhere").offline(false).token(ApiKey::new("hf_Secret").unwrap());
    let texts = [format!("{builder:?}"), format!("{:?}", builder.build().unwrap())];
    assert!(texts.iter().all(|text| text.contains("ApiKey(..)") && !text.contains("Secret")), "{texts:?}");
}

#[tokio::test]
async fn rate_limits_and_failures_of_the_hub_have_their_kinds() {
    let error = rejected(Reply::refusal(429, "").header("retry-after", "7")).await;
    check(&error, ErrorKind::RateLimited, Some(429), "wait, or set `HF_TOKEN`");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    check(&rejected(Reply::refusal(500, "")).await, ErrorKind::Unavailable, Some(500), "try again later");
    check(&rejected(Reply::refusal(503, "")).await, ErrorKind::Overloaded, Some(503), "try again later");
    check(
        &rejected(Reply::refusal(418, "")).await,
        ErrorKind::InvalidRequest,
        Some(418),
        "the hub rejected the request for",
    );
}

#[tokio::test]
async fn a_damaged_file_is_an_error_that_leaves_nothing() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&vec![7; bytes.len()])).await;
    let error = world.fetch().await.unwrap_err();
    check(&error, ErrorKind::Protocol, None, "checksum mismatch: ");
    check(&error, ErrorKind::Protocol, None, &sha256(&world.bytes));
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn extra_bytes_are_an_error_that_leaves_nothing() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&[&bytes[..], b"more"].concat())).await;
    check(
        &world.fetch().await.unwrap_err(),
        ErrorKind::Protocol,
        Some(200),
        "sent more bytes than the size of the file",
    );
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn missing_bytes_are_a_transport_error() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&bytes[..9])).await;
    check(
        &world.fetch().await.unwrap_err(),
        ErrorKind::Transport,
        Some(200),
        "sent fewer bytes than the size of the file",
    );
    assert!(!world.blob().exists());
}

#[tokio::test]
async fn a_file_without_a_checksum_on_the_hub_is_not_downloaded() {
    // The entity tag of a small file is a git SHA-1.
    let tag = format!("\"{COMMIT}\"");
    let plain = Reply::new(200).header("x-repo-commit", COMMIT).header("etag", &tag).body(b"small");
    let world = World::answering(plain.clone()).await;
    check(
        &world.fetch().await.unwrap_err(),
        ErrorKind::InvalidRequest,
        Some(200),
        "add `#sha256=<64 hexadecimal digits>` to the model name",
    );
    let pinned = format!("{NAME}#sha256={}", sha256(b"small"));
    assert_eq!(fs::read(fetch(&world.builder(&pinned)).await.unwrap()).unwrap(), b"small");
}

#[tokio::test]
async fn a_pinned_checksum_is_compared_with_the_hub_before_the_download() {
    let world = World::new().await;
    let pinned = format!("{NAME}#sha256={}", "0".repeat(64));
    let error = fetch(&world.builder(&pinned)).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "correct the pinned checksum or the revision");
    assert_eq!(world.hub.asked().len(), 1);
}

#[tokio::test]
async fn a_pinned_checksum_is_checked_for_cached_files() {
    let world = World::new().await;
    let pinned = format!("{NAME}#sha256={}", sha256(&world.bytes).to_uppercase());
    let path = fetch(&world.builder(&pinned)).await.unwrap();
    fetch(&world.builder(&pinned)).await.unwrap();
    fs::write(&path, "tampered with").unwrap();
    let error = fetch(&world.builder(&pinned)).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "checksum mismatch");
}

#[tokio::test]
async fn a_pinned_checksum_is_checked_for_paths() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gguf");
    fs::write(&path, "content").unwrap();
    let pinned = |sum: &str| LocalModel::new(&format!("{}#sha256={sum}", path.display())).unwrap();
    pinned(&sha256(b"content")).fetch(|_| {}).await.unwrap();
    let error = pinned(&sha256(b"other")).fetch(|_| {}).await.unwrap_err();
    check(
        &error,
        ErrorKind::Configuration,
        None,
        "delete the file and download it again, or correct the pinned checksum",
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_an_error_that_names_the_path_and_leaves_nothing() {
    let world = World::new().await;
    fs::create_dir_all(world.part().parent().unwrap()).unwrap();
    // Every write to this device reports a full disk.
    std::os::unix::fs::symlink("/dev/full", world.part()).unwrap();
    let advice =
        format!("not enough disk space for `model.gguf` (1 MB) in `{}`; free some space", world.cache.path().display());
    check(&world.fetch().await.unwrap_err(), ErrorKind::Configuration, None, &advice);
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_named() {
    let world = World::new().await;
    fs::write(world.repository(), "in the way").unwrap();
    let advice = format!("cannot write `model.gguf` in `{}`", world.cache.path().display());
    check(&world.fetch().await.unwrap_err(), ErrorKind::Configuration, None, &advice);
}

#[tokio::test]
async fn a_hub_that_is_down_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let world = World::new().await;
    let error = fetch(&world.builder(NAME).endpoint(format!("http://{address}"))).await.unwrap_err();
    check(&error, ErrorKind::Transport, None, &format!("cannot connect to http://{address}"));
}

#[tokio::test]
async fn a_stalled_download_times_out() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |request| Reply::file(&bytes, request).stall(1000)).await;
    let error = fetch(&world.builder(NAME).idle_timeout(Duration::from_secs(2))).await.unwrap_err();
    check(&error, ErrorKind::Timeout, Some(200), "raise the idle timeout");
    check(&error, ErrorKind::Timeout, Some(200), "the received part (1 kB) is kept, and the next attempt resumes it");
}

#[tokio::test]
async fn a_server_that_is_not_a_hub_is_recognized() {
    let page = Reply::new(200).body(b"<html>Welcome to the prose of this proxy.</html>");
    check(&rejected(page).await, ErrorKind::Protocol, Some(200), "returned no valid file metadata");
    let hostile = Reply::new(302)
        .header("x-repo-commit", "../../../etc")
        .header("x-linked-etag", "\"../../passwd\"")
        .header("x-linked-size", "-1")
        .header("location", "http://127.0.0.1:1/x");
    check(&rejected(hostile).await, ErrorKind::Protocol, Some(302), "check `HF_ENDPOINT`");
}

#[tokio::test]
async fn a_redirect_out_of_http_or_in_a_loop_is_not_followed() {
    let error = rejected(Reply::linked(b"x", "file:///etc/passwd")).await;
    check(&error, ErrorKind::Protocol, Some(302), "redirects to an invalid or insecure URL");
    let error = rejected(Reply::new(302).header("location", "/again")).await;
    check(&error, ErrorKind::Protocol, None, "redirects in a loop");
}

#[tokio::test]
async fn an_invalid_url_is_an_error() {
    let world = World::new().await;
    for url in ["huggingface.co", "ftp://huggingface.co", ""] {
        let error = fetch(&world.builder(NAME).endpoint(url)).await.unwrap_err();
        check(
            &error,
            ErrorKind::Configuration,
            None,
            "invalid address of the hub: expected an `http` or `https` URL such as `https://huggingface.co`",
        );
    }
}

#[test]
fn a_url_with_a_password_is_rejected_without_showing_it() {
    let builder = LocalModel::builder(NAME).cache_dir("/nowhere").endpoint("https://user:Secret@hub.example");
    check(&builder.build().unwrap_err(), ErrorKind::Configuration, None, "must not contain a user name or password");
}

#[tokio::test]
async fn nothing_is_downloaded_offline() {
    let world = World::new().await;
    let error = world.builder(NAME).offline(true).build().unwrap_err();
    check(&error, ErrorKind::Configuration, None, "or allow downloads: remove `LocalBuilder::offline`");
    assert!(!error.to_string().contains("HF_HUB_OFFLINE"), "{error}");
    check(&error, ErrorKind::Configuration, None, "`hf download owner/repo model.gguf`");
    assert_eq!(world.hub.asked(), [""; 0]);
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn nothing_is_downloaded_while_requests_are_forbidden() {
    // Requests to servers on this machine stay allowed for all other tests.
    llm_do_providers::forbid_requests();
    let world = World::new().await;
    let error = fetch(&world.builder(NAME).endpoint("http://hub.example")).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "`forbid_requests` blocked a request to http://hub.example");
    let elsewhere = Server::new(|_| Reply::linked(&content(), "http://cdn.example/x")).await;
    let error = fetch(&world.builder(NAME).endpoint(elsewhere.url())).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "`forbid_requests` blocked a request to http://cdn.example");
}
