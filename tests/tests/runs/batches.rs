//! Requests in batches: against a local server with the batch API of each provider.

mod fake;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use llm_do::context::CancellationToken;
use llm_do::eval::{Case, Dataset, Evaluation, Variant};
use llm_do::event::EventKind;
use llm_do::journal::{FileJournal, MemoryJournal, StepKind};
use llm_do::model::{ErrorKind, FallbackModel, Message, OpenAiModel, Request, Server};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, TestModel};
use llm_do::usage::{Money, Price, PriceTable, Usage};
use llm_do::{Limits, Model, Settings};

use self::fake::{APIS, Api, Ending, Fake};

/// Echo the number.
#[worker]
async fn batch_echo(question: String) -> String;

/// Echo the number within an hour.
#[worker(timeout = "1h")]
async fn batch_echo_soon(question: String) -> String;

/// Echo two numbers.
#[entry(toolsets = [batch_echo])]
async fn batch_echo_twice(ctx: &CallContext<batch_echo_twice>) -> Result<String> {
    ctx.call(question(1)).await?;
    Ok(ctx.call(question(2)).await?)
}

fn batch() -> Settings {
    Settings::new().batch(true)
}

fn runtime(fake: &Fake) -> Runtime {
    Runtime::builder().force_model(fake.model()).settings(batch()).build().unwrap()
}

fn question(number: usize) -> batch_echo {
    batch_echo { question: format!("Echo #{number}#.") }
}

fn kind(result: &Result<String, CallError>) -> Option<ErrorKind> {
    match result {
        Err(CallError::Model { source, .. }) => Some(source.kind()),
        _ => None,
    }
}

/// Waits until a condition holds.
async fn until(condition: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not hold after 20 s");
}

/// Blocks on a future in a runtime that ends with it, like a process.
fn process<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Returns what requests cost in a batch, by the table, and that this is half of the price of single requests.
fn cost_in_batch(model: &str, requests: usize) -> Money {
    let single = Usage::of_request(1_000, 100);
    let mut in_batch = single;
    in_batch.batch_requests = 1;
    let cost = |usage: &Usage| PriceTable::builtin().cost(model, usage).unwrap().picodollars();
    assert_eq!(cost(&single), 2 * cost(&in_batch), "{model}");
    Money::from_picodollars(cost(&in_batch) * requests as u128)
}

#[tokio::test]
async fn a_thousand_requests_are_answered_in_batches_and_cost_half() {
    for api in APIS {
        let fake = Fake::start(api);
        let runtime = runtime(&fake);
        let runs = (0..1_000).map(|number| {
            let start = runtime.start(question(number));
            let handle = start.handle();
            async move { (start.await, handle.usage()) }
        });
        let mut cost = Money::ZERO;
        for (number, (result, usage)) in join_all(runs).await.into_iter().enumerate() {
            assert_eq!(result.unwrap(), format!("echo {number}"), "{api:?}");
            assert_eq!((usage.model.requests, usage.model.batch_requests), (1, 1));
            assert_eq!(usage.cost.unpriced_requests, 0);
            cost += usage.cost.known;
        }
        assert_eq!(cost, cost_in_batch(fake.name(), 1_000), "{api:?}");
        let batches = fake.batches();
        assert_eq!(batches.iter().sum::<usize>(), 1_000, "each request is submitted once");
        assert!(batches.len() < 100, "{batches:?}");
        assert_eq!((fake.single(), fake.cancelled()), (0, 0));
    }
}

#[tokio::test]
async fn failures_in_a_batch_are_those_of_single_requests() {
    for api in APIS {
        let fake = Fake::start(api);
        let runtime = runtime(&fake);
        let words = ["Echo #0#.", "refuse #1#", "busy #2#", "Echo #3#."];
        let runs = words.map(|word| runtime.run(batch_echo { question: word.to_owned() }));
        let [first, refused, busy, last] = <[_; 4]>::try_from(join_all(runs).await).unwrap();
        assert_eq!((first.unwrap().as_str(), last.unwrap().as_str()), ("echo 0", "echo 3"), "{api:?}");
        assert_eq!(kind(&refused), Some(ErrorKind::InvalidRequest), "{api:?}: {refused:?}");
        assert_eq!(busy.unwrap(), "echo 2", "{api:?}: it is submitted again");
        assert_eq!(fake.batches().iter().sum::<usize>(), 5, "{api:?}");
    }
}

