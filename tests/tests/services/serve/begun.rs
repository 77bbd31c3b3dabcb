//! What may have had its effect: who resumes it, what is asked, and how a run ends in which processes die.

use llm_do::approval::ApprovalMode;
use llm_do::serve::{Client, Role};

use super::killed::Served;
use super::*;

const STARTER: &str = "starter-0123456789abcdef";
const DECIDER: &str = "decider-0123456789abcdef";

/// Wires money, and fails after that while the switch is on.
#[tool(effect = destructive, approval = pre_approved)]
fn wire_money(to: String, lines: State<Lines>, failing: State<Failing>) -> Result<usize> {
    lines.0.lock().unwrap().push(to);
    if failing.0.load(Ordering::Relaxed) { Err("the line is dead".into()) } else { Ok(1) }
}

/// Wires money, and never learns whether it has arrived.
#[tool(effect = destructive, approval = pre_approved)]
async fn wire_slowly(to: String, lines: State<Lines>) {
    lines.0.lock().unwrap().push(to);
    std::future::pending::<()>().await;
}

/// Wires money.
#[entry(toolsets = [wire_money, wire_slowly])]
async fn transfer(ctx: &CallContext<transfer>, to: String, slowly: bool) -> Result<()> {
    if slowly {
        ctx.call(wire_slowly { to }).await?;
    } else {
        ctx.call(wire_money { to }).await?;
    }
    Ok(())
}

/// Posts a letter.
#[tool(effect = destructive)]
fn post_letter(to: String, lines: State<Lines>) -> usize {
    lines.0.lock().unwrap().push(to);
    1
}

/// Posts a letter, once it is written.
#[tool(toolsets = [post_letter])]
async fn write_letter(ctx: &CallContext<write_letter>, to: String) -> Result<usize> {
    Ok(ctx.call(post_letter { to }).await?)
}

/// Writes to a friend.
#[entry(toolsets = [write_letter])]
async fn correspond(ctx: &CallContext<correspond>, to: String) -> Result<usize> {
    Ok(ctx.call(write_letter { to }).await?)
}

async fn send(server: &Server, token: &str, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
    let response = server.request(method, path).bearer_auth(token).json(&body).send().await.unwrap();
    (response.status(), json_of(response).await)
}

/// Starts a run and waits until it has this state.
async fn started(server: &Server, entry: &str, arguments: Value) -> String {
    let body = json!({ "entry": entry, "arguments": arguments });
    let (status, run) = send(server, STARTER, Method::POST, "/runs", body).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    run["id"].as_str().unwrap().to_owned()
}

