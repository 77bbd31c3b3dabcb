//! Interrupted downloads and their partial files.

use std::fs;
use std::time::Duration;

use llm_do_providers::{ErrorKind, FetchProgress};
use tokio::time::timeout;

use crate::hub::server::{Received, Reply, Server};
use crate::hub::{NAME, World, content, fetch, reported};

/// The number of bytes before the connection breaks.
const HALF: usize = 500_000;

/// A world whose first download is answered by `first`, and the rest by `then`.
async fn turning(
    first: impl Fn(&[u8], &Received) -> Reply + Send + 'static,
    then: impl Fn(&[u8], &Received) -> Reply + Send + 'static,
) -> World {
    let (bytes, mut is_first) = (content(), true);
    let file = bytes.clone();
    let answer = move |request: &Received| {
        if std::mem::take(&mut is_first) { first(&file, request) } else { then(&file, request) }
    };
    World::sending(bytes, answer).await
}

/// A world whose first download breaks.
async fn breaking(then: impl Fn(&[u8], &Received) -> Reply + Send + 'static) -> World {
    turning(|bytes, request| Reply::file(bytes, request).cut(HALF), then).await
}

#[tokio::test]
async fn an_interrupted_download_is_resumed() {
    let world = breaking(Reply::file).await;
    let (outcome, reported) = reported(world.builder(NAME).retries(1)).await;
    assert_eq!(fs::read(outcome.unwrap()).unwrap(), world.bytes);
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    let waits: Vec<_> = reported.iter().filter(|reported| matches!(reported, FetchProgress::Waiting { .. })).collect();
    assert_eq!(waits.len(), 2, "{reported:?}");
    assert!(waits[1].to_string().ends_with(" after a lost connection"), "{reported:?}");
}

#[tokio::test]
async fn a_download_continues_while_each_attempt_makes_progress() {
    let bytes = content();
    let file = bytes.clone();
    let world = World::sending(bytes, move |request| Reply::file(&file, request).cut(HALF)).await;
    let path = fetch(&world.builder(NAME).retries(1)).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
    assert_eq!(world.sender.asked().len(), 3);
}

#[tokio::test]
async fn a_stalled_download_is_resumed() {
    let world = turning(|bytes, request| Reply::file(bytes, request).stall(HALF), Reply::file).await;
    let (outcome, reported) = reported(world.builder(NAME).retries(1).idle_timeout(Duration::from_secs(2))).await;
    assert_eq!(fs::read(outcome.unwrap()).unwrap(), world.bytes);
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    assert!(reported.iter().any(|reported| reported.to_string().ends_with(" after a timeout")), "{reported:?}");
}

#[tokio::test]
async fn a_partial_file_is_kept_for_the_next_download_and_never_used() {
    let world = breaking(Reply::file).await;
    let error = world.fetch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    let text = error.to_string();
    assert!(
        text.contains("broke in the middle of the answer; try again; the received part (500 kB) is kept"),
        "{text}"
    );
    assert_eq!(fs::read(world.part()).unwrap(), world.bytes[..HALF]);
    assert!(!world.blob().exists() && !world.repository().join("snapshots").exists());
    world.fetch().await.unwrap();
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    assert!(!world.part().exists());
}

#[tokio::test]
async fn a_server_without_range_support_restarts_the_download() {
    let world = breaking(|bytes, _| Reply::new(200).body(bytes)).await;
    let path = fetch(&world.builder(NAME).retries(1)).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
}

#[tokio::test]
async fn a_server_with_a_wrong_range_restarts_the_download() {
    for status in [206, 416] {
        let world = breaking(move |bytes, request| match request.header("range") {
            Some(_) => Reply::new(status).header("content-range", "bytes 7-8/9").body(b"no"),
            None => Reply::file(bytes, request),
        });
        let world = world.await;
        let path = fetch(&world.builder(NAME).retries(2)).await.unwrap();
        assert_eq!(fs::read(path).unwrap(), world.bytes);
        assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-")), None]);
    }
}

