//! Refinements: an evaluator scores the results of a worker, its reasons go back, and the best result stands.

use std::sync::{Arc, Mutex, OnceLock};

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::error::Unsure;
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, Request};
use llm_do::prelude::*;
use llm_do::runtime::{RunHandle, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::worker::{Assessment, Refine, WorkerSpec, refine};
use llm_do::{Limits, json};

/// Write a slogan for a product.
#[worker]
async fn slogan(product: String) -> String;

/// Guess a number.
#[worker]
async fn guess(hint: String) -> i32;

/// Score a slogan: it has to name the product.
#[tool(effect = read_only)]
fn names_product(product: &str, result: &str) -> Assessment {
    if result.contains(product) {
        return Assessment::new(1.0);
    }
    Assessment::new(0.0).reason(format!("name the product, {product}"))
}

/// Score a guess with the guess itself, in percent.
#[tool(effect = read_only)]
fn score_guess(result: i32) -> Result<Assessment> {
    if result < 0 {
        return Err(Unsure::new("no guess is negative").into());
    }
    Ok(Assessment::new(f64::from(result) / 100.0).reason("guess higher"))
}

/// Score a guess, and change something.
#[tool(effect = destructive)]
fn score_guess_with_effect(result: i32) -> Assessment {
    Assessment::new(f64::from(result) / 100.0)
}

/// Fail to score a guess.
#[tool(effect = read_only)]
fn score_no_guess(result: i32) -> Result<Assessment> {
    Err(format!("cannot score {result}").into())
}

/// Return a guess by code.
#[tool(effect = read_only)]
fn guess_by_code(hint: &str) -> i32 {
    if hint == "high" { 100 } else { 25 }
}

/// Score what is not there.
#[tool(effect = read_only)]
fn score_of_text(result: &str) -> Assessment {
    Assessment::new(if result.is_empty() { 0.0 } else { 1.0 })
}

/// Return a text as the score.
#[tool(effect = read_only)]
fn score_as_text(result: i32) -> String {
    result.to_string()
}

/// Score without the result.
#[tool(effect = read_only)]
fn score_of_hint(hint: &str) -> Assessment {
    Assessment::new(if hint.is_empty() { 0.0 } else { 1.0 })
}

/// Score with more than the worker has.
#[tool(effect = read_only)]
fn score_with_weight(result: i32, weight: i32) -> Assessment {
    Assessment::new(f64::from(result * weight))
}

/// Judge whether a slogan is good.
#[worker]
async fn judge_slogan(result: String) -> Assessment;

/// Returns the sum of two guesses.
#[entry(toolsets = [guess])]
async fn guesses(ctx: &CallContext<guesses>) -> Result<i32> {
    let first = ctx.call(guess { hint: "a".into() }).await?;
    Ok(first + ctx.call(guess { hint: "b".into() }).await?)
}

/// Guesses twice in one thread.
#[entry(toolsets = [guess])]
async fn guesses_in_a_thread(ctx: &CallContext<guesses_in_a_thread>) -> Result<usize> {
    let thread = ctx.thread("guesses");
    thread.call(guess { hint: "a".into() }).await?;
    Ok(thread.history().messages().len())
}

/// Returns a model that guesses these numbers, one for each of its answers in a conversation.
fn guessing(numbers: &'static [i32]) -> FunctionModel {
    FunctionModel::answering(move |request| {
        let answers = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        Answer::output(json!({ "result": numbers[answers.min(numbers.len() - 1)] }))
    })
}

/// Returns a runtime whose worker `guess` is refined.
fn guessed(numbers: &'static [i32], refine: Refine) -> (RuntimeBuilder, Recorder) {
    let recorder = Recorder::new();
    (Runtime::builder().force_model(guessing(numbers)).refine(refine).sink(recorder.clone()), recorder)
}

fn by_itself() -> Refine {
    refine("guess", "score_guess")
}

fn hint(hint: &str) -> guess {
    guess { hint: hint.into() }
}

/// Returns the score of each result, and whether it went back to the worker.
fn scores(recorder: &Recorder) -> Vec<(Option<f64>, bool)> {
    let of = |kind| match kind {
        EventKind::Scored { score, again, .. } => Some((score, again)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(of).collect()
}

fn requests(recorder: &Recorder) -> usize {
    recorder.kinds().iter().filter(|kind| matches!(kind, EventKind::ModelRequest { .. })).count()
}

fn last_text(request: &Request<'_>) -> String {
    serde_json::to_string(request.messages.last().unwrap()).unwrap()
}

#[tokio::test]
async fn the_reasons_go_back_to_the_worker_as_a_further_message() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let model = FunctionModel::answering(move |request| {
        seen.lock().unwrap().push((request.messages.len(), last_text(&request)));
        Answer::text(if request.messages.len() == 1 { "Grow!" } else { "Grow with Fernlight!" })
    });
    let runtime = Runtime::builder().force_model(model).refine(refine("slogan", "names_product")).build().unwrap();
    let start = runtime.start(slogan { product: "Fernlight".into() });
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "Grow with Fernlight!");
    let asked = asked.lock().unwrap();
    assert_eq!((asked.len(), asked[1].0), (2, 3), "the prompt, the first result, and the reasons");
    assert!(asked[1].1.contains("name the product, Fernlight"), "{asked:?}");
    assert!(asked[1].1.contains("has the score 0 of 1, and needs at least 1"), "{asked:?}");
    assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (2, 2), "each score is a call");
}

