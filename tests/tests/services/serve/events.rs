//! The events of runs, from any point.

use llm_do::guard::FunctionGuard;

use super::spoken::Hesitating;
use super::*;

/// Reads the events of a run until the stream ends.
async fn follow(server: &Server, path: &str, last: Option<u64>) -> Vec<(Option<u64>, Value)> {
    let mut request = server.request(Method::GET, path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let text = request.send().await.unwrap().text().await.unwrap();
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        (field("id").map(|id| id.parse().unwrap()), serde_json::from_str(field("data").unwrap()).unwrap())
    };
    text.split("\n\n").filter(|block| block.contains("data: ")).map(event).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_has_all_events_of_a_run_and_ends_with_its_state() {
    let server = Setup::new().serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    let events = follow(&server, &format!("/runs/{id}/events"), None).await;
    let kinds: Vec<_> = events.iter().filter_map(|(_, event)| event["kind"].as_str()).collect();
    assert_eq!(kinds, ["approval_decided", "call_started", "progress", "call_finished", "usage"]);
    assert!(events.iter().filter(|(_, event)| event["kind"].is_string()).all(|(_, event)| event["run"] == *id));
    assert_eq!(events.last().unwrap(), &(None, json!({ "state": "succeeded" })));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_connects_again_gets_what_it_has_not_seen() {
    let server = Setup::new().serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    let path = format!("/runs/{id}/events");
    let all = follow(&server, &path, None).await;
    let numbers = |events: &[(Option<u64>, Value)]| events.iter().filter_map(|(number, _)| *number).collect::<Vec<_>>();
    assert_eq!(numbers(&all), [1, 2, 3, 4, 5]);
    for last in 1..=5 {
        let rest = follow(&server, &path, Some(last)).await;
        assert_eq!(numbers(&rest), (last + 1..=5).collect::<Vec<_>>());
        assert_eq!(rest, follow(&server, &format!("{path}?after={last}"), None).await);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_while_the_run_waits() {
    let server = Setup::new().serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let mut response = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap();
    let mut text = String::new();
    while !text.contains("approval_asked") {
        text += &String::from_utf8_lossy(&response.chunk().await.unwrap().unwrap());
    }
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "approve" })).await;
    while let Some(chunk) = response.chunk().await.unwrap() {
        text += &String::from_utf8_lossy(&chunk);
    }
    assert!(text.contains(r#""state":"succeeded""#), "{text}");
    server.stop().await;
}

/// Follows a run until its stream ends, and lets its model go on once `seen` is in the stream.
async fn followed(setup: &Setup, server: &Server, seen: &str) -> String {
    setup.failing.0.store(true, Ordering::Relaxed);
    let id = server.start("helper", json!({ "input": "Hello" })).await;
    let mut response = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap();
    let mut text = String::new();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text += &String::from_utf8_lossy(&chunk);
        if text.contains(seen) {
            setup.failing.0.store(false, Ordering::Relaxed);
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_shown_while_it_is_written_unless_guards_have_not_seen_it() {
    let setup = Setup::new();
    let model = || Hesitating {
        model: FunctionModel::answering(|_| Answer::text("One moment. Done.")),
        switch: setup.failing.clone(),
        begun: Arc::default(),
    };
    let service = setup.service_of(|runtime| runtime.force_model(model()).streaming(true)).entries(["helper"]).unwrap();
    let server = setup.serve_this(service).await;
    let text = followed(&setup, &server, "event: partial").await;
    assert!(text.contains("event: partial\ndata: \"One moment\"\n"), "{text}");
    assert!(text.contains(r#""state":"succeeded""#), "{text}");
    server.stop().await;

    let guarded =
        |runtime: RuntimeBuilder| runtime.force_model(model()).streaming(true).guard(FunctionGuard::new("sees"));
    let server = setup.serve_this(setup.service_of(guarded).entries(["helper"]).unwrap()).await;
    let text = followed(&setup, &server, "call_started").await;
    assert!(text.contains(r#""state":"succeeded""#) && !text.contains("partial"), "{text}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_no_event_can_have_is_refused() {
    let server = Setup::new().serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    let path = format!("/runs/{id}/events");
    for last in ["9223372036854775808", "18446744073709551615", "-1", "x"] {
        let by_header = server.request(Method::GET, &path).header("last-event-id", last).send().await.unwrap();
        assert_eq!(by_header.status(), StatusCode::UNPROCESSABLE_ENTITY, "{last}");
        let by_query = server.request(Method::GET, &format!("{path}?after={last}")).send().await.unwrap();
        assert_eq!(by_query.status(), StatusCode::UNPROCESSABLE_ENTITY, "{last}");
    }
    server.stop().await;
}

/// Reports much, and waits for nothing.
#[entry]
async fn report_much(ctx: &CallContext) -> usize {
    for line in 0..50_000 {
        ctx.progress(format!("line {line}"));
    }
    50_000
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_arrive_faster_than_they_are_stored_are_dropped_and_counted() {
    let server = Setup::new().serve().await;
    let id = server.start("report_much", json!({})).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], 50_000);
    let events = follow(&server, &format!("/runs/{id}/events"), None).await;
    let stored = events.iter().filter(|(_, event)| event["kind"] == "progress").count();
    let figures = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let dropped = figures.lines().find_map(|line| line.strip_prefix("llm_do_dropped_events_total "));
    let dropped: usize = dropped.unwrap().parse().unwrap();
    assert!(dropped > 0 && stored + dropped >= 50_000, "{stored} + {dropped}");
    server.stop().await;
}
