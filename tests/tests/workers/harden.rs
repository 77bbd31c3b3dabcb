//! Hardening: a worker's cases from journals, and the comparison with a candidate.

use llm_do::approval::{Decision, Policy, WorkerRule};
use llm_do::event::Outcome;
use llm_do::harden::{Agreement, Cases, Compared, Summary, Verdict, compare};
use llm_do::journal::{FileJournal, JournalError, MemoryJournal};
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::{Value, json};

/// Name the person of a note.
#[worker]
async fn name_of(note: String) -> String;

/// Process a note.
#[worker(toolsets = [name_of])]
async fn clerk(task: String) -> String;

/// Names the persons in notes, without those that fail, and lets a clerk process one.
#[entry(toolsets = [name_of, clerk])]
async fn desk(ctx: &CallContext<desk>, notes: Vec<String>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for note in notes {
        names.extend(ctx.call(name_of { note }).await);
    }
    ctx.call(clerk { task: "the last one".into() }).await?;
    Ok(names)
}

/// Name the person of a note: its first word.
#[tool(effect = read_only)]
fn first_word(note: &str) -> Result<String> {
    Ok(note.split_whitespace().next().ok_or("it is empty")?.to_owned())
}

/// Name the person of a note of at most 8 letters.
#[tool(effect = read_only)]
fn first_word_of_few(#[schemars(length(max = 8))] note: String) -> Result<String> {
    first_word(&note)
}

/// An age.
#[data]
struct Age {
    years: u8,
    note: String,
}

/// Say how old a person is.
#[worker]
async fn age_of(of: String) -> Age;

/// Say how old a person is.
#[tool(effect = read_only)]
fn age_in_general(of: String) -> Value {
    json!({ "years": 30.0, "note": of })
}

/// Answers according to the last note in the messages; a clerk answers "Cid, 3".
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let said = format!("{:?}", request.messages);
        let text = |text: &str| vec![ResponsePart::Text { text: text.to_owned() }];
        let parts = match said {
            said if said.contains("the last one") && request.messages.len() == 1 => {
                let arguments = json!({ "note": "Cid, 3" }).to_string();
                vec![ResponsePart::ToolCall(ToolCall::new("1", "name_of", arguments))]
            }
            said if said.contains("the last one") => text("done"),
            said if said.contains("Ann") => text("Ann"),
            said if said.contains("Bob") => text("Robert"),
            said if said.contains("Cid") => text("Cid"),
            _ => Vec::new(),
        };
        Ok(Response::new("m", parts, Usage::of_request(1, 1)))
    })
}

fn builder() -> RuntimeBuilder {
    Runtime::builder().force_model(model())
}

fn notes(notes: &[&str]) -> desk {
    desk { notes: notes.iter().map(|note| (*note).to_owned()).collect() }
}

async fn recorded(builder: RuntimeBuilder, given: &[&str]) -> Cases {
    let journal = MemoryJournal::new();
    builder.journal(journal.clone()).build().unwrap().run(notes(given)).await.unwrap();
    let mut cases = Cases::of("name_of");
    cases.add(journal.records());
    cases
}

fn inputs(cases: &Cases) -> Vec<(&str, u64)> {
    cases.iter().map(|case| (case.input["note"].as_str().unwrap(), case.times())).collect()
}

async fn compared(candidate: &str, cases: &Cases) -> Vec<Compared> {
    compare(&Runtime::builder().build().unwrap(), candidate, cases, &Agreement::new()).await.cases
}

#[tokio::test]
async fn calls_from_code_and_models_are_cases_and_equal_inputs_are_one_case() {
    let cases = recorded(builder(), &["Ann, 1", "Bob, 2", "Ann, 1"]).await;
    assert_eq!(inputs(&cases), [("Ann, 1", 2), ("Bob, 2", 1), ("Cid, 3", 1)]);
    let results: Vec<_> = cases.iter().map(|case| case.answer().unwrap().outcome.clone()).collect();
    assert_eq!(results, ["Ann", "Robert", "Cid"].map(|name| Outcome::Result(json!(name).into())));
}

/// Looks up two names in a thread.
#[entry(toolsets = [name_of])]
async fn remembering_desk(ctx: &CallContext<remembering_desk>) -> Result<()> {
    let thread = ctx.thread("names");
    thread.call(name_of { note: "Ann, 1".into() }).await?;
    thread.call(name_of { note: "Bob, 2".into() }).await?;
    Ok(())
}

