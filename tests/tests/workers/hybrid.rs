//! Hybrids: code answers the calls of a worker that it is sure of.

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::error::{Unsure, chain};
use llm_do::event::{CodeAnswer, EventKind};
use llm_do::harden::{Cases, Ranking, Shadow};
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::json;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::usage::{Money, Price, PriceTable};
use llm_do::worker::WorkerSpec;

/// Return the age of the person in a note.
#[worker]
async fn age(note: String) -> u32;

/// Return the age of the person in a note.
#[tool(effect = read_only)]
fn age_by_rule(note: &str) -> Result<u32> {
    if note.contains("broken") {
        return Err("the rule is broken".into());
    }
    let digits: String = note.chars().filter(char::is_ascii_digit).collect();
    Ok(digits.parse().map_err(|_| Unsure::new("the note has no digits"))?)
}

/// Return the age of the person in a note, as a text.
#[tool(effect = read_only)]
fn age_as_text(note: &str) -> String {
    note.to_owned()
}

/// Return the age of the person in a note, as a negative number.
#[tool(effect = read_only)]
fn age_before_birth(note: &str) -> Result<i64> {
    Ok(-i64::from(age_by_rule(note)?))
}

/// Return the age of the person with a name.
#[tool(effect = read_only)]
fn age_by_name(name: &str) -> usize {
    name.len()
}

/// Return the age of the person in a note, and change something.
#[tool(effect = destructive)]
fn age_with_effect(note: &str) -> Result<u32> {
    age_by_rule(note)
}

/// Adds up ages, without those that fail.
#[entry(toolsets = [age])]
async fn ages(ctx: &CallContext<ages>, notes: Vec<String>) -> Result<u32> {
    let mut sum = 0;
    for note in notes {
        sum += ctx.call(age { note }).await?;
    }
    Ok(sum)
}

/// Asks for two ages in one thread.
#[entry(toolsets = [age])]
async fn remembered(ctx: &CallContext<remembered>) -> Result<u32> {
    let thread = ctx.thread("ages");
    let first = thread.call(age { note: "Ann is 30".into() }).await?;
    Ok(first + thread.call(age { note: "Bob is 40".into() }).await?)
}

fn notes(notes: &[&str]) -> ages {
    ages { notes: notes.iter().map(|note| (*note).to_owned()).collect() }
}

/// Returns a runtime whose model answers 1000 to each request.
fn builder(tool: &str) -> (RuntimeBuilder, Recorder) {
    let (recorder, model) = (Recorder::new(), FunctionModel::answering(|_| Answer::output(json!({ "result": 1000 }))));
    let builder = Runtime::builder().force_model(model.named("m")).hybrid("age", tool).sink(recorder.clone());
    (builder, recorder)
}

fn answers(recorder: &Recorder) -> Vec<(CodeAnswer, Option<String>)> {
    let of = |kind| match kind {
        EventKind::Hybrid { answer, reason, .. } => Some((answer, reason)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(of).collect()
}

fn requests(recorder: &Recorder) -> usize {
    recorder.kinds().iter().filter(|kind| matches!(kind, EventKind::ModelRequest { .. })).count()
}

#[tokio::test]
async fn the_tool_answers_first_and_the_worker_where_it_abstains_or_fails() {
    let (builder, recorder) = builder("age_by_rule");
    let runtime = builder.build().unwrap();
    assert_eq!(runtime.run(notes(&["Ann is 30", "Bob is forty", "broken 5"])).await.unwrap(), 2030);
    assert_eq!(requests(&recorder), 2);
    let expected = [
        (CodeAnswer::Answered, None),
        (CodeAnswer::Abstained, Some("`age_by_rule` is unsure: the note has no digits".to_owned())),
        (CodeAnswer::Failed, Some("`age_by_rule` failed: the rule is broken".to_owned())),
    ];
    assert_eq!(answers(&recorder), expected);
}

#[tokio::test]
async fn a_root_call_is_answered_by_code_too_and_costs_one_tool_call() {
    let (builder, _) = builder("age_by_rule");
    let runtime = builder.build().unwrap();
    let start = runtime.start(age { note: "Ann is 30".into() });
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), 30);
    assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (0, 1));
}

