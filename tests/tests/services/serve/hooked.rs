//! Webhooks of GitHub, as GitHub sends them.

use llm_do::serve::Webhook;

use super::*;

const SECRET: &str = "0123456789abcdef";
const FORM: &str = "application/x-www-form-urlencoded";

/// Bodies with their signatures.
const JSON_BODY: (&str, &str) =
    (r#"{"name":"Ann"}"#, "72dab1c13957ffc7fe5f28dcc5a12405155e9f08041e8179b6d14f2f1a2da219");
const EMPTY: (&str, &str) = ("{}", "f91e3e9f05cc2df64ac1c26f8adccdffda8d1e4a7a8c50a1a08eeadac6ddfec5");
const FORM_BODY: (&str, &str) =
    ("payload=%7B%22name%22%3A%22Ann+B%22%7D", "f0915b3d71d4eae08b983d015a3fdd676ff9a699fcdb7bc45a0f30d2a341babc");
const LONGER_FORM: (&str, &str) =
    ("x=1&payload=%7B%22name%22%3A%22Ann%22%7D", "7ff9ab7055f61ca89d063d81c4d09fbbb17bcb09b7fcc2a54c3acdc243500a43");
const EMPTY_PAYLOAD: (&str, &str) = ("payload=", "3895202ea6f901207aede6b7c45207d34971f7c6bf52bc90c0592ee46a2e1b25");
const NO_PAYLOAD: (&str, &str) = ("body=%7B%7D", "319711d847af6fca85e2a36e8445d40d0f2dc88c03cc1aa88090c54a97ba35ec");
const PING: (&str, &str) = (
    "payload=%7B%22zen%22%3A%22Keep+it+simple%22%7D",
    "0a225f8ba0cbf0bb8b89ac5063c8749fce098aca72e0c98be317ba8ea8766b28",
);

async fn hooked(change: impl Fn(Webhook) -> Webhook) -> Server {
    let hook = || change(Webhook::new("hook", SECRET, "greet").unwrap());
    Setup::new().serve_with(|service| service.webhook(hook())).await
}

/// Sends a signed body as an event of this type.
async fn deliver(
    server: &Server,
    event: &str,
    content_type: &str,
    (body, signature): (&'static str, &str),
) -> (StatusCode, Value) {
    let request = server.request(Method::POST, "/webhooks/hook").body(body).header("content-type", content_type);
    let request = request.header("x-github-event", event).header("x-hub-signature-256", format!("sha256={signature}"));
    let response = request.send().await.unwrap();
    let status = response.status();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_starts_a_run_as_json_does() {
    let server = hooked(|hook| hook).await;
    for (content_type, body, greeting) in [
        (FORM, FORM_BODY, "Hello, Ann B!"),
        ("Application/X-WWW-Form-Urlencoded; charset=utf-8", LONGER_FORM, "Hello, Ann!"),
        ("application/json", JSON_BODY, "Hello, Ann!"),
    ] {
        let (status, run) = deliver(&server, "push", content_type, body).await;
        assert_eq!(status, StatusCode::CREATED, "{content_type}: {run}");
        let finished = server.reaches(run["id"].as_str().unwrap(), "succeeded").await;
        assert_eq!(finished["result"], greeting);
        assert_eq!(finished["source"], json!({ "kind": "webhook", "name": "hook", "event": "push" }));
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_json_in_its_payload_is_refused_with_the_reason() {
    let server = hooked(|hook| hook).await;
    for (body, text) in [(NO_PAYLOAD, "missing field `payload`"), (EMPTY_PAYLOAD, "`payload`: EOF")] {
        let (status, problem) = deliver(&server, "push", FORM, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(problem["detail"].as_str().unwrap().contains(text), "{problem}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ping_is_answered_without_a_run() {
    let server = hooked(|hook| hook).await;
    assert_eq!(deliver(&server, "ping", FORM, PING).await, (StatusCode::NO_CONTENT, Value::Null));
    assert_eq!(deliver(&server, "ping", "application/json", EMPTY).await.0, StatusCode::NO_CONTENT);
    let forged = (PING.0, JSON_BODY.1);
    assert_eq!(deliver(&server, "ping", FORM, forged).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(server.get("/runs").await["runs"], json!([]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_of_one_body_are_equal_if_their_events_are() {
    let server = hooked(|hook| hook).await;
    let mut runs = Vec::new();
    for (event, status) in [
        ("push", StatusCode::CREATED),
        ("push", StatusCode::OK),
        ("pull_request", StatusCode::CREATED),
        ("push", StatusCode::OK),
    ] {
        let (answered, run) = deliver(&server, event, FORM, FORM_BODY).await;
        assert_eq!(answered, status, "{event}: {run}");
        runs.push(run["id"].clone());
    }
    assert!(runs[0] == runs[1] && runs[0] == runs[3] && runs[0] != runs[2], "{runs:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_type_of_an_event_is_passed_as_the_argument_for_it() {
    let server = hooked(|hook| hook.type_argument("name")).await;
    let (status, run) = deliver(&server, "push", "application/json", EMPTY).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    assert_eq!(server.reaches(run["id"].as_str().unwrap(), "succeeded").await["result"], "Hello, push!");
    server.stop().await;
}

#[tokio::test]
async fn a_webhook_whose_arguments_do_not_exist_is_refused() {
    type Change = fn(Webhook) -> Webhook;

    let standard = "whsec_MDEyMzQ1Njc4OWFiY2RlZg==";
    let changes: [(&str, Change, &str); 5] = [
        (SECRET, |hook| hook.argument("nam"), "`argument`: `greet` has no argument `nam`; did you mean `name`?"),
        (SECRET, |hook| hook.argument("nam"), "`greet` requires `name`, which no request passes"),
        (SECRET, |hook| hook.type_argument("kind"), "`type_argument`: `greet` has no argument `kind`"),
        (SECRET, |hook| hook.argument("name").type_argument("name"), "name the same argument"),
        (standard, |hook| hook.type_argument("name"), "`type_argument` is never passed"),
    ];
    for (secret, change, fault) in changes {
        let setup = Setup::new();
        let service = setup.service().webhook(change(Webhook::new("hook", secret, "greet").unwrap()));
        let error = service.open(setup.folder.path().join("runs.db")).await.unwrap_err().to_string();
        assert!(error.contains("webhook `hook`: ") && error.contains(fault), "{fault}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_with_an_odd_type_is_refused() {
    let server = hooked(|hook| hook).await;
    for event in ["", "Push", "a b", "a:b", &"x".repeat(65)] {
        let (status, problem) = deliver(&server, event, FORM, FORM_BODY).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{event}: {problem}");
    }
    assert_eq!(server.get("/runs").await["runs"], json!([]));
    server.stop().await;
}