async fn reaches(server: &Server, id: &str, state: &str) {
    while send(server, STARTER, Method::GET, &format!("/runs/{id}"), json!(null)).await.1["state"] != state {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn resume(server: &Server, token: &str, id: &str) -> (StatusCode, Value) {
    send(server, token, Method::POST, &format!("/runs/{id}/resume"), json!({})).await
}

async fn serve(setup: &Setup, mode: ApprovalMode) -> Server {
    let starter = Client::new("starter", STARTER).unwrap().tenant("web").role(Role::Start).role(Role::Watch);
    let decider = Client::new("decider", DECIDER).unwrap().tenant("web").role(Role::Start).role(Role::Decide);
    let service = setup.service_of(|runtime| runtime.approval_mode(mode));
    setup.serve_this(service.client(starter).client(decider.role(Role::Watch))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_decide_resumes_a_run_that_would_repeat_effects() {
    for mode in [ApprovalMode::Prompt, ApprovalMode::ApproveAll] {
        let setup = Setup::new();
        setup.failing.0.store(true, Ordering::Relaxed);
        let server = serve(&setup, mode).await;
        let id = started(&server, "transfer", json!({ "to": "ann", "slowly": false })).await;
        reaches(&server, &id, "failed").await;
        for _ in 0..3 {
            let (status, problem) = resume(&server, STARTER, &id).await;
            let expected = (StatusCode::FORBIDDEN, &json!("urn:llm-do:problem:may_repeat_effects"));
            assert_eq!((status, &problem["type"]), expected);
        }
        assert_eq!(setup.lines.all(), ["ann"]);
        setup.failing.0.store(false, Ordering::Relaxed);
        assert_eq!(resume(&server, DECIDER, &id).await.0, StatusCode::ACCEPTED);
        // Also where a mode approves all calls: only a person knows what happened.
        approve_again(&server).await;
        reaches(&server, &id, "succeeded").await;
        assert_eq!(setup.lines.all(), ["ann", "ann"]);
        server.stop().await;
    }
}

/// Approves a call that may have had its effect, as its question shows.
async fn approve_again(server: &Server) {
    let shown = first_waiting(server).await;
    let (summary, began) = (shown["request"]["summary"].as_str().unwrap(), shown["request"]["began"].as_str().unwrap());
    assert!(summary.ends_with(&format!("(began at {began}, and may have had its effect)")), "{summary}");
    approve(server, &shown).await;
}

async fn first_waiting(server: &Server) -> Value {
    loop {
        let (_, list) = send(server, DECIDER, Method::GET, "/approvals", json!(null)).await;
        match list["waiting"].as_array().and_then(|waiting| waiting.first()) {
            Some(shown) => break shown.clone(),
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

async fn approve(server: &Server, shown: &Value) {
    let path = format!("/approvals/{}", shown["id"].as_str().unwrap());
    let body = json!({ "digest": shown["digest"], "decision": "approve" });
    assert_eq!(send(server, DECIDER, Method::POST, &path, body).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_with_a_call_in_flight_is_resumed_by_who_may_decide() {
    let setup = Setup::new();
    let server = serve(&setup, ApprovalMode::Prompt).await;
    let id = started(&server, "transfer", json!({ "to": "bob", "slowly": true })).await;
    while setup.lines.all().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&server, STARTER, Method::POST, &format!("/runs/{id}/cancel"), json!({})).await;
    reaches(&server, &id, "cancelled").await;
    assert_eq!(resume(&server, STARTER, &id).await.0, StatusCode::FORBIDDEN);
    assert_eq!(resume(&server, DECIDER, &id).await.0, StatusCode::ACCEPTED);
    reaches(&server, &id, "waiting").await;
    assert_eq!(setup.lines.all(), ["bob"], "it waits for an answer");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_set_aside_until_one_inside_it_is_approved_is_not_asked_about_again() {
    let setup = Setup::new();
    let server = serve(&setup, ApprovalMode::Prompt).await;
    let id = started(&server, "correspond", json!({ "to": "eve" })).await;
    for tool in ["write_letter", "post_letter"] {
        let shown = first_waiting(&server).await;
        assert_eq!((&shown["request"]["tool"], &shown["request"]["began"]), (&json!(tool), &json!(null)), "{shown}");
        approve(&server, &shown).await;
        reaches(&server, &id, if tool == "write_letter" { "waiting" } else { "succeeded" }).await;
    }
    assert_eq!(setup.lines.all(), ["eve"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_repeats_no_effect_is_resumed_by_who_may_start() {
    let setup = Setup::new();
    setup.failing.0.store(true, Ordering::Relaxed);
    let server = serve(&setup, ApprovalMode::Prompt).await;
    let id = started(&server, "try_it", json!({})).await;
    reaches(&server, &id, "failed").await;
    assert_eq!(resume(&server, STARTER, &id).await.0, StatusCode::ACCEPTED);
    server.stop().await;
}

/// Returns how often a process died in the run of the folder.
fn crashes(folder: &std::path::Path) -> usize {
    crate::effects::effects(folder).values().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_which_three_processes_died_fails_and_is_not_repeated_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    let id = served.server.start("crash", json!({ "pays": false })).await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    let run = loop {
        match served.failed_or_died(&id, false).await {
            Some(run) => break run,
            None => served = Served::start(folder.path()),
        }
    };
    assert!(run["error"].as_str().unwrap().contains("the process died 3 times in this run"), "{run}");
    assert_eq!(crashes(folder.path()), 3);
    served.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_restarts_continues_its_own_runs_long_before_their_claims_lapse() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Served::start_with(folder.path(), &[("LLM_DO_TEST_LEASE", "3600")]);
    let mut served = start();
    // The tool ends its process.
    let id = served.server.start("crash", json!({ "pays": false })).await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    for _ in 0..3 {
        let ended = tokio::time::timeout(Duration::from_secs(30), served.failed_or_died(&id, false)).await;
        assert!(ended.expect("the run is continued").is_none(), "its process died in it");
        served = start();
    }
    let failed = tokio::time::timeout(Duration::from_secs(30), served.failed_or_died(&id, false)).await;
    let run = failed.expect("the last death is counted").unwrap();
    assert!(run["error"].as_str().unwrap().contains("the process died 3 times in this run"), "{run}");
    served.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_in_an_effect_repeats_it_only_with_an_answer_and_not_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    let id = served.server.start("crash", json!({ "pays": true })).await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert!(served.failed_or_died(&id, false).await.is_none());
    served = Served::start(folder.path());
    let shown = served.server.waiting("/approvals").await;
    assert!(shown["request"]["began"].is_string(), "{shown}");
    assert_eq!(crashes(folder.path()), 1, "it waits for an answer");
    let run = loop {
        match served.failed_or_died(&id, true).await {
            Some(run) => break run,
            None => served = Served::start(folder.path()),
        }
    };
    let error = run["error"].as_str().unwrap();
    assert!(error.contains("died 3 times") && error.contains("the call in flight was `crash_paying`"), "{error}");
    assert_eq!(crashes(folder.path()), 3, "one effect for each answer, and the first");
    served.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_failed_run_is_settled_by_who_may_decide_and_then_has_that_result() {
    let setup = Setup::new();
    setup.failing.0.store(true, Ordering::Relaxed);
    let server = serve(&setup, ApprovalMode::Prompt).await;
    let id = started(&server, "transfer", json!({ "to": "ann", "slowly": false })).await;
    reaches(&server, &id, "failed").await;
    let (_, run) = send(&server, DECIDER, Method::GET, &format!("/runs/{id}"), json!(null)).await;
    let call = &run["unknown"][0];
    assert_eq!((&call["tool"], &call["settled"]), (&json!("wire_money"), &json!(null)), "{run}");
    let path = format!("/runs/{id}/settle");
    let body = json!({ "step": call["step"], "outcome": { "result": 5 } });
    assert_eq!(send(&server, STARTER, Method::POST, &path, body.clone()).await.0, StatusCode::FORBIDDEN);
    let (status, run) = send(&server, DECIDER, Method::POST, &path, body.clone()).await;
    assert_eq!((status, &run["unknown"][0]["settled"]), (StatusCode::OK, &json!({ "result": 5 })), "{run}");
    let (status, problem) = send(&server, DECIDER, Method::POST, &path, body).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:not_settled")));
    let unknown = json!({ "step": "no/such", "outcome": "not_done" });
    assert_eq!(send(&server, DECIDER, Method::POST, &path, unknown).await.0, StatusCode::CONFLICT);
    // Nothing is made again, so that who may start may resume.
    assert_eq!(resume(&server, STARTER, &id).await.0, StatusCode::ACCEPTED);
    reaches(&server, &id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["ann"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_have_happened_has_the_result_that_a_person_gives() {
    let setup = Setup::new();
    setup.failing.0.store(true, Ordering::Relaxed);
    let server = serve(&setup, ApprovalMode::Prompt).await;
    let id = started(&server, "transfer", json!({ "to": "bob", "slowly": false })).await;
    reaches(&server, &id, "failed").await;
    assert_eq!(resume(&server, DECIDER, &id).await.0, StatusCode::ACCEPTED);
    let shown = first_waiting(&server).await;
    assert_eq!(shown["request"]["result_schema"]["type"], "integer", "{shown}");
    let path = format!("/approvals/{}", shown["id"].as_str().unwrap());
    let body = json!({ "digest": shown["digest"], "decision": "happened", "result": 1 });
    assert_eq!(send(&server, DECIDER, Method::POST, &path, body).await.0, StatusCode::OK);
    reaches(&server, &id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["bob"]);
    server.stop().await;
}

/// Runs `runs` of the command line on the file of a service; returns what it prints.
fn runs(setup: &Setup, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_app"));
    let store = setup.folder.path().join("runs.db");
    let output = command.arg("runs").args(arguments).arg("--store").arg(store).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    text(output.stdout) + &text(output.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_settled_on_the_command_line_and_the_run_goes_on() {
    for (options, transfers) in [(&["--result", "5"][..], 1), (&["--not-done"][..], 2)] {
        let setup = Setup::new();
        setup.failing.0.store(true, Ordering::Relaxed);
        let server = serve(&setup, ApprovalMode::Prompt).await;
        let id = started(&server, "transfer", json!({ "to": "ann", "slowly": false })).await;
        reaches(&server, &id, "failed").await;
        let shown: Value = serde_json::from_str(&runs(&setup, &["show", &id, "--json"])).unwrap();
        let step = shown["unknown"][0]["step"].as_str().unwrap_or_else(|| panic!("{shown}"));
        let text = runs(&setup, &["show", &id]);
        assert!(text.contains("wire_money") && text.contains(step), "{text}");
        let settle = || runs(&setup, &[&["settle", &id, step][..], options].concat());
        let seen = async || {
            let (_, run) = send(&server, DECIDER, Method::GET, &format!("/runs/{id}"), json!(null)).await;
            run["unknown"][0]["settled"].clone()
        };
        assert_eq!(seen().await, json!(null));
        let settled = settle();
        assert_ne!(seen().await, json!(null), "what another process has written is shown");
        assert!(settled.starts_with("settled; resume the run"), "{settled}");
        let again = settle();
        assert!(again.contains("it is settled already"), "{again}");
        setup.failing.0.store(false, Ordering::Relaxed);
        assert_eq!(resume(&server, DECIDER, &id).await.0, StatusCode::ACCEPTED);
        reaches(&server, &id, "succeeded").await;
        assert_eq!(setup.lines.all().len(), transfers, "{options:?}");
        let refused = runs(&setup, &["settle", &id, step, "--not-done"]);
        assert!(refused.contains("only calls of failed and cancelled runs are settled"), "{refused}");
        server.stop().await;
    }
}