#[tokio::test]
async fn a_result_that_the_worker_may_not_return_is_a_failure() {
    let (builder, recorder) = builder("age_before_birth");
    assert_eq!(builder.build().unwrap().run(age { note: "30".into() }).await.unwrap(), 1000);
    let (answer, reason) = &answers(&recorder)[0];
    assert_eq!(*answer, CodeAnswer::Failed);
    assert!(reason.as_ref().unwrap().starts_with("its result is not one of the worker: "), "{reason:?}");
}

#[tokio::test]
async fn a_denied_tool_ends_the_call_and_an_approved_one_answers() {
    let (denied, recorder) = builder("age_with_effect");
    let error = denied.approval_mode(ApprovalMode::RejectAll).build().unwrap().run(notes(&["30"])).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    assert_eq!(requests(&recorder), 0);
    let (approved, _) = builder("age_with_effect");
    let runtime = approved.approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    assert_eq!(runtime.run(notes(&["30"])).await.unwrap(), 30);
}

/// Answers each request with the number of its messages.
fn counting() -> FunctionModel {
    FunctionModel::answering(|request| Answer::output(json!({ "result": request.messages.len() })))
}

#[tokio::test]
async fn code_answers_the_first_message_of_a_thread_which_the_worker_remembers() {
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(counting()).sink(recorder.clone());
    let runtime = builder.hybrid("age", "age_by_rule").build().unwrap();
    assert_eq!(
        runtime.run(remembered {}).await.unwrap(),
        30 + 3,
        "the question, the answer of code, and the next question"
    );
    assert_eq!(answers(&recorder), [(CodeAnswer::Answered, None)]);
}

