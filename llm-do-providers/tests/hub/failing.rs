//! What goes wrong, and that each error says so: what, and what to do.

use std::fs;
use std::time::Duration;

use llm_do_providers::{ApiKey, ErrorKind, LocalModel, ProviderError};
use tokio::net::TcpListener;

use crate::server::{COMMIT, Reply, Server, sha256};
use crate::{NAME, World, content, fetch, files};

/// Checks what every error must have.
fn check(error: &ProviderError, kind: ErrorKind, status: Option<u16>, advice: &str) {
    let text = format!("{error} {error:?}");
    assert_eq!((error.provider(), error.kind(), error.status()), ("local", kind, status), "{text}");
    assert!(error.to_string().contains(advice), "{text}");
    assert!(!text.contains("prose") && !text.contains("Secret"), "{text}");
}

/// The error of a fetch that the hub answers with `reply`.
async fn refused(reply: Reply) -> ProviderError {
    World::answering(reply).await.fetch().await.unwrap_err()
}

/// The same with a token.
async fn refused_with_token(reply: Reply) -> ProviderError {
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
async fn a_repository_that_is_not_there_may_be_private_or_a_path() {
    for (status, code) in [(401, ""), (401, "RepoNotFound"), (404, "RepoNotFound"), (404, "")] {
        let error = refused(Reply::refusal(status, code)).await;
        check(&error, ErrorKind::InvalidRequest, Some(status), "no repository `owner/repo`, or one that is private");
        check(&error, ErrorKind::InvalidRequest, Some(status), "`HF_TOKEN`");
        check(&error, ErrorKind::InvalidRequest, Some(status), "no file `owner/repo/model.gguf` is here either");
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_names_the_page_of_files() {
    let error = refused(Reply::refusal(404, "EntryNotFound")).await;
    check(&error, ErrorKind::InvalidRequest, Some(404), "`owner/repo` has no file `model.gguf`; see http://127.0.0.1");
}

#[tokio::test]
async fn a_revision_that_is_not_there_is_named() {
    let world = World::answering(Reply::refusal(404, "RevisionNotFound")).await;
    let error = fetch(&world.builder("owner/repo@v9/model.gguf")).await.unwrap_err();
    check(&error, ErrorKind::InvalidRequest, Some(404), "`owner/repo` has no branch, tag or commit `v9`");
}

#[tokio::test]
async fn a_token_that_is_refused_is_not_shown() {
    let error = refused_with_token(Reply::refusal(401, "")).await;
    check(&error, ErrorKind::Auth, Some(401), "the hub's token was refused; check `HF_TOKEN`");
    let error = refused_with_token(Reply::refusal(403, "")).await;
    check(&error, ErrorKind::Auth, Some(403), "check what the hub's token permits");
}

#[test]
fn a_token_is_not_shown_by_debug() {
    let builder =
        LocalModel::builder(NAME).cache_dir("/nowhere").offline(false).token(ApiKey::new("hf_Secret").unwrap());
    let texts = [format!("{builder:?}"), format!("{:?}", builder.build().unwrap())];
    assert!(texts.iter().all(|text| text.contains("ApiKey(..)") && !text.contains("Secret")), "{texts:?}");
}

#[tokio::test]
async fn too_many_requests_and_failures_of_the_hub_have_their_kinds() {
    let error = refused(Reply::refusal(429, "").header("retry-after", "7")).await;
    check(&error, ErrorKind::RateLimited, Some(429), "wait, or set `HF_TOKEN`");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    check(&refused(Reply::refusal(500, "")).await, ErrorKind::Unavailable, Some(500), "try again later");
    check(&refused(Reply::refusal(503, "")).await, ErrorKind::Overloaded, Some(503), "try again later");
    check(&refused(Reply::refusal(418, "")).await, ErrorKind::InvalidRequest, Some(418), "does not send");
}

#[tokio::test]
async fn a_damaged_file_is_an_error_that_leaves_nothing() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&vec![7; bytes.len()])).await;
    let error = world.fetch().await.unwrap_err();
    check(&error, ErrorKind::Protocol, None, "is damaged: its SHA-256 is ");
    check(&error, ErrorKind::Protocol, None, &sha256(&world.bytes));
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn more_than_the_file_has_is_an_error_that_leaves_nothing() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&[&bytes[..], b"more"].concat())).await;
    check(&world.fetch().await.unwrap_err(), ErrorKind::Protocol, Some(200), "sends more than the file has");
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn less_than_the_file_has_is_a_lost_connection() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |_| Reply::new(200).body(&bytes[..9])).await;
    check(&world.fetch().await.unwrap_err(), ErrorKind::Transport, Some(200), "sent less than the file has");
    assert!(!world.blob().exists());
}

#[tokio::test]
async fn a_file_that_the_hub_has_no_checksum_of_is_not_fetched() {
    // Small files have the SHA-1 of git for a tag.
    let tag = format!("\"{COMMIT}\"");
    let plain = Reply::new(200).header("x-repo-commit", COMMIT).header("etag", &tag).body(b"small");
    let world = World::answering(plain.clone()).await;
    check(&world.fetch().await.unwrap_err(), ErrorKind::InvalidRequest, Some(200), "add `#sha256=..` to the name");
    let pinned = format!("{NAME}#sha256={}", sha256(b"small"));
    assert_eq!(fs::read(fetch(&world.builder(&pinned)).await.unwrap()).unwrap(), b"small");
}