/// Downloads in a world whose connections always break; returns the number of requests.
async fn failing_requests(answer: impl FnMut(&Received) -> Reply + Send + 'static) -> usize {
    let world = World::sending(content(), answer).await;
    let builder = world.builder(NAME).retries(2);
    let error = timeout(Duration::from_secs(30), fetch(&builder)).await.expect("the tries end").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.to_string().contains("tried 3 times"), "{error}");
    world.sender.asked().len()
}

#[tokio::test]
async fn bytes_received_again_are_not_progress() {
    let (bytes, mut is_short) = (content(), false);
    let file = bytes.clone();
    let refusing = failing_requests(move |request| match request.header("range") {
        Some(_) => Reply::new(416),
        None => Reply::file(&file, request).cut(HALF),
    });
    let ignoring = failing_requests(move |_| {
        is_short = !is_short;
        Reply::new(200).body(&bytes).cut(if is_short { HALF / 2 } else { HALF })
    });
    // The second full response is longer than the first, which counts as progress once.
    assert_eq!(tokio::join!(refusing, ignoring), (3, 4));
}

#[tokio::test]
async fn a_damaged_partial_file_is_downloaded_again() {
    let world = World::new().await;
    fs::create_dir_all(world.part().parent().unwrap()).unwrap();
    for left in [b"damaged".to_vec(), vec![7; world.bytes.len()], vec![7; world.bytes.len() + 1]] {
        let _ = fs::remove_dir_all(world.repository().join("snapshots"));
        let _ = fs::remove_file(world.blob());
        fs::write(world.part(), left).unwrap();
        let path = world.fetch().await.unwrap();
        assert_eq!(fs::read(path).unwrap(), world.bytes);
    }
}

#[tokio::test]
async fn a_complete_partial_file_is_not_downloaded_again() {
    let world = World::new().await;
    fs::create_dir_all(world.part().parent().unwrap()).unwrap();
    fs::write(world.part(), &world.bytes).unwrap();
    world.fetch().await.unwrap();
    assert_eq!(world.sender.asked(), [""; 0]);
}

#[tokio::test]
async fn a_transient_failure_of_the_hub_is_retried() {
    let world = World::new().await;
    let (bytes, location) = (world.bytes.clone(), format!("{}/x", world.sender.url()));
    let mut failures = vec![Reply::new(503), Reply::new(429).header("retry-after", "0")];
    let hub = Server::new(move |_| failures.pop().unwrap_or_else(|| Reply::linked(&bytes, &location))).await;
    let world = World { hub, ..world };
    let (outcome, reported) = reported(world.builder(NAME).retries(2)).await;
    outcome.unwrap();
    let on = "retry 1 of 2 in 0 s after status 429".to_owned();
    assert_eq!(reported[1], FetchProgress::Waiting { on });
}

#[tokio::test]
async fn dropping_a_download_stops_it_and_keeps_the_partial_file() {
    let world = turning(|bytes, request| Reply::file(bytes, request).stall(HALF), Reply::file).await;
    let model = world.builder(NAME).build().unwrap();
    let (seen, mut came) = tokio::sync::mpsc::unbounded_channel();
    let download = model.fetch(move |progress| drop(seen.send(progress)));
    let most = async {
        while let Some(progress) = came.recv().await {
            if matches!(progress, FetchProgress::Received { bytes, .. } if bytes > 400_000) {
                return;
            }
        }
    };
    tokio::select! {
        _ = download => panic!("the server never sends the rest"),
        () = most => {}
    }
    // The next download gets the lock although the server has not sent another byte.
    timeout(Duration::from_secs(15), world.fetch()).await.unwrap().unwrap();
    let from = world.sender.ranges()[1].clone().unwrap();
    assert!(
        from.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse::<u64>().unwrap() > 400_000,
        "{from}"
    );
}