#[tokio::test]
async fn an_answer_of_code_is_a_message_of_its_chat() {
    let runtime = Runtime::builder().force_model(counting()).hybrid("age", "age_by_rule").build().unwrap();
    let mut chat = runtime.chat();
    assert_eq!(chat.send(age { note: "Ann is 30".into() }).await.unwrap(), 30);
    assert_eq!(chat.send(age { note: "Bob is 40".into() }).await.unwrap(), 3);
    let saved = serde_json::to_string(&chat.state()).unwrap();
    assert!(saved.contains("Ann is 30") && saved.contains(r#"{\"result\":30}"#), "{saved}");
}

#[test]
fn a_pair_whose_signatures_differ_is_an_error_with_both_when_the_runtime_is_built() {
    let fault = |builder: RuntimeBuilder| builder.build().unwrap_err().to_string();
    let arguments = fault(Runtime::builder().hybrid("age", "age_by_name"));
    let expected = "`age_by_name` cannot answer for `age`: their arguments differ: `age(note: string) -> integer`, and \
                    `age_by_name(name: string) -> integer`";
    assert!(arguments.contains(expected), "{arguments}");
    let results = fault(Runtime::builder().hybrid("age", "age_as_text"));
    assert!(
        results.contains(
            "their results differ: `age(note: string) -> integer`, and `age_as_text(note: string) -> string`"
        ),
        "{results}"
    );
    let shadow = fault(Runtime::builder().shadow(Shadow::of("age_by_name", "age")));
    assert!(shadow.contains("`age` cannot be a shadow of `age_by_name`: their arguments differ"), "{shadow}");
}

#[tokio::test]
async fn a_tool_abstains_with_its_reason_outside_of_a_hybrid_too() {
    let runtime = Runtime::builder().build().unwrap();
    let error = runtime.run(age_by_rule { note: "forty".into() }).await.unwrap_err();
    assert!(error.is_unsure() && error.is_recoverable());
    assert_eq!(chain(&error), "`age_by_rule` is unsure: the note has no digits");
}

#[tokio::test]
async fn a_journaled_hybrid_is_resumed_after_any_record_with_the_same_answers() {
    let given = ["Ann is 30", "Bob is forty", "broken 5", "Cid is 7"];
    let journal = MemoryJournal::new();
    let (first, recorder) = builder("age_by_rule");
    let runtime = first.journal(journal.clone()).build().unwrap();
    assert_eq!(runtime.run(notes(&given)).await.unwrap(), 2037);
    let (records, all) = (journal.records(), answers(&recorder));
    for kept in 0..records.len() {
        let (again, recorder) = builder("age_by_rule");
        let journal = MemoryJournal::from_records(records[..kept].iter().cloned());
        let sum = again.journal(journal.clone()).build().unwrap().run(notes(&given)).await.unwrap();
        assert_eq!(sum, 2037, "after {kept} records");
        assert_eq!(journal.records().len(), records.len(), "after {kept} records");
        let answers = answers(&recorder);
        assert_eq!(answers, all[all.len() - answers.len()..], "after {kept} records");
    }
}

#[tokio::test]
async fn a_tool_whose_outcome_is_unknown_is_asked_about_or_reported_and_the_worker_does_not_answer() {
    let journal = MemoryJournal::new();
    let (first, _) = builder("age_with_effect");
    let runtime = first.approval_mode(ApprovalMode::ApproveAll).journal(journal.clone()).build().unwrap();
    assert_eq!(runtime.run(notes(&["Ann is 30"])).await.unwrap(), 30);
    let records = journal.records();
    let begun = records.iter().position(|record| record.kind == StepKind::Begun).unwrap();
    let died = || {
        let (again, recorder) = builder("age_with_effect");
        let journal = MemoryJournal::from_records(records[..=begun].iter().cloned());
        (again.approval_mode(ApprovalMode::ApproveAll).journal(journal), recorder)
    };
    let (attended, _) = died();
    let attended = attended.approve_with(|_| async { Decision::happened(31) }).build().unwrap();
    assert_eq!(attended.run(notes(&["Ann is 30"])).await.unwrap(), 31);
    let (unattended, recorder) = died();
    let error = unattended.build().unwrap().run(notes(&["Ann is 30"])).await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert_eq!(requests(&recorder), 0);
}

#[tokio::test]
async fn a_shadow_of_the_tool_runs_the_worker_itself_and_only_where_code_answered() {
    let (builder, recorder) = builder("age_by_rule");
    let runtime = builder.shadow(Shadow::of("age_by_rule", "age")).build().unwrap();
    runtime.run(notes(&["Ann is 30", "Bob is forty", "Cid is 1000"])).await.unwrap();
    let of = |kind: &EventKind| match kind {
        EventKind::Shadowed { agrees, .. } => Some(*agrees),
        _ => None,
    };
    let mut agreed: Vec<_> = recorder.kinds().iter().filter_map(of).collect();
    agreed.sort_unstable();
    assert_eq!(agreed, [false, true]);
    assert_eq!(answers(&recorder).len(), 3, "shadows do not ask code");
}

#[tokio::test]
async fn a_shadow_that_disagrees_too_often_is_an_event_once() {
    let (builder, recorder) = builder("age_by_rule");
    let runtime = builder.shadow(Shadow::of("age_by_rule", "age").alert_over(0.5)).build().unwrap();
    for _ in 0..3 {
        runtime.run(notes(&["1", "2", "3", "4", "5"])).await.unwrap();
    }
    let of = |kind| match kind {
        EventKind::Drifted { worker, disagree, of } => Some((worker, disagree, of)),
        _ => None,
    };
    let drifted: Vec<_> = recorder.kinds().into_iter().filter_map(of).collect();
    assert_eq!(drifted, [("age".to_owned(), 10, 10)]);
}

#[test]
fn faults_of_hybrids_are_reported_when_the_runtime_is_built() {
    let faults = |builder: RuntimeBuilder| builder.build().unwrap_err().to_string();
    let unknown = faults(Runtime::builder().hybrid("aeg", "age_by_rule"));
    assert!(unknown.contains("unknown name `aeg`; did you mean `"), "{unknown}");
    let swapped = faults(Runtime::builder().hybrid("age_by_rule", "age"));
    assert!(swapped.contains("`age_by_rule` is not a worker"), "{swapped}");
    let twice = faults(Runtime::builder().hybrid("age", "age_by_rule").hybrid("age", "age_as_text"));
    assert!(twice.contains("two tools that answer first"), "{twice}");
    let itself = faults(Runtime::builder().hybrid("age", "age"));
    assert!(itself.contains("cannot answer before itself"), "{itself}");
}

fn prices() -> PriceTable {
    let price = Price::per_million(Money::ZERO, Money::from_dollars(1_000_000));
    PriceTable::builtin().with("function:m", price).unwrap()
}

#[tokio::test]
async fn the_ranking_counts_what_code_answered_and_what_that_saved() {
    for notes_of in [&["Ann is 30", "Bob is forty"][..], &["Ann is 30", "Cid is 7", "Bob is forty", "broken"]] {
        let journal = MemoryJournal::new();
        let (builder, _) = builder("age_by_rule");
        builder.journal(journal.clone()).build().unwrap().run(notes(notes_of)).await.unwrap();
        let mut ranking = Ranking::new(["age", "unused"]);
        ranking.add(journal.records(), &prices());
        let workers = ranking.workers();
        assert_eq!(workers.len(), 1, "{workers:?}");
        let (calls, half) = (notes_of.len() as u64, notes_of.len() as u64 / 2);
        assert_eq!((&*workers[0].name, workers[0].calls, workers[0].by_code), ("age", calls, half));
        assert_eq!(workers[0].usage.requests, half);
        assert!(!workers[0].saved.is_zero());
        assert_eq!(workers[0].saved, workers[0].cost.known, "half of the calls cost as much as the other half");
    }
}

/// Asks for the ages in many notes.
async fn recorded(
    name: &str,
    notes_of: Vec<String>,
    answer: impl Fn(u32) -> u32 + Send + Sync + 'static,
) -> MemoryJournal {
    let journal = MemoryJournal::new();
    let number = std::sync::atomic::AtomicU32::new(0);
    let model = FunctionModel::answering(move |_| {
        let at = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Answer::output(json!({ "result": answer(at) }))
    });
    let runtime = Runtime::builder().force_model(model.named(name)).journal(journal.clone()).build().unwrap();
    runtime.run(ages { notes: notes_of }).await.unwrap();
    journal
}

#[tokio::test]
async fn the_ranking_estimates_what_code_could_answer_at_the_bound_of_the_gate() {
    let many = || (0..200).map(|number| format!("a note of {}", if number % 2 == 0 { "Ann" } else { "Bob" })).collect();
    let by_name: fn(u32) -> u32 = |at| 30 + at % 2;
    let at_random: fn(u32) -> u32 = |at| at * 7919 % 90;
    for (answer, is_possible) in [(by_name, true), (at_random, false)] {
        let mut ranking = Ranking::new(["age"]);
        ranking.add(recorded("m", many(), answer).await.records(), &prices());
        let worker = &ranking.workers()[0];
        assert_eq!(worker.possible > 0.9, is_possible, "{worker:?}");
        assert_eq!(
            worker.could_save > Money::from_picodollars(worker.cost.known.picodollars() / 2),
            is_possible,
            "{worker:?}"
        );
    }
}

#[tokio::test]
async fn cases_leave_out_what_code_answered() {
    let journal = MemoryJournal::new();
    let (builder, _) = builder("age_by_rule");
    let runtime = builder.journal(journal.clone()).build().unwrap();
    runtime.run(notes(&["Ann is 30", "Bob is forty", "broken 5"])).await.unwrap();
    runtime.run(age { note: "Cid is 7".into() }).await.unwrap();
    let mut cases = Cases::of("age");
    cases.add(journal.records());
    let inputs: Vec<_> = cases.iter().map(|case| case.input["note"].as_str().unwrap()).collect();
    assert_eq!(inputs, ["Bob is forty", "broken 5"]);
}

#[tokio::test]
async fn root_calls_are_in_the_ranking() {
    let mut ranking = Ranking::new(["age"]);
    for note in ["Ann is 30", "Bob is forty"] {
        let journal = MemoryJournal::new();
        let (builder, _) = builder("age_by_rule");
        builder.journal(journal.clone()).build().unwrap().run(age { note: note.into() }).await.unwrap();
        ranking.add(journal.records(), &prices());
    }
    let workers = ranking.workers();
    assert_eq!((workers[0].calls, workers[0].by_code, workers[0].usage.requests), (2, 1, 1));
}

#[tokio::test]
async fn the_ranking_has_the_drift_of_a_log_of_events() {
    let (builder, recorder) = builder("age_by_rule");
    let runtime = builder.shadow(Shadow::of("age_by_rule", "age")).build().unwrap();
    runtime.run(notes(&["Ann is 30", "Cid is 1000", "Dan is 1000", "Eve is 1000"])).await.unwrap();
    let lines: Vec<_> = recorder.events().iter().map(|event| json!(event).to_string() + "\n").collect();
    let log = format!("{}{{\"kind\":\"of a later version\"}}\n", lines.concat());
    let mut ranking = Ranking::new(["age"]);
    ranking.add_events(log.as_bytes()).unwrap();
    assert_eq!(ranking.workers()[0].drift(), Some(0.25));
}

/// Runs the application whose worker `capital_or_table` is a hybrid, with a shadow.
fn app(arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_evaluated"));
    command.args(arguments).env("LLM_DO_CONFIG", "").env_remove("LLM_DO_MODEL").stdin(std::process::Stdio::null());
    command.output().unwrap()
}

#[test]
fn the_report_of_harden_shows_shares_and_fails_over_a_threshold() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut report = vec!["harden".to_owned(), "--report".to_owned(), "--journal".to_owned()];
    let countries = ["France", "Italy", "Spain", "Japan"];
    report.extend(countries.iter().map(|country| path(&format!("{country}.journal"))));
    report.push("--events".to_owned());
    for country in countries {
        let (journal, events) = (path(&format!("{country}.journal")), path(&format!("{country}.events")));
        let input = json!({ "country": country }).to_string();
        // The model answers Paris, so it disagrees with the table about Italy.
        let common = ["call", "capital_or_table", "--model", "scripted:poor", "--input-json", &input];
        let output = app(&[&common[..], &["--journal", &journal, "--events", &events]].concat());
        assert!(output.status.success(), "{output:?}");
        report.push(events);
    }
    let run = |options: &[&str]| {
        let arguments: Vec<_> = report.iter().map(String::as_str).chain(options.iter().copied()).collect();
        let output = app(&arguments);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, table, _) = run(&[]);
    let rows: Vec<Vec<_>> =
        table.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
    assert_eq!(
        rows[0],
        ["worker", "calls", "by code", "requests", "tokens", "cost", "saved", "could save", "disagree"]
    );
    assert_eq!(rows[1][..4], ["capital_or_table", "4", "2 (50 %)", "2"], "{table}");
    assert_eq!((rows[1].last(), code), (Some(&"1 of 2"), Some(0)));
    assert_eq!(run(&["--fail-over", "0.5"]).0, Some(0));
    let (code, _, error) = run(&["--fail-over", "0.4"]);
    assert!(
        code == Some(1) && error.contains("`capital_or_table` disagrees with code in 1 of 2 comparisons"),
        "{error}"
    );
}

#[tokio::test]
async fn in_a_dry_run_a_tool_that_changes_something_is_planned_and_the_worker_answers() {
    let (builder, recorder) = builder("age_with_effect");
    let start = builder.build().unwrap().start(notes(&["Ann is 30"])).dry_run();
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), 1000);
    let reason = "`age_with_effect` did not run, since this is a dry run; the call is in the plan".to_owned();
    assert_eq!(answers(&recorder), [(CodeAnswer::Failed, Some(reason))]);
    let plan = handle.plan();
    let names: Vec<&str> = plan.calls.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["age_with_effect"]);
}

