//! Concurrent downloads of one file: by tasks, and by processes that share only the cache.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use llm_do_providers::{FetchProgress, LocalModel};

use crate::hub::server::{COMMIT, Reply, Server, sha256};
use crate::hub::{NAME, World, content, fetch, reported};

/// A world whose content is sent once the sender is dropped.
async fn held() -> (World, Sender<()>) {
    let (release, held) = channel();
    let bytes = content();
    let sent = bytes.clone();
    let world = World::sending(bytes, move |request| {
        // Nothing is sent: it returns when the sender is dropped.
        let _ = held.recv();
        Reply::file(&sent, request)
    });
    (world.await, release)
}

/// Waits until `server` has received `times` requests.
async fn wait_for_requests(server: &Server, times: usize) {
    while server.requests().len() < times {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_second_download_waits_for_the_first() {
    let (world, release) = held().await;
    let (outcome, (second, reported)) = tokio::join!(fetch_both(&world, release), reported_after(&world));
    outcome.unwrap();
    second.unwrap();
    assert_eq!(world.sender.asked().len(), 1);
    let on = "waiting for another download of `model.gguf`".to_owned();
    assert_eq!(reported[1..], [FetchProgress::Waiting { on }]);
}

/// Downloads, and releases the content once another request has been received.
async fn fetch_both(world: &World, release: Sender<()>) -> Result<std::path::PathBuf, llm_do_providers::ProviderError> {
    let builder = world.builder(NAME);
    let release = async {
        // The first sends two requests, the second one.
        wait_for_requests(&world.hub, 3).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(release);
    };
    tokio::join!(fetch(&builder), release).0
}

/// Downloads once another download has started.
async fn reported_after(
    world: &World,
) -> (Result<std::path::PathBuf, llm_do_providers::ProviderError>, Vec<FetchProgress>) {
    wait_for_requests(&world.sender, 1).await;
    reported(world.builder(NAME)).await
}

#[tokio::test]
async fn two_processes_download_a_file_once_with_the_environment_settings() {
    let (world, release) = held().await;
    let processes = [process(&world), process(&world)];
    // Each requests the metadata, and only one the content.
    wait_for_requests(&world.hub, 3).await;
    drop(release);
    for process in processes {
        succeeds(process).await;
    }
    assert_eq!(world.sender.asked().len(), 1);
    assert_eq!(fs::read(world.blob()).unwrap(), world.bytes);
    for request in world.hub.requests() {
        assert_eq!(request.header("authorization"), Some("Bearer hf_ofTheEnvironment"));
    }
}

#[tokio::test]
async fn concurrent_requests_check_a_file_once() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    let model = world.builder(&format!("{NAME}#sha256={}", sha256(&world.bytes))).build().unwrap();
    let (reported, mut received) = tokio::sync::mpsc::unbounded_channel();
    let first = model.fetch(|progress| reported.send(progress.to_string()).unwrap());
    let second = model.fetch(|progress| reported.send(progress.to_string()).unwrap());
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.unwrap(), second.unwrap());
    drop(reported);
    let mut checks = 0;
    while let Some(text) = received.recv().await {
        checks += usize::from(text == "checking the model's file (1 MB)");
    }
    assert_eq!(checks, 1);
}

#[tokio::test]
async fn concurrent_requests_download_a_file_once() {
    let (world, release) = held().await;
    let model = world.builder(NAME).build().unwrap();
    let (reported, mut received) = tokio::sync::mpsc::unbounded_channel();
    let first = model.fetch(|_| {});
    let second = async {
        wait_for_requests(&world.sender, 1).await;
        model.fetch(move |progress| reported.send(progress).unwrap()).await
    };
    let waited = async {
        let on = "waiting for another request that downloads or checks the model's file".to_owned();
        assert_eq!(received.recv().await, Some(FetchProgress::Waiting { on }));
        // A waiting request that is dropped blocks no other and does not stop the download.
        let mut given_up = Box::pin(model.fetch(|_| {}));
        _ = tokio::time::timeout(Duration::from_millis(50), &mut given_up).await;
        drop(given_up);
        drop(release);
    };
    let (first, second, ()) = tokio::join!(first, second, waited);
    assert_eq!(first.unwrap(), second.unwrap());
    assert_eq!((world.hub.asked().len(), world.sender.asked().len()), (2, 1));
}

#[tokio::test]
async fn a_cached_file_needs_no_valid_token_or_url() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    for (variable, value) in [("HF_TOKEN", "hf_of two words"), ("HF_ENDPOINT", "http://127.0.0.1:1@hub.example")] {
        for offline in ["0", "1"] {
            let process = command(&world).env(variable, value).env("HF_HUB_OFFLINE", offline).spawn().unwrap();
            succeeds(process).await;
        }
    }
    // Without the cached file they are read.
    fs::remove_dir_all(world.repository().join("snapshots").join(COMMIT)).unwrap();
    let process = command(&world).env("HF_TOKEN", "hf_of two words").spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| process.wait_with_output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("invalid hub token in `HF_TOKEN`"), "{text}");
}

/// Waits for a process and checks its exit status.
async fn succeeds(process: Child) {
    let output = tokio::task::spawn_blocking(|| process.wait_with_output()).await.unwrap().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Starts this test program again for the one test that downloads.
fn process(world: &World) -> Child {
    command(world).spawn().unwrap()
}

fn command(world: &World) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "hub::sharing::a_process_fetches", "--ignored"])
        .env("HF_ENDPOINT", world.hub.url())
        .env("HF_HUB_CACHE", world.cache.path())
        .env("HF_TOKEN", "hf_ofTheEnvironment\n")
        .env_remove("HF_HUB_OFFLINE")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[tokio::test]
#[ignore = "it is one of two processes that another test starts"]
async fn a_process_fetches() {
    // Without a local hub, all ignored tests are being run.
    if std::env::var("HF_ENDPOINT").is_ok_and(|url| url.starts_with("http://127.0.0.1:")) {
        LocalModel::new(NAME).unwrap().fetch(|_| {}).await.unwrap();
    }
}
