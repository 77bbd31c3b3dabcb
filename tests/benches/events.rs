//! What events cost a run: a worker of six turns whose model is a server on this machine, without sinks, with JSON Lines and with
//! the content of requests.
//!
//! With a model that answers immediately, the difference is the cost itself. With one that takes 5 milliseconds, which is less than
//! any real one, the ratio is an upper bound.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::sync::LazyLock;
use std::time::Duration;

use axum::Json;
use axum::routing::post;
use criterion::{Criterion, criterion_group, criterion_main};
use llm_do::event::JsonLines;
use llm_do::model::OpenAiModel;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use serde_json::{Value, json};

/// A file of 2 kB, as tools return them.
static FILE: LazyLock<String> = LazyLock::new(|| "A line of a file, as long as lines are.\n".repeat(50));

/// Read a file of the project.
#[tool(effect = read_only, inline)]
fn read_file(path: String) -> String {
    format!("{path}\n{}", *FILE)
}

/// Search the files of the project.
#[tool(effect = read_only, inline)]
fn search(pattern: String, max_results: Option<usize>) -> String {
    format!("{pattern} {max_results:?}")
}

/// Review a project.
#[worker(
    toolsets = [read_file, search],
    instructions = "You are a senior reviewer. Read the files that matter, then judge the project in three sentences.",
    max_turns = 10
)]
async fn review(input: String) -> String;

/// Answers five times with a call, then with a text.
fn answer(Json(request): Json<Value>) -> Json<Value> {
    let turn = request["messages"].as_array().map_or(0, Vec::len) / 2;
    let message = if turn < 6 {
        let call = json!({ "name": "read_file", "arguments": json!({ "path": format!("src/{turn}.rs") }).to_string() });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("c{turn}"), "type": "function", "function": call }] })
    } else {
        json!({ "role": "assistant", "content": "The project is well made." })
    };
    let finish = if turn < 6 { "tool_calls" } else { "stop" };
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    let usage = json!({ "prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940 });
    Json(
        json!({ "id": "r", "object": "chat.completion", "created": 1, "model": "bench", "choices": [choice], "usage": usage }),
    )
}

/// Starts a server that takes some time for each answer; returns its URL.
async fn serve(takes: Duration) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let answer = move |request| async move {
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        answer(request)
    };
    let routes = axum::Router::new().route("/v1/chat/completions", post(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/v1")
}

fn events(criterion: &mut Criterion) {
    let tokio =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime of tokio");
    for (model, takes) in [("immediately", Duration::ZERO), ("after 5 ms", Duration::from_millis(5))] {
        let url = tokio.block_on(serve(takes));
        compare(criterion, &tokio, &url, model);
    }
}

/// Compares runs whose model is at `url`.
fn compare(criterion: &mut Criterion, tokio: &tokio::runtime::Runtime, url: &str, answers: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let log = |name: &str| JsonLines::create(folder.path().join(name)).expect("a file");
    let runtime = |configure: &dyn Fn(RuntimeBuilder) -> RuntimeBuilder| {
        let model = OpenAiModel::builder("bench").base_url(url).build().expect("a valid URL");
        configure(Runtime::builder().force_model(model)).build().expect("a registry without faults")
    };
    let runtimes = [
        ("without sinks", runtime(&|builder| builder)),
        ("JSON Lines", runtime(&|builder| builder.sink(log("plain.jsonl")))),
        ("JSON Lines with content", runtime(&|builder| builder.sink(log("content.jsonl")).content(true))),
    ];
    let mut group = criterion.benchmark_group(format!("six turns, answered {answers}"));
    for (name, runtime) in &runtimes {
        let run = || async { runtime.run(review { input: "Judge it.".into() }).await.expect("an answer") };
        group.bench_function(*name, |bencher| bencher.to_async(tokio).iter(run));
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