/// Returns a worker of a file with these keys, which returns the age of the person in a note.
fn aged(keys: &str) -> WorkerSpec {
    let note =
        "{ type: object, properties: { note: { type: string } }, required: [note], additionalProperties: false }";
    let file = format!(
        "---\nname: aged\n{keys}\ninput_schema: {note}\noutput_schema: {{ type: integer }}\n---\nReturn the age.\n"
    );
    file.parse().unwrap_or_else(|error| panic!("{error}: {file}"))
}

/// Runs the worker of the file, whose model answers 1000, and returns the result, and what shadows compared.
async fn run_aged(
    keys: &str,
    configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
) -> (llm_do::Value, Vec<(String, bool)>) {
    let (recorder, model) = (Recorder::new(), FunctionModel::answering(|_| Answer::output(json!({ "result": 1000 }))));
    let builder = Runtime::builder().force_model(model).sink(recorder.clone()).worker(aged(keys));
    let result = configure(builder).build().unwrap().run_named("aged", json!({ "note": "Ann is 30" })).await.unwrap();
    let of = |kind| match kind {
        EventKind::Shadowed { worker, agrees, .. } => Some((worker, agrees)),
        _ => None,
    };
    (result, recorder.kinds().into_iter().filter_map(of).collect())
}

#[tokio::test]
async fn a_worker_file_names_the_tool_that_answers_first_and_code_takes_precedence() {
    let as_written = |builder: RuntimeBuilder| builder;
    assert_eq!(run_aged("hybrid: age_by_rule", as_written).await, (json!(30), vec![]));
    let other = |builder: RuntimeBuilder| builder.hybrid("aged", "age_before_birth");
    assert_eq!(run_aged("hybrid: age_by_rule", other).await, (json!(-30), vec![]));
    let alone = |builder: RuntimeBuilder| builder.without_hybrid("aged");
    assert_eq!(run_aged("hybrid: age_by_rule", alone).await, (json!(1000), vec![]));
}