#[tokio::test]
async fn the_best_result_stands_and_a_score_that_is_high_enough_ends_the_loop() {
    let (builder, recorder) = guessed(&[50, 75, 25], by_itself().at_most(3));
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), 75);
    assert_eq!(scores(&recorder), [(Some(0.5), true), (Some(0.75), true), (Some(0.25), false)]);
    let (builder, recorder) = guessed(&[50, 75, 25], by_itself().at_most(3).accept(0.7));
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), 75);
    assert_eq!((scores(&recorder).len(), requests(&recorder)), (2, 2));
    let (builder, recorder) = guessed(&[50], by_itself().at_most(1));
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), 50);
    assert_eq!(scores(&recorder), [(Some(0.5), false)]);
}

#[tokio::test]
async fn the_last_of_several_best_results_stands_and_three_are_the_default() {
    let (builder, recorder) = guessed(&[50, 25, 50, 100], by_itself());
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), 50);
    assert_eq!(scores(&recorder).len(), 3);
}

#[tokio::test]
async fn an_evaluator_that_is_unsure_lets_the_result_stand() {
    let (builder, recorder) = guessed(&[50, -1, 100], by_itself());
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), -1);
    assert_eq!(scores(&recorder), [(Some(0.5), true), (None, false)]);
}

#[tokio::test]
async fn an_evaluator_that_fails_is_denied_or_gives_no_score_fails_the_call() {
    let (failing, _) = guessed(&[50], refine("guess", "score_no_guess"));
    let error = failing.build().unwrap().run(hint("x")).await.unwrap_err();
    assert_eq!(llm_do::error::chain(&error), "`score_no_guess` failed: cannot score 50");
    let (high, _) = guessed(&[700], by_itself());
    let error = high.build().unwrap().run(hint("x")).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("its score is 7; expected one from 0 to 1"), "{error:?}");
    let with_effect = || refine("guess", "score_guess_with_effect");
    let (denied, _) = guessed(&[50], with_effect());
    let error = denied.approval_mode(ApprovalMode::RejectAll).build().unwrap().run(guesses {}).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    let (asked, recorder) = guessed(&[100], with_effect());
    let runtime = asked.approve_with(|_| async { Decision::approve() }).build().unwrap();
    assert_eq!(runtime.run(guesses {}).await.unwrap(), 200);
    assert!(recorder.kinds().iter().any(|kind| matches!(kind, EventKind::ApprovalAsked { .. })));
}