#[tokio::test]
async fn an_expired_request_is_a_timeout_and_not_submitted_again() {
    for api in APIS {
        let fake = Fake::start(api);
        fake.set_ending(Ending::Expired);
        let result = runtime(&fake).run(question(1)).await;
        assert_eq!(kind(&result), Some(ErrorKind::Timeout), "{api:?}: {result:?}");
        assert_eq!(fake.batches(), [1], "{api:?}");
    }
}

/// Runs until the journal has where the answer will be; then the process dies.
fn dies_after_submission(fake: &Fake, journal: &Path) {
    let is_recorded = || std::fs::read_to_string(journal).is_ok_and(|text| text.contains("\"kind\":\"submitted\""));
    process(async {
        let journaled = FileJournal::open(journal).unwrap();
        let runtime = runtime(fake);
        let mut run = std::pin::pin!(runtime.start(question(7)).journal(journaled).into_future());
        tokio::select! {
            result = &mut run => panic!("{result:?}"),
            () = until(is_recorded) => {}
        }
    });
}

#[test]
fn a_resumed_run_waits_for_the_batch_that_was_submitted() {
    for api in APIS {
        let (fake, folder) = (Fake::start(api), tempfile::tempdir().unwrap());
        let journal = folder.path().join("run.jsonl");
        fake.set_ending(Ending::Held);
        for _ in 0..2 {
            dies_after_submission(&fake, &journal);
        }
        assert_eq!((fake.batches(), fake.cancelled()), (vec![1], 0), "{api:?}");
        fake.set_ending(Ending::Answered);
        for _ in 0..2 {
            let (result, usage) = process(async {
                let start = runtime(&fake).start(question(7)).journal(FileJournal::open(&journal).unwrap());
                let handle = start.handle();
                (start.await, handle.usage())
            });
            assert_eq!(result.unwrap(), "echo 7", "{api:?}");
            assert_eq!(usage.cost.known, cost_in_batch(fake.name(), 1), "{api:?}");
        }
        assert_eq!(fake.batches(), [1], "{api:?}: it is not submitted again");
        let kinds: Vec<_> = FileJournal::read(&journal).unwrap().map(|record| record.unwrap().kind).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == StepKind::Submitted).count(), 1);
    }
}

#[test]
fn a_run_that_is_resumed_after_its_request_failed_submits_it_again() {
    let (fake, folder) = (Fake::start(Api::Anthropic), tempfile::tempdir().unwrap());
    let journal = folder.path().join("run.jsonl");
    let run = || {
        process(async {
            let start = runtime(&fake).start(batch_echo { question: "refuse #5#".to_owned() });
            start.journal(FileJournal::open(&journal).unwrap()).await
        })
    };
    run().unwrap_err();
    fake.answer_all();
    assert_eq!(run().unwrap(), "echo 5");
    assert_eq!(fake.batches(), [1, 1]);
}