#[tokio::test]
async fn a_worker_file_names_the_tool_that_it_is_compared_with() {
    let as_written = |builder: RuntimeBuilder| builder;
    let both = "hybrid: age_by_rule\nshadow: { with: age_by_rule }";
    assert_eq!(run_aged(both, as_written).await, (json!(30), vec![("aged".to_owned(), false)]));
    let beside = "shadow: { with: age_by_rule, every: 1 }";
    assert_eq!(run_aged(beside, as_written).await, (json!(1000), vec![("age_by_rule".to_owned(), false)]));
    let seldom = "shadow: { with: age_by_rule, every: 2 }";
    assert_eq!(run_aged(seldom, as_written).await, (json!(1000), vec![]));
}

#[test]
fn faults_of_the_keys_are_reported() {
    let fault =
        |keys: &str| format!("---\nname: a\n{keys}\n---\nDo it.").parse::<WorkerSpec>().unwrap_err().to_string();
    assert!(fault("shadow: { every: 2 }").contains("`shadow` needs `with`"));
    assert!(fault("shadow: { with: b, evry: 2 }").contains("unknown key `evry` in `shadow`"));
    assert!(fault("hybrid: [b]").contains("hybrid"));
    let unknown = Runtime::builder().worker(aged("hybrid: age_by_rul")).build().unwrap_err().to_string();
    assert!(unknown.contains("unknown name `age_by_rul`; did you mean `age_by_rule`?"), "{unknown}");
}