#[tokio::test]
async fn in_a_dry_run_an_evaluator_that_changes_something_scores_nothing() {
    let (builder, recorder) = guessed(&[50], refine("guess", "score_guess_with_effect"));
    assert_eq!(builder.build().unwrap().start(hint("x")).dry_run().await.unwrap(), 50);
    assert_eq!(scores(&recorder), [(None, false)]);
}

#[tokio::test]
async fn the_answer_of_code_is_the_first_result_of_a_hybrid() {
    let (accepted, recorder) = guessed(&[100], by_itself());
    let runtime = accepted.hybrid("guess", "guess_by_code").build().unwrap();
    assert_eq!(runtime.run(hint("high")).await.unwrap(), 100);
    assert_eq!((scores(&recorder).len(), requests(&recorder)), (1, 0));
    let (refused, recorder) = guessed(&[0, 100], by_itself());
    let runtime = refused.hybrid("guess", "guess_by_code").build().unwrap();
    assert_eq!(runtime.run(hint("low")).await.unwrap(), 100, "the answer of code is in the conversation");
    assert_eq!(scores(&recorder), [(Some(0.25), true), (Some(1.0), false)]);
    let (worse, _) = guessed(&[0], by_itself());
    assert_eq!(worse.hybrid("guess", "guess_by_code").build().unwrap().run(hint("low")).await.unwrap(), 25);
}

#[tokio::test]
async fn limits_and_max_turns_end_the_loop() {
    let spec = "---\nname: short\nmax_turns: 2\nrefine: { with: score_guess, at_most: 9 }\noutput_schema: { type: integer }\n---\nGuess.";
    let spec: WorkerSpec = spec.parse().unwrap();
    let runtime = Runtime::builder().force_model(guessing(&[50, 25, 100])).worker(spec).build().unwrap();
    assert_eq!(runtime.run_named("short", json!({ "input": "x" })).await.unwrap(), json!(50));
    let (builder, _) = guessed(&[50], by_itself());
    let runtime = builder.limits(Limits::new().requests(2)).build().unwrap();
    let error = runtime.run(hint("x")).await.unwrap_err();
    assert!(error.to_string().contains("limit"), "{error}");
}

#[tokio::test]
async fn a_worker_that_gives_up_later_returns_the_best_result_before() {
    let model = FunctionModel::answering(|request| match request.messages.len() {
        1 => Answer::output(json!({ "result": 50 })),
        _ => Answer::output(json!({ "result": "none" })),
    });
    let builder = Runtime::builder().force_model(model).refine(by_itself());
    assert_eq!(builder.build().unwrap().run(hint("x")).await.unwrap(), 50);
}

#[tokio::test]
async fn a_chat_and_a_thread_continue_from_the_best_result() {
    let (builder, _) = guessed(&[50, 75, 25], by_itself());
    let runtime = builder.build().unwrap();
    let mut chat = runtime.chat();
    assert_eq!(chat.send(hint("x")).await.unwrap(), 75);
    let saved = serde_json::to_string(&chat.state()).unwrap();
    assert!(saved.contains(":75") && !saved.contains(":25"), "{saved}");
    let messages = runtime.run(guesses_in_a_thread {}).await.unwrap();
    let all = {
        let (builder, _) = guessed(&[50, 25, 75], by_itself());
        builder.build().unwrap().run(guesses_in_a_thread {}).await.unwrap()
    };
    assert!(messages < all, "the messages after the best result are left out: {messages} of {all}");
}

