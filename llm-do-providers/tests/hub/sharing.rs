//! Several who fetch the same file at once: tasks, and processes that know each other only by the cache.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use llm_do_providers::{FetchProgress, LocalModel};

use crate::server::{COMMIT, Reply, Server, sha256};
use crate::{NAME, World, content, fetch, told};

/// A world whose file is sent only once the sender is dropped.
async fn held() -> (World, Sender<()>) {
    let (release, held) = channel();
    let bytes = content();
    let sent = bytes.clone();
    let world = World::sending(bytes, move |request| {
        // Nothing is ever sent: it ends with the sender.
        let _ = held.recv();
        Reply::file(&sent, request)
    });
    (world.await, release)
}

/// Waits until `server` was asked so often.
async fn asked(server: &Server, times: usize) {
    while server.requests().len() < times {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_file_that_is_being_fetched_is_waited_for() {
    let (world, release) = held().await;
    let (outcome, (second, told)) = tokio::join!(fetch_both(&world, release), told_after(&world));
    outcome.unwrap();
    second.unwrap();
    assert_eq!(world.sender.asked().len(), 1);
    let on = "`model.gguf` is being downloaded already; waiting for it".to_owned();
    assert_eq!(told[1..], [FetchProgress::Waiting { on }]);
}

/// Fetches, and releases the file once somebody else has been seen to ask.
async fn fetch_both(world: &World, release: Sender<()>) -> Result<std::path::PathBuf, llm_do_providers::ProviderError> {
    let builder = world.builder(NAME);
    let release = async {
        // The first asks twice, the second once.
        asked(&world.hub, 3).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(release);
    };
    tokio::join!(fetch(&builder), release).0
}

/// Fetches once somebody else has begun to.
async fn told_after(
    world: &World,
) -> (Result<std::path::PathBuf, llm_do_providers::ProviderError>, Vec<FetchProgress>) {
    asked(&world.sender, 1).await;
    told(world.builder(NAME)).await
}

#[tokio::test]
async fn two_processes_fetch_a_file_once_as_the_environment_says() {
    let (world, release) = held().await;
    let processes = [process(&world), process(&world)];
    // Each asks what the file is, and one of them for its content.
    asked(&world.hub, 3).await;
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
async fn requests_to_a_model_that_come_together_check_its_file_once() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    let model = world.builder(&format!("{NAME}#sha256={}", sha256(&world.bytes))).build().unwrap();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let first = model.fetch(|progress| told.send(progress.to_string()).unwrap());
    let second = model.fetch(|progress| told.send(progress.to_string()).unwrap());
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.unwrap(), second.unwrap());
    drop(told);
    let mut checks = 0;
    while let Some(text) = heard.recv().await {
        checks += usize::from(text == "checking the model's file (1 MB)");
    }
    assert_eq!(checks, 1);
}

#[tokio::test]
async fn requests_to_a_model_that_come_together_fetch_its_file_once() {
    let (world, release) = held().await;
    let model = world.builder(NAME).build().unwrap();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let first = model.fetch(|_| {});
    let second = async {
        asked(&world.sender, 1).await;
        model.fetch(move |progress| told.send(progress).unwrap()).await
    };
    let waited = async {
        let on = "the model's file is being fetched or checked already; waiting for it".to_owned();
        assert_eq!(heard.recv().await, Some(FetchProgress::Waiting { on }));
        // Whoever gives up waiting holds nobody up, and ends nobody's download.
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
async fn a_file_in_the_cache_needs_no_sound_token_and_no_sound_address() {
    let world = World::new().await;
    world.fetch().await.unwrap();
    for (variable, value) in [("HF_TOKEN", "hf_of two words"), ("HF_ENDPOINT", "http://127.0.0.1:1@hub.example")] {
        for offline in ["0", "1"] {
            let process = command(&world).env(variable, value).env("HF_HUB_OFFLINE", offline).spawn().unwrap();
            succeeds(process).await;
        }
    }
    // They would have been read.
    fs::remove_dir_all(world.repository().join("snapshots").join(COMMIT)).unwrap();
    let process = command(&world).env("HF_TOKEN", "hf_of two words").spawn().unwrap();
    let output = tokio::task::spawn_blocking(|| process.wait_with_output()).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the hub's token in `HF_TOKEN` is none"), "{text}");
}

/// Waits until a process has done what it should.
async fn succeeds(process: Child) {
    let output = tokio::task::spawn_blocking(|| process.wait_with_output()).await.unwrap().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Starts this program once more, for the one test that fetches.
fn process(world: &World) -> Child {
    command(world).spawn().unwrap()
}

fn command(world: &World) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "sharing::a_process_fetches", "--ignored"])
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
    // Without a hub of this machine, somebody runs all ignored tests.
    if std::env::var("HF_ENDPOINT").is_ok_and(|url| url.starts_with("http://127.0.0.1:")) {
        LocalModel::new(NAME).unwrap().fetch(|_| {}).await.unwrap();
    }
}