#[tokio::test]
async fn a_batch_is_cancelled_once_all_its_runs_are() {
    for api in APIS {
        let fake = Fake::start(api);
        fake.set_ending(Ending::Held);
        let runtime = runtime(&fake);
        let tokens = [0, 1].map(|_| CancellationToken::new());
        let runs = [0, 1].map(|number| {
            let start = runtime.start(question(number)).cancellation(tokens[number].clone());
            tokio::spawn(start.journal(MemoryJournal::new()).into_future())
        });
        let [first, second] = runs;
        until(|| fake.batches() == [2]).await;
        tokens[0].cancel();
        assert!(matches!(first.await.unwrap(), Err(CallError::Cancelled { .. })), "{api:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(fake.cancelled(), 0, "{api:?}: the other run waits for it");
        tokens[1].cancel();
        assert!(matches!(second.await.unwrap(), Err(CallError::Cancelled { .. })), "{api:?}");
        until(|| fake.cancelled() == 1).await;
    }
}

#[tokio::test]
async fn an_answer_that_was_given_up_is_ignored() {
    let fake = Fake::start(Api::Chat);
    fake.set_ending(Ending::Held);
    let runtime = runtime(&fake);
    let token = CancellationToken::new();
    let start = runtime.start(question(0)).cancellation(token.clone());
    let cancelled = tokio::spawn(start.into_future());
    let start = runtime.start(question(1));
    let kept = tokio::spawn(start.into_future());
    until(|| fake.batches() == [2]).await;
    token.cancel();
    cancelled.await.unwrap().unwrap_err();
    fake.set_ending(Ending::Answered);
    assert_eq!(kept.await.unwrap().unwrap(), "echo 1");
    assert_eq!(fake.cancelled(), 0);
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_its_batch_is_submitted_is_not_in_it() {
    let fake = Fake::start(Api::Gemini);
    let runtime = runtime(&fake);
    let token = CancellationToken::new();
    let start = runtime.start(question(0)).cancellation(token.clone());
    token.cancel();
    start.await.unwrap_err();
    assert_eq!(runtime.run(question(1)).await.unwrap(), "echo 1");
    assert_eq!(fake.batches(), [1]);
}

#[tokio::test]
async fn a_model_without_batches_refuses_before_it_is_asked() {
    let model = OpenAiModel::at(Server::Ollama, "qwen3:8b").base_url("http://127.0.0.1:9/v1").build().unwrap();
    let text = "`ollama:qwen3:8b` has no batch API that is supported; unset `batch` for it";
    let (messages, settings) = ([Message::user("hi")], batch());
    let error = model.request(Request::new(&messages, &settings)).await.unwrap_err();
    assert!(error.to_string().contains(text) && error.kind() == ErrorKind::InvalidRequest, "{error}");
    assert!(model.stream(Request::new(&messages, &settings)).await.is_err());
    let start = Runtime::builder().force_model(model).settings(batch()).build().unwrap().start(question(1));
    let handle = start.handle();
    let error = start.await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains(text), "{error:?}");
    assert_eq!(handle.usage().model.requests, 0, "nothing was sent");
}

#[tokio::test]
async fn a_test_model_answers_a_request_for_a_batch_immediately() {
    let model = TestModel::new().text("done");
    let runtime = Runtime::builder().force_model(model).settings(batch()).build().unwrap();
    assert_eq!(runtime.run(question(1)).await.unwrap(), "done");
}

#[tokio::test]
async fn a_model_itself_sends_requests_to_batches_too() {
    for api in APIS {
        let fake = Fake::start(api);
        let (messages, settings) = ([Message::user("Echo #3#.")], batch().service_tier("flex"));
        let response = fake.model().request(Request::new(&messages, &settings)).await.unwrap();
        assert_eq!((response.text().as_str(), response.usage.batch_requests), ("echo 3", 1), "{api:?}");
        assert_eq!((response.warnings[0].setting.as_str(), fake.batches()), ("service_tier", vec![1]), "{api:?}");
    }
}

#[tokio::test]
async fn a_request_that_fails_in_a_batch_of_one_model_goes_to_a_batch_of_the_next() {
    let (first, second) = (Fake::start(Api::Chat), Fake::start(Api::Anthropic));
    first.set_ending(Ending::Expired);
    let model = FallbackModel::new(first.model()).or(second.model());
    let start = Runtime::builder().force_model(model).settings(batch()).build().unwrap().start(question(4));
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "echo 4");
    assert_eq!((first.batches(), second.batches()), (vec![1], vec![1]));
    assert_eq!(handle.usage().cost.known, cost_in_batch(second.name(), 1));
}