#[tokio::test]
async fn a_journaled_loop_is_resumed_after_any_record_with_the_same_result() {
    let journal = MemoryJournal::new();
    let (first, recorder) = guessed(&[50, 75, 25], by_itself());
    assert_eq!(first.journal(journal.clone()).build().unwrap().run(guesses {}).await.unwrap(), 150);
    let (records, all) = (journal.records(), scores(&recorder));
    assert_eq!(all.len(), 6);
    for kept in 0..records.len() {
        let (again, recorder) = guessed(&[50, 75, 25], by_itself());
        let journal = MemoryJournal::from_records(records[..kept].iter().cloned());
        let sum = again.journal(journal.clone()).build().unwrap().run(guesses {}).await.unwrap();
        assert_eq!((sum, journal.records().len()), (150, records.len()), "after {kept} records");
        let scored = scores(&recorder);
        assert_eq!(scored, all[all.len() - scored.len()..], "after {kept} records");
    }
}

#[tokio::test]
async fn a_journaled_root_worker_is_resumed_too() {
    let journal = MemoryJournal::new();
    let (first, _) = guessed(&[50, 75, 25], by_itself());
    assert_eq!(first.journal(journal.clone()).build().unwrap().run(hint("x")).await.unwrap(), 75);
    let records = journal.records();
    for kept in 0..=records.len() {
        let (again, _) = guessed(&[50, 75, 25], by_itself());
        let journal = MemoryJournal::from_records(records[..kept].iter().cloned());
        let result = again.journal(journal.clone()).build().unwrap().run(hint("x")).await.unwrap();
        assert_eq!((result, journal.records().len()), (75, records.len()), "after {kept} records");
    }
}

#[tokio::test]
async fn a_message_to_the_run_counts_more_than_the_results_before_it() {
    let handle = Arc::new(OnceLock::<RunHandle>::new());
    let sender = Arc::clone(&handle);
    let model = FunctionModel::answering(move |request| {
        let answers = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        if answers == 0 {
            sender.get().unwrap().send("Guess lower.").unwrap();
        }
        Answer::output(json!({ "result": if answers == 0 { 75 } else { 25 } }))
    });
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(model).refine(by_itself().at_most(2)).sink(recorder.clone());
    let runtime = builder.build().unwrap();
    let start = runtime.start(hint("x"));
    handle.set(start.handle()).ok().unwrap();
    assert_eq!(start.await.unwrap(), 25);
    assert_eq!(scores(&recorder), [(Some(0.75), true), (Some(0.25), true), (Some(0.25), false)]);
    assert!(handle.get().unwrap().send("More.").is_err(), "the run has ended");
}

#[tokio::test]
async fn a_streamed_result_begins_again_with_each_attempt() {
    let (builder, _) = guessed(&[50, 75, 25], by_itself());
    let runtime = builder.build().unwrap();
    let mut stream = runtime.stream(hint("x"));
    let mut partials = Vec::new();
    while let Some(partial) = stream.next().await {
        partials.extend(partial.get());
    }
    assert_eq!(partials.last(), Some(&25));
    assert_eq!(stream.result().await.unwrap(), 75);
}

#[tokio::test]
async fn a_judging_worker_is_an_evaluator_with_or_without_a_schema_of_its_arguments() {
    let model = || {
        FunctionModel::answering(|request| {
            let text = last_text(&request);
            if text.contains("result\\\":") {
                let score = if text.contains("Fernlight!") { 1.0 } else { 0.5 };
                return Answer::output(json!({ "score": score, "reasons": ["shout the product"] }));
            }
            Answer::text(if request.messages.len() == 1 { "Grow." } else { "Fernlight!" })
        })
    };
    let schema = "output_schema:\n  type: object\n  properties: { score: { type: integer }, reasons: { type: array, items: { type: string } } }\n  required: [score]";
    let critic: WorkerSpec = format!("---\nname: critic\n{schema}\n---\nJudge the result.").parse().unwrap();
    for evaluator in ["critic", "judge_slogan"] {
        let builder = Runtime::builder().force_model(model()).worker(critic.clone());
        let runtime = builder.refine(refine("slogan", evaluator)).build().unwrap();
        let start = runtime.start(slogan { product: "Fernlight".into() });
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), "Fernlight!", "{evaluator}");
        assert_eq!(handle.usage().model.requests, 4, "{evaluator}");
    }
}

