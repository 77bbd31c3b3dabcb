//! Downloads that break off, and what becomes of what came.

use std::fs;
use std::time::Duration;

use llm_do_providers::{ErrorKind, FetchProgress};
use tokio::time::timeout;

use crate::server::{Received, Reply, Server};
use crate::{NAME, World, content, fetch, told};

/// How much comes before the connection breaks.
const HALF: usize = 500_000;

/// A world in which the first download is answered by `first`, and the others by `then`.
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

/// A world in which the first download breaks.
async fn breaking(then: impl Fn(&[u8], &Received) -> Reply + Send + 'static) -> World {
    turning(|bytes, request| Reply::file(bytes, request).cut(HALF), then).await
}

#[tokio::test]
async fn a_download_that_breaks_goes_on_from_there() {
    let world = breaking(Reply::file).await;
    let (outcome, told) = told(world.builder(NAME).retries(1)).await;
    assert_eq!(fs::read(outcome.unwrap()).unwrap(), world.bytes);
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    let waits: Vec<_> = told.iter().filter(|told| matches!(told, FetchProgress::Waiting { .. })).collect();
    assert_eq!(waits.len(), 2, "{told:?}");
    assert!(waits[1].to_string().ends_with(" after a lost connection"), "{told:?}");
}

#[tokio::test]
async fn a_download_goes_on_as_long_as_more_comes_each_time() {
    let bytes = content();
    let file = bytes.clone();
    let world = World::sending(bytes, move |request| Reply::file(&file, request).cut(HALF)).await;
    let path = fetch(&world.builder(NAME).retries(1)).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
    assert_eq!(world.sender.asked().len(), 3);
}

#[tokio::test]
async fn a_download_that_falls_silent_goes_on_from_there() {
    let world = turning(|bytes, request| Reply::file(bytes, request).stall(HALF), Reply::file).await;
    let (outcome, told) = told(world.builder(NAME).retries(1).idle_timeout(Duration::from_secs(2))).await;
    assert_eq!(fs::read(outcome.unwrap()).unwrap(), world.bytes);
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    assert!(told.iter().any(|told| told.to_string().ends_with(" after silence")), "{told:?}");
}

#[tokio::test]
async fn what_came_of_a_broken_download_is_kept_for_the_next_and_is_no_file() {
    let world = breaking(Reply::file).await;
    let error = world.fetch().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    let text = error.to_string();
    assert!(text.contains("broke in the middle of the answer; try again; what came of it, 500 kB, is kept"), "{text}");
    assert_eq!(fs::read(world.part()).unwrap(), world.bytes[..HALF]);
    assert!(!world.blob().exists() && !world.repository().join("snapshots").exists());
    world.fetch().await.unwrap();
    assert_eq!(world.sender.ranges(), [None, Some(format!("bytes={HALF}-"))]);
    assert!(!world.part().exists());
}

#[tokio::test]
async fn a_server_that_sends_no_parts_sends_the_whole() {
    let world = breaking(|bytes, _| Reply::new(200).body(bytes)).await;
    let path = fetch(&world.builder(NAME).retries(1)).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), world.bytes);
}

#[tokio::test]
async fn a_server_that_cannot_go_on_begins_anew() {
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

/// Fetches in a world whose sender breaks off each time, and returns how often it was asked.
async fn asked_in_vain(answer: impl FnMut(&Received) -> Reply + Send + 'static) -> usize {
    let world = World::sending(content(), answer).await;
    let builder = world.builder(NAME).retries(2);
    let error = timeout(Duration::from_secs(30), fetch(&builder)).await.expect("the tries end").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.to_string().contains("tried 3 times"), "{error}");
    world.sender.asked().len()
}

#[tokio::test]
async fn what_is_lost_and_comes_again_is_no_progress() {
    let (bytes, mut is_short) = (content(), false);
    let file = bytes.clone();
    let refusing = asked_in_vain(move |request| match request.header("range") {
        Some(_) => Reply::new(416),
        None => Reply::file(&file, request).cut(HALF),
    });
    let ignoring = asked_in_vain(move |_| {
        is_short = !is_short;
        Reply::new(200).body(&bytes).cut(if is_short { HALF / 2 } else { HALF })
    });
    // The second of those who send the whole comes further than the first, once.
    assert_eq!(tokio::join!(refusing, ignoring), (3, 4));
}

#[tokio::test]
async fn what_was_left_behind_damaged_is_fetched_anew() {
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
async fn what_was_left_behind_whole_is_not_fetched() {
    let world = World::new().await;
    fs::create_dir_all(world.part().parent().unwrap()).unwrap();
    fs::write(world.part(), &world.bytes).unwrap();
    world.fetch().await.unwrap();
    assert_eq!(world.sender.asked(), [""; 0]);
}

#[tokio::test]
async fn a_failure_of_the_hub_that_passes_is_not_seen() {
    let world = World::new().await;
    let (bytes, location) = (world.bytes.clone(), format!("{}/x", world.sender.url()));
    let mut failures = vec![Reply::new(503), Reply::new(429).header("retry-after", "0")];
    let hub = Server::new(move |_| failures.pop().unwrap_or_else(|| Reply::linked(&bytes, &location))).await;
    let world = World { hub, ..world };
    let (outcome, told) = told(world.builder(NAME).retries(2)).await;
    outcome.unwrap();
    let on = "retry 1 of 2 in 0 s after status 429".to_owned();
    assert_eq!(told[1], FetchProgress::Waiting { on });
}

#[tokio::test]
async fn dropping_a_download_ends_it_and_keeps_what_came() {
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
        _ = download => panic!("the server never says the rest"),
        () = most => {}
    }
    // Whoever comes next gets the lock, though the server still has not said another word.
    timeout(Duration::from_secs(15), world.fetch()).await.unwrap().unwrap();
    let from = world.sender.ranges()[1].clone().unwrap();
    assert!(
        from.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse::<u64>().unwrap() > 400_000,
        "{from}"
    );
}
