//! Runs that schedules and webhooks start.

use std::sync::atomic::AtomicUsize;

use llm_do::serve::{Schedule, Webhook};

use super::*;

async fn scheduled(server: &Server) -> Vec<Value> {
    let runs = server.get("/runs").await["runs"].as_array().unwrap().clone();
    runs.into_iter().filter(|run| run["source"]["kind"] == "schedule").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schedule_starts_one_run_at_each_time_in_two_processes_too() {
    let setup = Setup::new();
    let daily = || {
        let schedule = Schedule::new("daily", "30 10 * * *", "greet").unwrap().time_zone("Europe/Vienna").unwrap();
        schedule.arguments(json!({ "name": "Ann" }))
    };
    let server = setup.serve_with(|service| service.schedule(daily())).await;
    let other = setup.serve_with(|service| service.schedule(daily())).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(scheduled(&server).await.is_empty());
    // From 9:00 to 10:31 in Vienna.
    setup.clock.advance(Duration::from_secs(91 * 60));
    while scheduled(&server).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let runs = scheduled(&server).await;
    assert_eq!((runs.len(), &runs[0]["source"]["name"]), (1, &json!("daily")));
    other.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_times_that_passed_without_a_process_the_latest_starts_a_run() {
    let setup = Setup::new();
    let hourly = || Schedule::new("hourly", "0 * * * *", "greet").unwrap().arguments(json!({ "name": "Ann" }));
    let server = setup.serve_with(|service| service.schedule(hourly())).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop().await;
    setup.clock.advance(Duration::from_secs(5 * 60 * 60 + 60));
    let server = setup.serve_with(|service| service.schedule(hourly())).await;
    while scheduled(&server).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(scheduled(&server).await.len(), 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_only_a_new_expression_has_was_not_missed() {
    let setup = Setup::new();
    let schedule = |cron| Schedule::new("daily", cron, "greet").unwrap().arguments(json!({ "name": "Ann" }));
    let server = setup.serve_with(|service| service.schedule(schedule("0 12 * * *"))).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop().await;
    // From 8:00 to 10:00, in which the schedule is changed from 12:00 to 9:00.
    setup.clock.advance(Duration::from_secs(2 * 60 * 60));
    let server = setup.serve_with(|service| service.schedule(schedule("0 9 * * *"))).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(scheduled(&server).await.is_empty());
    setup.clock.advance(Duration::from_secs(24 * 60 * 60));
    while scheduled(&server).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_passed_while_another_expression_was_in_force_was_not_missed() {
    let setup = Setup::new();
    let serve = |cron| {
        let schedule = |name, cron| Schedule::new(name, cron, "greet").unwrap().arguments(json!({ "name": "Ann" }));
        // The second is looked at after the first.
        let schedules = [schedule("daily", cron), schedule("hourly", "0 * * * *")];
        setup.serve_with(|service| schedules.into_iter().fold(service, Service::schedule))
    };
    let nine = "0 9 * * *";
    for (cron, known) in [(nine, 2), ("0 23 * * *", 3)] {
        let server = serve(cron).await;
        let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
        let count = || file.query_row("SELECT count(*) FROM schedules", [], |row| row.get::<_, u64>(0)).unwrap();
        while count() < known {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.stop().await;
    }
    let started = async |server: &Server, schedule: &str| {
        let runs = scheduled(server).await;
        runs.iter().filter(|run| run["source"]["name"] == schedule).count()
    };
    // From 8:00 to 10:00.
    setup.clock.advance(Duration::from_secs(2 * 60 * 60));
    let server = serve(nine).await;
    while started(&server, "hourly").await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(started(&server, "daily").await, 0);
    setup.clock.advance(Duration::from_secs(24 * 60 * 60));
    while started(&server, "daily").await == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.stop().await;
}

#[test]
fn an_invalid_schedule_is_an_error_that_names_it() {
    for cron in ["", "* * * *", "61 * * * *", "0 0 31 2 9", "* * * * * *", "0 0 30 2 *", "0 0 31 4,6 *"] {
        let error = Schedule::new("daily", cron, "greet").unwrap_err().to_string();
        assert!(error.starts_with(&format!("schedule `daily`: invalid cron expression `{cron}`")), "{error}");
    }
    let error = Schedule::new("daily", "* * * * *", "greet").unwrap().time_zone("Europe/Wien").unwrap_err();
    assert!(error.to_string().contains("unknown time zone `Europe/Wien`"), "{error}");
}

const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZg==";

fn hooked(service: Service) -> Service {
    service.webhook(Webhook::new("hook", SECRET, "greet").unwrap())
}

/// Sends a message that was signed at the time of the test clock with the secret above.
async fn deliver(server: &Server, id: &str, time: &str, signature: &str, body: &'static str) -> (StatusCode, Value) {
    let request = server.request(Method::POST, "/webhooks/hook").body(body).header("webhook-id", id);
    let request = request.header("webhook-timestamp", time).header("webhook-signature", signature);
    let response = request.send().await.unwrap();
    (response.status(), json_of(response).await)
}

/// 2026-11-25T08:00:00Z.
const NOW: &str = "1795593600";
const BODY: &str = r#"{"name":"Ann"}"#;

/// The signature of the message `msg_1` with that time and body.
const SIGNATURE: &str = "v1,grgIQXn55iM1DNIgn7GccaCjpgOsVxeGz1rzHUClDFw=";

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_message_starts_one_run_however_often_it_is_sent() {
    let server = Setup::new().serve_with(hooked).await;
    let (status, run) = deliver(&server, "msg_1", NOW, SIGNATURE, BODY).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let finished = server.reaches(run["id"].as_str().unwrap(), "succeeded").await;
    assert_eq!((&finished["result"], &finished["source"]["kind"]), (&json!("Hello, Ann!"), &json!("webhook")));
    let several = format!("v1,AAAA v2,xxxx {SIGNATURE}");
    let (status, again) = deliver(&server, "msg_1", NOW, &several, BODY).await;
    assert_eq!(
        (status, again),
        (StatusCode::OK, json!({ "id": run["id"], "state": "succeeded" })),
        "no result is shown"
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_forged_changed_or_old_start_nothing() {
    let server = Setup::new().serve_with(hooked).await;
    let hour_before = ("1795590000", "v1,Tqm3Muu1briqkIo/UlzG4jm19bWjsWYz39y+2xisqYY=");
    for (id, time, signature, body) in [
        ("msg_1", NOW, "", BODY),
        ("msg_1", NOW, "v1,", BODY),
        ("msg_1", NOW, "v1,AAAA", BODY),
        ("msg_2", NOW, SIGNATURE, BODY),
        ("msg_1", "1795593601", SIGNATURE, BODY),
        ("msg_1", "soon", SIGNATURE, BODY),
        ("msg_1", NOW, SIGNATURE, r#"{"name":"Bob"}"#),
        ("msg_1", hour_before.0, hour_before.1, BODY),
    ] {
        let (status, problem) = deliver(&server, id, time, signature, body).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{id} {time} {signature} {body}");
        assert_eq!(problem["type"], "urn:llm-do:problem:invalid_signature");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("invalid or expired signature") && !detail.contains("bearer"), "{detail}");
    }
    assert_eq!(server.request(Method::POST, "/webhooks/hook").body(BODY).send().await.unwrap().status(), 401);
    assert_eq!(server.request(Method::POST, "/webhooks/other").body(BODY).send().await.unwrap().status(), 404);
    assert_eq!(server.get("/runs").await["runs"], json!([]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_with_the_signature_of_github_starts_a_run() {
    // Clients may start something else only.
    let hooked = |service: Service| {
        let service = service.webhook(Webhook::new("hook", "0123456789abcdef", "greet").unwrap());
        service.entries(["meet"]).unwrap()
    };
    let server = Setup::new().serve_with(hooked).await;
    let next = AtomicUsize::new(1);
    let signed = "sha256=72dab1c13957ffc7fe5f28dcc5a12405155e9f08041e8179b6d14f2f1a2da219";
    let send = |signature: &'static str| {
        let request = server.request(Method::POST, "/webhooks/hook").body(BODY);
        let delivery = next.fetch_add(1, Ordering::Relaxed);
        request.header("x-github-delivery", delivery).header("x-hub-signature-256", signature).send()
    };
    assert_eq!(send(signed).await.unwrap().status(), StatusCode::CREATED);
    assert_eq!(send(signed).await.unwrap().status(), StatusCode::OK, "the id of a delivery is not signed");
    // The secret of the other scheme.
    let standard = Setup::new().serve_with(self::hooked).await;
    let request = standard.request(Method::POST, "/webhooks/hook").body(BODY);
    let request = request.header("x-hub-signature-256", signed);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    standard.stop().await;
    for forged in
        ["sha256=", "sha256=zz", "sha1=00", "sha256=0000000000000000000000000000000000000000000000000000000000000000"]
    {
        assert_eq!(send(forged).await.unwrap().status(), StatusCode::UNAUTHORIZED, "{forged}");
    }
    server.stop().await;
}
