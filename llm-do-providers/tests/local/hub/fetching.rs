//! Requests to the hub, and the content of the cache afterwards.

use std::fs;

use llm_do_providers::{ApiKey, FetchProgress, LocalModel};

use crate::hub::server::{COMMIT, Reply, Server, sha256};
use crate::hub::{NAME, PLACE, World, fetch, files, reported};

#[tokio::test]
async fn metadata_is_requested_by_branch_and_content_by_commit() {
    let world = World::new().await;
    let path = world.fetch().await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), world.bytes);
    let by_commit = format!("GET /owner/repo/resolve/{COMMIT}/model.gguf");
    assert_eq!(world.hub.asked(), [format!("HEAD {PLACE}"), by_commit]);
    assert_eq!(world.sender.asked(), ["GET /somewhere/else"]);
}

#[tokio::test]
async fn the_cache_has_the_documented_layout() {
    let world = World::new().await;
    let path = world.fetch().await.unwrap();
    let snapshot = world.repository().join("snapshots").join(COMMIT).join("model.gguf");
    assert_eq!(path, snapshot.canonicalize().unwrap());
    assert_eq!(fs::read_to_string(world.repository().join("refs/main")).unwrap(), COMMIT);
    let sum = sha256(&world.bytes);
    let mut wanted = [
        format!(".locks/models--owner--repo/{sum}.lock"),
        format!("models--owner--repo/blobs/{sum}"),
        "models--owner--repo/refs/main".to_owned(),
        format!("models--owner--repo/snapshots/{COMMIT}/model.gguf"),
    ];
    wanted.sort();
    assert_eq!(files(world.cache.path()), wanted);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_in_a_directory_is_a_relative_link_to_its_content() {
    let world = World::new().await;
    fetch(&world.builder("owner/repo/a/b.gguf")).await.unwrap();
    let target = fs::read_link(world.repository().join("snapshots").join(COMMIT).join("a/b.gguf")).unwrap();
    assert_eq!(target.to_str().unwrap(), format!("../../../blobs/{}", sha256(&world.bytes)));
}

#[tokio::test]
async fn a_file_in_the_cache_needs_no_network() {
    let world = World::new().await;
    let snapshot = world.repository().join("snapshots").join(COMMIT);
    fs::create_dir_all(&snapshot).unwrap();
    fs::create_dir_all(world.repository().join("refs")).unwrap();
    // Forms that the hub's own tools or an editor write.
    fs::write(world.repository().join("refs/main"), format!("{COMMIT}\n")).unwrap();
    fs::write(snapshot.join("model.gguf"), "from another tool").unwrap();
    let there = snapshot.join("model.gguf").canonicalize().unwrap();
    assert_eq!(world.fetch().await.unwrap(), there);
    let by_commit = format!("owner/repo@{COMMIT}/model.gguf");
    assert_eq!(fetch(&world.builder(&by_commit).offline(true)).await.unwrap(), there);
    assert_eq!(world.hub.asked(), [""; 0]);
}

#[tokio::test]
async fn a_reference_that_is_not_a_commit_is_ignored() {
    let world = World::new().await;
    fs::create_dir_all(world.repository().join("refs")).unwrap();
    fs::create_dir_all(world.repository().join("elsewhere")).unwrap();
    fs::write(world.repository().join("refs/main"), "../elsewhere").unwrap();
    fs::write(world.repository().join("elsewhere/model.gguf"), "not this").unwrap();
    let path = world.fetch().await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
}

#[tokio::test]
async fn a_cached_file_is_not_downloaded_again() {
    let world = World::new().await;
    let first = world.fetch().await.unwrap();
    assert_eq!(world.fetch().await.unwrap(), first);
    assert_eq!(world.hub.asked().len(), 2);
}

#[tokio::test]
async fn cached_content_is_not_downloaded_for_another_revision() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    fetch(&world.builder("owner/repo@v1/model.gguf")).await.unwrap();
    assert_eq!(world.sender.asked().len(), 1);
    assert_eq!(world.hub.asked()[2..], ["HEAD /owner/repo/resolve/v1/model.gguf"]);
    assert_eq!(fs::read_to_string(world.repository().join("refs/v1")).unwrap(), COMMIT);
}

#[tokio::test]
async fn models_with_the_same_content_have_the_same_path() {
    let world = World::new().await;
    let fetched = world.fetch().await.unwrap();
    assert_eq!(fetch(&world.builder("owner/repo@v1/model.gguf")).await.unwrap(), fetched);
    assert_eq!(world.fetch().await.unwrap(), fetched, "in the cache");
    let snapshot = world.repository().join("snapshots").join(COMMIT).join("model.gguf");
    assert_eq!(fetch(&world.builder(snapshot.to_str().unwrap())).await.unwrap(), fetched, "at a path");
}