#[tokio::test]
async fn a_call_in_a_thread_is_not_a_case_since_its_answer_depends_on_the_thread() {
    let journal = MemoryJournal::new();
    builder().journal(journal.clone()).build().unwrap().run(remembering_desk {}).await.unwrap();
    let mut cases = Cases::of("name_of");
    cases.add(journal.records());
    assert!(cases.is_empty(), "{cases:?}");
}

#[tokio::test]
async fn a_root_call_is_a_case_too() {
    let journal = MemoryJournal::new();
    let runtime = builder().journal(journal.clone()).build().unwrap();
    runtime.run(name_of { note: "Ann, 1".into() }).await.unwrap();
    let mut cases = Cases::of("name_of");
    cases.add(journal.records());
    cases.add(journal.records());
    assert_eq!(inputs(&cases), [("Ann, 1", 2)], "and those of several journals are added");
}

#[tokio::test]
async fn an_input_that_an_approver_edited_is_the_edited_one() {
    let asks = Policy::new().worker("name_of", WorkerRule::new().calls(true));
    let edits = builder().policy(asks).approve_with(|request| async move {
        let is_ann = request.arguments["note"] == "Ann, 1";
        if is_ann { Decision::approve_with(json!({ "note": "Bob, 1" })) } else { Decision::approve() }
    });
    let cases = recorded(edits, &["Ann, 1", "Ann, 2"]).await;
    assert_eq!(inputs(&cases), [("Bob, 1", 1), ("Ann, 2", 1), ("Cid, 3", 1)]);
    assert_eq!(cases.iter().next().unwrap().answer().unwrap().outcome, Outcome::Result(json!("Robert").into()));
}

#[tokio::test]
async fn the_most_frequent_answer_is_compared_and_the_first_of_equally_frequent_ones() {
    let answers = ["Anna", "Ann", "Ann", "Bert", "Bob"];
    let model = answers.into_iter().fold(ScriptedModel::new(), ScriptedModel::text);
    let journal = MemoryJournal::new();
    let runtime = Runtime::builder().force_model(model).journal(journal.clone()).build().unwrap();
    for note in ["Ann, 1", "Ann, 1", "Ann, 1", "Bob, 2", "Bob, 2"] {
        runtime.run(name_of { note: note.into() }).await.unwrap();
    }
    let mut cases = Cases::of("name_of");
    cases.add(journal.records());
    let compared = compared("first_word", &cases).await;
    let summed: Vec<_> = compared.iter().map(|case| (case.worker.clone(), case.times, case.answers)).collect();
    assert_eq!(summed, [(Outcome::Result(json!("Ann").into()), 3, 2), (Outcome::Result(json!("Bert").into()), 2, 2)]);
}

#[tokio::test]
async fn each_case_has_a_verdict_and_both_values() {
    let cases = recorded(builder(), &["Ann, 1", "Robert Bob", "Bob, 2", "someone", "  Ann"]).await;
    let compared = compared("first_word", &cases).await;
    let verdicts: Vec<_> = compared.iter().map(|case| case.verdict).collect();
    // "Ann," and "Bob," have a comma.
    let expected =
        [Verdict::Differs, Verdict::Agrees, Verdict::Differs, Verdict::WorkerFailed, Verdict::Agrees, Verdict::Differs];
    assert_eq!(verdicts, expected);
    assert_eq!(compared[0].worker, Outcome::Result(json!("Ann").into()));
    assert_eq!(compared[0].candidate, Some(Outcome::Result(json!("Ann,").into())));
    assert!(matches!(&compared[3].worker, Outcome::Error(error) if error.contains("name_of")), "{compared:?}");
    assert_eq!(compared[3].candidate, None, "there is nothing to compare with");
}

#[tokio::test]
async fn a_candidate_that_fails_or_refuses_an_input_does_not_agree() {
    let cases = recorded(builder(), &["Ann, the first of us"]).await;
    let [refused, differs] = compared("first_word_of_few", &cases).await.try_into().unwrap();
    assert_eq!((refused.verdict, differs.verdict), (Verdict::Refused, Verdict::Differs));
    assert!(matches!(&refused.candidate, Some(Outcome::Error(error)) if error.contains("/note")), "{refused:?}");
    let unknown = &compared("no_one", &cases).await[0];
    assert_eq!(unknown.verdict, Verdict::Failed);
    assert!(matches!(&unknown.candidate, Some(Outcome::Error(error)) if error.contains("`no_one`")), "{unknown:?}");
}