#[tokio::test]
async fn a_waiting_request_is_reported_and_a_streamed_answer_arrives_as_a_whole() {
    let (fake, recorder) = (Fake::start(Api::Anthropic), Recorder::new());
    let builder = Runtime::builder().force_model(fake.model()).settings(batch()).streaming(true).sink(recorder.clone());
    let runtime = builder.build().unwrap();
    assert_eq!(runtime.run(question(2)).await.unwrap(), "echo 2");
    let kinds = recorder.kinds();
    let waits = "the batch msgbatch_0: 0 of 1 requests have ended; answers arrive within 24 h";
    assert!(kinds.contains(&EventKind::ModelWaiting { on: waits.to_owned() }), "{kinds:?}");
    let pieces = kinds.iter().filter(|kind| matches!(kind, EventKind::ModelDelta { .. })).count();
    assert_eq!(pieces, 1, "{kinds:?}");
}

#[tokio::test]
async fn a_deadline_before_the_answers_of_batches_is_a_warning_at_the_start() {
    let (fake, recorder) = (Fake::start(Api::Chat), Recorder::new());
    let builder = Runtime::builder().force_model(fake.model()).settings(batch()).sink(recorder.clone());
    let runtime = builder.build().unwrap();
    runtime.run(batch_echo_soon { question: "Echo #2#.".to_owned() }).await.unwrap();
    let kinds = recorder.kinds();
    let place = |is: fn(&EventKind) -> bool| kinds.iter().position(is);
    let warned = place(|kind| match kind {
        EventKind::SettingWarning { setting, message, .. } => setting == "batch" && message.contains("may take a day"),
        _ => false,
    });
    let asked = place(|kind| matches!(kind, EventKind::ModelRequest { .. }));
    assert!(warned.is_some() && warned < asked, "{kinds:?}");
}

#[tokio::test]
async fn a_limit_on_money_counts_the_price_of_batches() {
    let fake = Fake::start(Api::Anthropic);
    let with = |prices: PriceTable, limit: Money| {
        let builder = Runtime::builder().force_model(fake.model()).settings(batch()).prices(prices);
        builder.limits(Limits::new().cost(limit)).build().unwrap()
    };
    // At the price of single requests, the first one would reach it.
    let limit = cost_in_batch(fake.name(), 2);
    assert_eq!(with(PriceTable::builtin(), limit).run(batch_echo_twice {}).await.unwrap(), "echo 2");
    // A price without one of batches: the charge is unknown, so it is refused.
    let own = Price::per_million(Money::from_dollars(1), Money::from_dollars(5));
    let own = PriceTable::builtin().with(fake.name(), own).unwrap();
    let error = with(own, limit).run(question(2)).await.unwrap_err();
    assert!(error.to_string().contains("service_tier"), "{error}");
    assert_eq!(fake.batches(), [1, 1]);
}

/// Evaluates 20 questions in batches.
fn evaluation(fake: &Fake, file: &Path) -> Evaluation {
    let case = |number: usize| Case::new(format!("Echo #{number}#.")).expects(format!("echo {number}"));
    let dataset = (0..20).map(case).fold(Dataset::new("echo"), Dataset::case);
    let variant = Variant::new("batch", "batch_echo", &runtime(fake));
    Evaluation::new(dataset).variant(variant).concurrency(NonZeroUsize::MAX).resumable(file)
}

#[test]
fn a_resumed_evaluation_waits_for_the_batches_of_its_runs() {
    let (fake, folder) = (Fake::start(Api::Responses), tempfile::tempdir().unwrap());
    let file = folder.path().join("eval.jsonl");
    fake.set_ending(Ending::Held);
    let submitted = || std::fs::read_to_string(&file).is_ok_and(|text| text.matches("\"submitted\":").count() == 20);
    process(async {
        let running = evaluation(&fake, &file).run();
        tokio::select! {
            report = running => panic!("{report:?}"),
            () = until(submitted) => {}
        }
    });
    let batches = fake.batches();
    assert_eq!((batches.iter().sum::<usize>(), fake.cancelled()), (20, 0));
    fake.set_ending(Ending::Answered);
    let report = process(evaluation(&fake, &file).run()).unwrap();
    assert!(report.runs.iter().all(|run| run.output.is_some()), "{report:?}");
    let cost: Money = report.runs.iter().map(|run| run.usage.cost.known).sum();
    assert_eq!((cost, fake.batches()), (cost_in_batch(fake.name(), 20), batches), "nothing is submitted again");
}