#[tokio::test]
async fn a_worker_file_names_its_evaluator_and_code_takes_precedence() {
    let file = |keys: &str| {
        let file =
            format!("---\nname: guesser\nrefine: {{ with: {keys} }}\noutput_schema: {{ type: integer }}\n---\nGuess.");
        file.parse::<WorkerSpec>().unwrap_or_else(|error| panic!("{error}"))
    };
    let run = async |spec: WorkerSpec, more: Option<Refine>| {
        let builder = Runtime::builder().force_model(guessing(&[50, 75, 100])).worker(spec);
        let builder = more.into_iter().fold(builder, RuntimeBuilder::refine);
        builder.build().unwrap().run_named("guesser", json!({ "input": "x" })).await.unwrap()
    };
    assert_eq!(run(file("score_guess"), None).await, json!(100));
    assert_eq!(run(file("score_guess, at_most: 1"), None).await, json!(50));
    assert_eq!(run(file("score_guess, accept: 0.6"), None).await, json!(75));
    assert_eq!(run(file("score_guess"), Some(refine("guesser", "score_guess").at_most(1))).await, json!(50));
    let spec = WorkerSpec::new("guesser", "Guess.").output::<i32>().refine("score_guess", 2, 1.0);
    assert_eq!(run(spec.clone(), None).await, json!(75));
    let written = spec.to_worker_file();
    assert!(written.contains("score_guess"), "{written}");
}

#[test]
fn an_evaluator_that_cannot_score_the_results_is_an_error_with_both_signatures() {
    let fault = |refine: Refine| Runtime::builder().refine(refine).build().unwrap_err().to_string();
    for (evaluator, expected) in [
        (
            "score_of_text",
            "its argument `result` is not a result of the worker: `guess(hint: string) -> integer`, and \
             `score_of_text(result: string) -> object`",
        ),
        ("score_of_hint", "it has no argument `result`: `guess(hint: string) -> integer`, and `score_of_hint("),
        ("score_with_weight", "its argument `weight` is not an argument of the worker: `guess("),
        ("score_as_text", "its result must be an object with a number `score` and a list of `reasons`: `guess("),
    ] {
        let found = fault(refine("guess", evaluator));
        assert!(found.contains(&format!("`{evaluator}` cannot score the results of `guess`: {expected}")), "{found}");
    }
}

#[test]
fn faults_of_refinements_are_reported_when_the_runtime_is_built() {
    let fault = |builder: RuntimeBuilder| builder.build().unwrap_err().to_string();
    let unknown = fault(Runtime::builder().refine(refine("guess", "score_gues")));
    assert!(unknown.contains("unknown name `score_gues`; did you mean `score_guess`"), "{unknown}");
    let swapped = fault(Runtime::builder().refine(refine("score_guess", "guess")));
    assert!(swapped.contains("`score_guess` is not a worker"), "{swapped}");
    let itself = fault(Runtime::builder().refine(refine("guess", "guess")));
    assert!(itself.contains("`guess` cannot score its own results"), "{itself}");
    let numbers = fault(Runtime::builder().refine(by_itself().at_most(0).accept(0.0)));
    assert!(numbers.contains("`at_most` must be at least 1") && numbers.contains("`accept` is 0"), "{numbers}");
    let twice = fault(Runtime::builder().refine(by_itself()).refine(by_itself().at_most(2)));
    assert!(twice.contains("`guess` is refined twice"), "{twice}");
    let weaker = "---\nname: weak\neffect: read_only\nrefine: { with: score_guess_with_effect }\noutput_schema: { type: integer }\n---\nGuess.";
    let weaker = fault(Runtime::builder().worker(weaker.parse().unwrap()));
    assert!(weaker.contains("may call `score_guess_with_effect`, whose effect is destructive"), "{weaker}");
}
