//! Quotas and rates.

use llm_do::Limits;
use llm_do::serve::{Client, Role};
use llm_do::testing::ScriptedModel;
use llm_do::usage::{Money, Price, PriceTable, Usage};

use super::*;

const TOKEN: &str = "0123456789abcdef";

fn client() -> Client {
    Client::new("ann", TOKEN).unwrap().role(Role::Start).role(Role::Watch)
}

async fn send(server: &Server, method: Method, path: &str) -> (StatusCode, Value) {
    let response = server.request(method, path).bearer_auth(TOKEN).send().await.unwrap();
    (response.status(), json_of(response).await)
}

/// Waits until a run has this state.
async fn reaches(server: &Server, path: &str, state: &str) -> Value {
    loop {
        let (_, run) = send(server, Method::GET, path).await;
        if run["state"] == state {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn start(server: &Server, entry: &str, arguments: Value) -> (StatusCode, Value) {
    let body = json!({ "entry": entry, "arguments": arguments });
    let response = server.request(Method::POST, "/runs").bearer_auth(TOKEN).json(&body).send().await.unwrap();
    (response.status(), json_of(response).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_has_at_most_its_number_of_unfinished_runs() {
    let server = Setup::new().serve_with(|service| service.client(client().max_runs(2))).await;
    for _ in 0..2 {
        assert_eq!(start(&server, "meet", json!({})).await.0, StatusCode::CREATED);
    }
    let (status, problem) = start(&server, "meet", json!({})).await;
    assert_eq!((status, &problem["type"]), (StatusCode::TOO_MANY_REQUESTS, &json!("urn:llm-do:problem:too_many_runs")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_money_of_the_day_is_spent_starts_nothing_until_the_next_day() {
    let setup = Setup::new();
    let limited = client().max_daily_cost(Money::ZERO);
    let server = setup.serve_with(|service| service.client(limited)).await;
    let (status, problem) = start(&server, "greet", json!({ "name": "Ann" })).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("urn:llm-do:problem:cost_limit_reached"))
    );
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_unfinished_runs_may_still_cost_is_not_left_for_others() {
    let limited = client().max_daily_cost(Money::from_cents(100)).max_run_cost(Money::from_cents(40));
    let server = Setup::new().serve_with(|service| service.client(limited)).await;
    // 40, 40 and 20 cents.
    let mut ids = Vec::new();
    for _ in 0..3 {
        let (status, run) = start(&server, "meet", json!({})).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        ids.push(run["id"].as_str().unwrap().to_owned());
    }
    let (status, problem) = start(&server, "meet", json!({})).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("urn:llm-do:problem:cost_limit_reached"))
    );
    let path = format!("/runs/{}/cancel", ids[0]);
    server.request(Method::POST, &path).bearer_auth(TOKEN).send().await.unwrap();
    loop {
        let run =
            json_of(server.request(Method::GET, &format!("/runs/{}", ids[0])).bearer_auth(TOKEN).send().await.unwrap())
                .await;
        if run["state"] == "cancelled" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(start(&server, "meet", json!({})).await.0, StatusCode::CREATED, "what the first had left is free again");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_resumed_only_within_the_quotas() {
    let setup = Setup::new();
    setup.failing.0.store(true, Ordering::Relaxed);
    let server = setup.serve_with(|service| service.client(client().max_runs(1))).await;
    let (_, run) = start(&server, "try_it", json!({})).await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    while json_of(server.request(Method::GET, &path).bearer_auth(TOKEN).send().await.unwrap()).await["state"]
        != "failed"
    {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(start(&server, "meet", json!({})).await.0, StatusCode::CREATED);
    let resume = server.request(Method::POST, &format!("{path}/resume")).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(resume.status(), StatusCode::TOO_MANY_REQUESTS);
    server.stop().await;
}

/// Lets each request to a model cost 2 cents.
fn priced(runtime: RuntimeBuilder) -> RuntimeBuilder {
    let model = ScriptedModel::new().usage(Usage::of_request(1_000, 1_000)).text("done").repeat_last();
    let price = Price::per_million(Money::from_dollars(10), Money::from_dollars(10));
    runtime.force_model(model).prices(PriceTable::builtin().with("scripted:model", price).unwrap())
}

/// Answers, and then asks who the user is.
#[entry(toolsets = [assistant])]
async fn answer_and_ask(ctx: &CallContext<answer_and_ask>) -> Result<String> {
    ctx.call(assistant { input: "Hello".into() }).await?;
    Ok(ctx.request_user_input("Who are you?").await?)
}

/// Succeeds once there are more lines than this.
#[tool(effect = read_only)]
fn pass(lines_before: usize, lines: State<Lines>) -> Result<usize> {
    let count = lines.all().len();
    if count > lines_before { Ok(count) } else { Err("there are too few lines".into()) }
}

/// Answers once more for each line, and fails at the end.
#[entry(toolsets = [assistant, pass])]
async fn answer_each(ctx: &CallContext<answer_each>) -> Result<()> {
    for lines_before in 0.. {
        ctx.call(assistant { input: "Hello".into() }).await?;
        ctx.call(pass { lines_before }).await?;
    }
    Ok(())
}

/// Checks that the money of the day is spent.
fn assert_spent((status, problem): (StatusCode, Value)) {
    let code = json!("urn:llm-do:problem:cost_limit_reached");
    assert_eq!((status, &problem["type"]), (StatusCode::TOO_MANY_REQUESTS, &code), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_spent_counts_although_it_is_cancelled_while_it_waits() {
    let setup = Setup::new();
    let service = setup.service_of(priced).client(client().max_daily_cost(Money::from_cents(1)));
    let server = setup.serve_this(service).await;
    let (_, run) = start(&server, "answer_and_ask", json!({})).await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    // Until no process drives it.
    while !reaches(&server, &path, "waiting").await["process"].is_null() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (status, run) = send(&server, Method::POST, &format!("{path}/cancel")).await;
    assert_eq!((status, &run["state"]), (StatusCode::OK, &json!("cancelled")));
    let (_, run) = send(&server, Method::GET, &path).await;
    assert_eq!((&run["usage"]["cost"], &run["usage"]["requests"]), (&json!("0.02"), &json!(1)));
    assert_spent(start(&server, "greet", json!({ "name": "Ann" })).await);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_spent_counts_although_its_process_stopped_and_it_is_cancelled_in_the_queue() {
    let setup = Setup::new();
    let service = || setup.service_of(priced).park_after(Duration::from_secs(60 * 60));
    let server = setup.serve_this(service().client(client())).await;
    // It is continued first.
    start(&server, "stuck", json!({})).await;
    let (_, run) = start(&server, "answer_and_ask", json!({})).await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    while send(&server, Method::GET, &path).await.1["waits"].as_array().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.stop().await;

    let limited = client().max_daily_cost(Money::from_cents(1));
    let server = setup.serve_this(service().client(limited).max_active_runs(1)).await;
    let (status, run) = send(&server, Method::POST, &format!("{path}/cancel")).await;
    assert_eq!((status, &run["state"], &run["usage"]["cost"]), (StatusCode::OK, &json!("cancelled"), &json!("0.02")));
    assert_spent(start(&server, "greet", json!({ "name": "Ann" })).await);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_earlier_day_is_resumed_only_while_the_money_of_the_day_lasts() {
    let setup = Setup::new();
    let service = setup.service_of(priced).client(client().max_daily_cost(Money::from_cents(2)));
    let server = setup.serve_this(service).await;
    let (_, run) = start(&server, "answer_each", json!({})).await;
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    let resume = format!("{path}/resume");
    for cost in ["0.02", "0.04", "0.06"] {
        assert_eq!(reaches(&server, &path, "failed").await["usage"]["cost"], cost);
        assert_spent(send(&server, Method::POST, &resume).await);
        assert_spent(start(&server, "greet", json!({ "name": "Ann" })).await);
        setup.clock.advance(Duration::from_secs(24 * 60 * 60));
        setup.lines.0.lock().unwrap().push("a".to_owned());
        let (status, run) = send(&server, Method::POST, &resume).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{run}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_run_stands_still_while_it_waits_for_a_person_in_a_process() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.park_after(Duration::from_secs(60 * 60))).await;
    let id = server.start("meet", json!({})).await;
    let question = loop {
        let open = server.get("/questions").await;
        match open["waiting"].as_array().and_then(|waiting| waiting.first()).cloned() {
            Some(question) => break question,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    assert_eq!(question["run"], id.as_str());
    tokio::time::sleep(Duration::from_millis(600)).await;
    server.stop().await;
    let server = setup.serve().await;
    let worked = server.get(&format!("/runs/{id}")).await["worked_ms"].as_u64().unwrap();
    assert!(worked < 500, "{worked}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_above_the_rate_are_refused() {
    let server = Setup::new().serve_with(|service| service.client(client()).requests_per_second(2)).await;
    let mut refused = 0;
    for _ in 0..20 {
        let response = server.request(Method::GET, "/runs").bearer_auth(TOKEN).send().await.unwrap();
        let is_refused = response.status() == StatusCode::TOO_MANY_REQUESTS;
        assert_eq!(response.headers().contains_key("retry-after"), is_refused);
        refused += usize::from(is_refused);
    }
    assert!(refused >= 10, "{refused}");
    let mut refused = 0;
    for _ in 0..20 {
        let response = server.request(Method::POST, "/webhooks/hook").body("{}").send().await.unwrap();
        refused += usize::from(response.status() == StatusCode::TOO_MANY_REQUESTS);
    }
    assert!(refused >= 10, "webhooks have a limit of their own: {refused}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_run_goes_on_when_it_is_resumed_and_stands_still_while_it_is_set_aside() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let (waiting, stuck) = (server.start("meet", json!({})).await, server.start("stuck", json!({})).await);
    server.reaches(&waiting, "waiting").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop().await;

    let server = setup.serve().await;
    let worked = server.get(&format!("/runs/{waiting}")).await["worked_ms"].as_u64().unwrap();
    let first = server.get(&format!("/runs/{stuck}")).await["worked_ms"].as_u64().unwrap();
    assert!(first >= 100, "{first}");
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop().await;
    let limit = |runtime: RuntimeBuilder| runtime.limits(Limits::new().wall_time(Duration::from_millis(first + 100)));
    let server = setup.serve_limited(limit).await;
    let run = server.reaches(&stuck, "failed").await;
    assert!(run["error"].as_str().unwrap().contains("timed out"), "{run}");
    assert!(run["worked_ms"].as_u64().unwrap() - first < 1_000, "only the rest was waited for: {run}");
    assert_eq!(server.get(&format!("/runs/{waiting}")).await["worked_ms"], worked, "it was set aside all the time");
    server.stop().await;
}