#[tokio::test]
async fn a_call_that_did_not_finish_is_not_a_case() {
    let journal = MemoryJournal::new();
    let limits = llm_do::Limits::new().requests(1);
    let runtime = builder().limits(limits).journal(journal.clone()).build().unwrap();
    // The second call meets the limit.
    runtime.run(notes(&["Ann, 1", "Bob, 2"])).await.unwrap_err();
    let mut cases = Cases::of("name_of");
    cases.add(journal.records());
    assert_eq!(inputs(&cases), [("Ann, 1", 1)]);
}

#[tokio::test]
async fn a_journal_file_is_read_and_an_invalid_line_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let journal = FileJournal::open(&path).unwrap();
    builder().journal(journal).build().unwrap().run(notes(&["Ann, 1"])).await.unwrap();
    let mut cases = Cases::of("name_of");
    cases.add_file(&path).unwrap();
    assert_eq!(inputs(&cases), [("Ann, 1", 1), ("Cid, 3", 1)]);

    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"kind\"", "\"kin\"", 1)).unwrap();
    assert!(matches!(cases.add_file(&path), Err(JournalError::Corrupt { line: 2, .. })));
}

#[tokio::test]
async fn a_summary_is_rounded_down_and_counts_failures_of_the_worker() {
    let runtime = Runtime::builder().build().unwrap();
    let summary = async |given: &[&str]| {
        compare(&runtime, "first_word", &recorded(builder(), given).await, &Agreement::new()).await.summary()
    };
    // The clerk's note differs.
    let two_of_three = summary(&["Ann 1", "Ann 2"]).await;
    assert_eq!(two_of_three.to_string(), "2 of 3 agree (66 %)");
    let failed = summary(&["Ann 1", "someone", "no_one"]).await;
    assert_eq!(failed.to_string(), "1 of 2 agree (50 %); the worker failed in 2 more");
    assert!(!failed.all_agree() && !Summary::default().all_agree());
}

#[tokio::test]
async fn results_agree_by_value_without_ignored_fields() {
    let mut cases = Cases::of("age_of");
    let journal = MemoryJournal::new();
    let model = llm_do::testing::TestModel::new().output(json!({ "years": 30, "note": "sure" }));
    let runtime = Runtime::builder().force_model(model).journal(journal.clone()).build().unwrap();
    runtime.run(age_of { of: "Ann".into() }).await.unwrap();
    cases.add(journal.records());
    let runtime = Runtime::builder().build().unwrap();
    let agreements = [Agreement::new(), Agreement::new().ignore("/note")];
    for (agreement, verdict) in agreements.iter().zip([Verdict::Differs, Verdict::Agrees]) {
        let report = compare(&runtime, "age_in_general", &cases, agreement).await;
        assert_eq!(report.cases[0].verdict, verdict, "{report:?}");
        assert_eq!(report.summary().all_agree(), verdict == Verdict::Agrees);
    }
}

#[tokio::test]
async fn the_cases_that_are_kept_are_the_same_in_any_order_and_complete() {
    let journal = MemoryJournal::new();
    let runtime = builder().journal(journal.clone()).build().unwrap();
    for n in (0..40).chain(0..40) {
        runtime.run(name_of { note: format!("Ann, {n}") }).await.unwrap();
    }
    let records = journal.records();
    let cases = |records: Vec<_>| {
        let mut cases = Cases::of("name_of").at_most(10);
        cases.add(records);
        let mut kept: Vec<_> = cases.iter().map(|case| (case.input.to_string(), case.times())).collect();
        kept.sort();
        (kept, cases.left_out())
    };
    let (kept, left_out) = cases(records.clone());
    assert_eq!((kept.len(), left_out), (10, 60));
    assert!(kept.iter().all(|(_, times)| *times == 2), "{kept:?}");
    assert_eq!(cases(records.into_iter().rev().collect()), (kept, left_out));
    let mut all = Cases::of("name_of");
    all.add(journal.records());
    assert_eq!((all.len(), all.left_out()), (40, 0));
}