#[tokio::test]
async fn a_pinned_checksum_that_is_not_the_hubs_ends_it_before_the_download() {
    let world = World::new().await;
    let pinned = format!("{NAME}#sha256={}", "0".repeat(64));
    let error = fetch(&world.builder(&pinned)).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "correct what is pinned, or the revision");
    assert_eq!(world.hub.asked().len(), 1);
}

#[tokio::test]
async fn a_pinned_checksum_holds_for_what_is_in_the_cache_already() {
    let world = World::new().await;
    let pinned = format!("{NAME}#sha256={}", sha256(&world.bytes).to_uppercase());
    let path = fetch(&world.builder(&pinned)).await.unwrap();
    fetch(&world.builder(&pinned)).await.unwrap();
    fs::write(&path, "tampered with").unwrap();
    let error = fetch(&world.builder(&pinned)).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "is not the file that is meant");
}

#[tokio::test]
async fn a_pinned_checksum_holds_for_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gguf");
    fs::write(&path, "content").unwrap();
    let pinned = |sum: &str| LocalModel::new(&format!("{}#sha256={sum}", path.display())).unwrap();
    pinned(&sha256(b"content")).fetch(|_| {}).await.unwrap();
    let error = pinned(&sha256(b"other")).fetch(|_| {}).await.unwrap_err();
    check(&error, ErrorKind::Configuration, None, "delete it and fetch it anew, or correct what is pinned");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_an_error_that_says_where_and_leaves_nothing() {
    let world = World::new().await;
    fs::create_dir_all(world.part().parent().unwrap()).unwrap();
    // Every byte that is written to this device finds the disk full.
    std::os::unix::fs::symlink("/dev/full", world.part()).unwrap();
    let advice = format!("no room for `model.gguf` (1 MB) below `{}`; make some", world.cache.path().display());
    check(&world.fetch().await.unwrap_err(), ErrorKind::Configuration, None, &advice);
    assert_eq!(files(&world.repository()), [""; 0]);
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_named() {
    let world = World::new().await;
    fs::write(world.repository(), "in the way").unwrap();
    let advice = format!("`model.gguf` cannot be written below `{}`", world.cache.path().display());
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
async fn silence_is_not_waited_for_forever() {
    let bytes = content();
    let world = World::sending(bytes.clone(), move |request| Reply::file(&bytes, request).stall(1000)).await;
    let error = fetch(&world.builder(NAME).idle_timeout(Duration::from_secs(2))).await.unwrap_err();
    check(&error, ErrorKind::Timeout, Some(200), "raise the idle timeout");
    check(&error, ErrorKind::Timeout, Some(200), "what came of it, 1 kB, is kept for the next time");
}

#[tokio::test]
async fn whoever_is_no_hub_is_told_apart() {
    let page = Reply::new(200).body(b"<html>Welcome to the prose of this proxy.</html>");
    check(&refused(page).await, ErrorKind::Protocol, Some(200), "does not say what the file is, as the hub does");
    let hostile = Reply::new(302)
        .header("x-repo-commit", "../../../etc")
        .header("x-linked-etag", "\"../../passwd\"")
        .header("x-linked-size", "-1")
        .header("location", "http://127.0.0.1:1/x");
    check(&refused(hostile).await, ErrorKind::Protocol, Some(302), "check `HF_ENDPOINT`");
}

#[tokio::test]
async fn a_redirect_that_leads_out_of_http_or_in_a_circle_is_not_followed() {
    let error = refused(Reply::linked(b"x", "file:///etc/passwd")).await;
    check(&error, ErrorKind::Protocol, Some(302), "redirects to where no file can be had safely");
    let error = refused(Reply::new(302).header("location", "/again")).await;
    check(&error, ErrorKind::Protocol, None, "redirects in a circle");
}

#[tokio::test]
async fn an_address_that_is_none_is_told() {
    let world = World::new().await;
    for url in ["huggingface.co", "ftp://huggingface.co", ""] {
        let error = fetch(&world.builder(NAME).endpoint(url)).await.unwrap_err();
        check(&error, ErrorKind::Configuration, None, "write it like `https://huggingface.co`");
    }
}

#[test]
fn an_address_with_a_password_is_refused_without_showing_it() {
    let builder = LocalModel::builder(NAME).cache_dir("/nowhere").endpoint("https://user:Secret@hub.example");
    check(&builder.build().unwrap_err(), ErrorKind::Configuration, None, "may hold no user and no password");
}

#[tokio::test]
async fn nothing_is_fetched_offline() {
    let world = World::new().await;
    let error = world.builder(NAME).offline(true).build().unwrap_err();
    check(&error, ErrorKind::Configuration, None, "`LocalBuilder::offline` forbids fetching it: leave it out");
    assert!(!error.to_string().contains("HF_HUB_OFFLINE"), "{error}");
    check(&error, ErrorKind::Configuration, None, "`hf download owner/repo model.gguf`");
    assert_eq!(world.hub.asked(), [""; 0]);
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn nothing_is_fetched_where_requests_are_forbidden() {
    // All other tests ask servers of this machine, and may go on doing so.
    llm_do_providers::forbid_requests();
    let world = World::new().await;
    let error = fetch(&world.builder(NAME).endpoint("http://hub.example")).await.unwrap_err();
    check(
        &error,
        ErrorKind::Configuration,
        None,
        "requests are forbidden here, and one to http://hub.example was made",
    );
    let elsewhere = Server::new(|_| Reply::linked(&content(), "http://cdn.example/x")).await;
    let error = fetch(&world.builder(NAME).endpoint(elsewhere.url())).await.unwrap_err();
    check(
        &error,
        ErrorKind::Configuration,
        None,
        "requests are forbidden here, and one to http://cdn.example was made",
    );
}