#[tokio::test]
async fn cached_content_of_another_size_is_downloaded_again() {
    let world = World::new().await;
    fs::create_dir_all(world.blob().parent().unwrap()).unwrap();
    fs::write(world.blob(), "half").unwrap();
    let path = world.fetch().await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
}

#[tokio::test]
async fn a_revision_with_a_slash_is_one_segment_of_the_url() {
    let world = World::new().await;
    fetch(&world.builder("owner/repo@refs%2Fpr%2F1/model.gguf")).await.unwrap();
    assert_eq!(world.hub.asked()[0], "HEAD /owner/repo/resolve/refs%2Fpr%2F1/model.gguf");
    assert_eq!(fs::read_to_string(world.repository().join("refs/refs/pr/1")).unwrap(), COMMIT);
}

#[tokio::test]
async fn a_commit_needs_no_reference() {
    let world = World::new().await;
    fetch(&world.builder(&format!("owner/repo@{COMMIT}/model.gguf"))).await.unwrap();
    assert!(!world.repository().join("refs").exists());
}

#[tokio::test]
async fn the_token_is_sent_to_the_hub_and_not_to_redirect_targets() {
    let world = World::new().await;
    fetch(&world.builder(NAME).token(ApiKey::new("hf_Secret").unwrap())).await.unwrap();
    for request in world.hub.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer hf_Secret"), "{request:?}");
    }
    assert_eq!(world.sender.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn compression_is_not_requested() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    for request in world.hub.requests().iter().chain(&world.sender.requests()) {
        assert_eq!(request.header("accept-encoding"), Some("identity"), "{request:?}");
    }
}

#[tokio::test]
async fn a_repository_that_moved_is_followed() {
    let world = World::new().await;
    let (bytes, location) = (world.bytes.clone(), format!("{}/x", world.sender.url()));
    let hub = Server::new(move |request| match request.path.strip_prefix("/owner/repo/") {
        Some(rest) => Reply::new(307).header("location", &format!("/new/name/{rest}")),
        None => Reply::linked(&bytes, &location),
    });
    let world = World { hub: hub.await, ..world };
    let path = world.fetch().await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
    assert_eq!(world.hub.asked()[1], "HEAD /new/name/resolve/main/model.gguf");
}

#[tokio::test]
async fn metadata_is_read_before_redirects_within_the_hub() {
    let world = World::new().await;
    let bytes = world.bytes.clone();
    let hub = Server::new(move |request| match request.path.as_str() {
        "/storage/x" => Reply::file(&bytes, request),
        _ => Reply::linked(&bytes, "/storage/x"),
    });
    let world = World { hub: hub.await, ..world };
    let path = world.fetch().await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
}

#[tokio::test]
async fn the_size_may_come_from_the_redirect_target() {
    let world = World::new().await;
    let location = format!("{}/x", world.sender.url());
    // Its content length is that of the redirect's body, not that of the file.
    let moved = Reply::new(302).header("x-repo-commit", COMMIT).header("location", &location).body(b"It moved.");
    let world = World { hub: Server::new(move |_| moved.clone()).await, ..world };
    let pinned = format!("{NAME}#sha256={}", sha256(&world.bytes));
    let path = fetch(&world.builder(&pinned).token(ApiKey::new("hf_Secret").unwrap())).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
    assert_eq!(world.hub.requests()[0].header("authorization"), Some("Bearer hf_Secret"));
    assert_eq!(world.sender.asked(), ["HEAD /x", "GET /x"]);
    for request in world.sender.requests() {
        assert_eq!(request.header("authorization"), None, "{request:?}");
    }
}

#[tokio::test]
async fn the_endpoint_may_have_a_path() {
    let world = World::new().await;
    fetch(&world.builder(NAME).endpoint(format!("{}/mirror/", world.hub.url()))).await.unwrap();
    assert_eq!(world.hub.asked()[0], format!("HEAD /mirror{PLACE}"));
}

#[tokio::test]
async fn progress_is_reported_up_to_completion() {
    let world = World::new().await;
    let (outcome, reported) = reported(world.builder(NAME)).await;
    outcome.unwrap();
    let total = world.bytes.len() as u64;
    let received = |bytes| FetchProgress::Received { file: "model.gguf".into(), bytes, total };
    let on = format!("requesting the metadata of `model.gguf` from {}", world.hub.url());
    assert_eq!(reported[..2], [FetchProgress::Waiting { on }, received(0)]);
    assert_eq!(reported.last(), Some(&received(total)));
    assert!(reported.len() <= 203, "{} times", reported.len());
}

#[tokio::test]
async fn a_file_on_this_machine_needs_no_download() {
    let world = World::new().await;
    let path = world.cache.path().join("here.gguf");
    fs::write(&path, "x").unwrap();
    let model = LocalModel::new(path.to_str().unwrap()).unwrap();
    assert_eq!(model.fetch(|_| {}).await.unwrap(), path.canonicalize().unwrap());
}
