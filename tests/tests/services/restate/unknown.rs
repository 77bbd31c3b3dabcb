//! A call whose worker ended between its effect and its record: a person is asked once for each time, and it is never made again unasked.

use std::net::SocketAddr;
use std::path::Path;

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::engine::{Worker, shared, wait_for};
use super::processes::Workers;

fn crashes(folder: &Path) -> usize {
    let lines = std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    lines.lines().filter(|line| line.starts_with("crash ")).count()
}

/// Waits until the worker has ended after its effect, and starts it again; returns what a person is asked.
async fn asked_after_the_end(client: &Worker, workers: &mut Workers, run: &str) -> Value {
    wait_for(async || workers.has_ended(0)).await;
    workers.kill(0);
    workers.spawn(0);
    client.question(run).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_have_happened_is_asked_about_once_for_each_time_that_it_began() {
    let Some((_, admin)) = shared() else { return };
    // The workers have addresses of their own.
    let Some(client) = Worker::client("killed", SocketAddr::from(([127, 0, 0, 1], 0))) else { return };
    let mut workers = Workers::start(1, admin).await;
    client.is_registered().await;
    let run = client.start("crash", json!({ "pays": true })).await;
    std::fs::write(workers.folder().join("go"), "").unwrap();

    let first = asked_after_the_end(&client, &mut workers, &run).await;
    let shown = &first["asked"]["shown"];
    assert_eq!((&shown["tool"], shown["began"].is_string()), (&json!("crash_paying"), true), "{first}");
    assert_eq!(shown["result_schema"]["type"], "string", "{first}");
    assert_eq!(crashes(workers.folder()), 1, "it is not made again unasked");

    // A person answers that it has not happened: it is made once more, and asked about again.
    assert_eq!(client.answer(&first, json!({ "decision": "approve" })).await.0, StatusCode::OK);
    let second = asked_after_the_end(&client, &mut workers, &run).await;
    assert_ne!(second["id"], first["id"]);
    assert_eq!(crashes(workers.folder()), 2);

    let happened = json!({ "decision": "happened", "result": "paid by hand" });
    assert_eq!(client.answer(&second, happened).await.0, StatusCode::OK);
    assert_eq!(client.end(&run).await.1["result"], "paid by hand");
    assert_eq!(crashes(workers.folder()), 2);
    assert!(client.waiting().await.iter().all(|question| question["run"] != run));
}
