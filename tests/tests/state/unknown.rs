//! Calls whose outcome is unknown: what is asked, reported, settled by hand, and made again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalRequest, Approver, Decision, Policy};
use llm_do::error::chain;
use llm_do::journal::{FileJournal, Journal, JournalError, MemoryJournal, Record, Settlement, StepKind};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Effect, OnUnknown, async_trait};
use serde_json::{Value, json};

/// What happens outside of the program. Clones share it.
#[derive(Clone, Debug, Default)]
struct Outside {
    log: Arc<Mutex<Vec<String>>>,
    /// Whether effects never return.
    is_stuck: Arc<AtomicBool>,
    last: Arc<Mutex<Option<ApprovalRequest>>>,
    /// The idempotency keys of transfers.
    keys: Arc<Mutex<Vec<String>>>,
    /// Whether the bank knows of a transfer: 0 for none, 9 if it does not answer.
    was_wired: Arc<AtomicUsize>,
}

impl Outside {
    fn add(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    /// Returns what happened since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    async fn act(&self, what: String) -> usize {
        self.add(format!("did {what}"));
        if self.is_stuck.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        what.len()
    }

    async fn happened(&self) {
        while self.log.lock().unwrap().iter().all(|line| !line.starts_with("did")) {
            tokio::task::yield_now().await;
        }
    }
}

/// Pay a bill.
#[tool(effect = destructive)]
async fn pay_bill(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Mail a letter; the caller gets an error if its outcome is unknown.
#[tool(effect = destructive, on_unknown = report)]
async fn mail(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Book a seat, under the idempotency key of the call.
#[tool(effect = destructive, on_unknown = rerun)]
async fn book(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Wire money.
#[tool(effect = destructive, approval = pre_approved, reconcile = was_wired)]
async fn wire(ctx: &CallContext, what: String, outside: State<Outside>) -> usize {
    outside.keys.lock().unwrap().push(ctx.idempotency_key());
    outside.act(what).await
}

/// Return what a transfer has sent.
#[tool(effect = read_only)]
fn was_wired(ctx: &CallContext, what: String, outside: State<Outside>) -> Result<Option<usize>> {
    outside.add(format!("looked for {what}"));
    match outside.was_wired.load(Ordering::Relaxed) {
        0 => Ok(None),
        9 => Err("the bank is closed".into()),
        _ => Ok(outside.keys.lock().unwrap().contains(&ctx.idempotency_key()).then_some(what.len() + 4)),
    }
}

/// Ring up a sale.
#[tool(effect = destructive)]
async fn ring_up(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Repay a sale; its own setting comes before that of its toolset.
#[tool(effect = destructive, on_unknown = rerun)]
async fn repay(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Take cash.
#[tool(effect = destructive)]
async fn take_cash(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

/// Void a sale.
#[tool(effect = destructive)]
async fn void_sale(what: String, outside: State<Outside>) -> usize {
    outside.act(what).await
}

toolset! {
    /// What is reported.
    till(on_unknown = report) = [ring_up, repay];

    /// What is made again, unless another toolset is stricter.
    drawer(on_unknown = rerun) = [take_cash, void_sale];

    /// What is asked about.
    cash(on_unknown = ask) = [take_cash];
}

/// Pays once, by an effect of its own.
#[entry]
async fn pay_by_effect(ctx: &CallContext, outside: State<Outside>) -> Result<usize> {
    let outside = Outside::clone(&outside);
    Ok(ctx.destructive_effect("pay_bill", "a", async move { Ok(outside.act("a".into()).await) }).await?)
}

/// Pay what an order costs.
#[tool(effect = destructive, toolsets = [pay_bill])]
async fn settle_order(ctx: &CallContext<settle_order>, what: String) -> Result<usize> {
    Ok(ctx.call(pay_bill { what }).await?)
}

/// Takes orders.
#[worker(toolsets = [pay_bill])]
async fn cashier(input: String) -> String;

/// Calls one tool by its name.
#[entry(toolsets = [pay_bill, mail, book, wire, settle_order, cashier, till, drawer])]
async fn buy(ctx: &CallContext<buy>, tool: String) -> Result<Value> {
    let arguments = if tool == "cashier" { json!({ "input": "a" }) } else { json!({ "what": "a" }) };
    Ok(ctx.call_tool(&tool, arguments).await?)
}

/// Pays, and writes down what is unknown.
#[entry(toolsets = [pay_bill])]
async fn pay_or_note(ctx: &CallContext<pay_or_note>) -> Result<String> {
    match ctx.call(pay_bill { what: "a".into() }).await {
        Ok(pay_bild) => Ok(format!("pay_bild {pay_bild}")),
        Err(CallError::OutcomeUnknown { tool, .. }) => Ok(format!("look up {tool}")),
        Err(error) => Err(error.into()),
    }
}

/// An approver that logs what it is asked.
#[derive(Debug)]
struct Asked(Decision, Outside);

#[async_trait]
impl Approver for Asked {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        let again = if request.began.is_some() { " again" } else { "" };
        self.1.add(format!("asked{again} about {}", request.tool));
        *self.1.last.lock().unwrap() = Some(request.clone());
        // The first question is the usual one.
        match (request.began, &request.problem) {
            (None, _) => Decision::approve(),
            (Some(_), None) => self.0.clone(),
            (Some(_), Some(_)) => Decision::happened(1),
        }
    }
}

/// A model that pays, and then repeats what it got.
fn model() -> FunctionModel {
    FunctionModel::answering(|request| match request.messages.last() {
        Some(llm_do::model::Message::Tool { results }) => Answer::text(results[0].content.clone()),
        _ => Answer::call("pay_bill", json!({ "what": "a" })),
    })
}

fn process(journal: impl Journal, outside: &Outside) -> RuntimeBuilder {
    let acting = outside.clone();
    let schema = json!({ "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] });
    let by_value = FunctionTool::new("by_value", "Pay.", schema, Effect::Undeclared, move |_, arguments: Value| {
        let outside = acting.clone();
        async move { Ok(outside.act(arguments["what"].as_str().unwrap().to_owned()).await) }
    });
    let builder = crate::own_builder().journal(journal).state(outside.clone()).force_model(model());
    builder.tool(by_value.on_unknown(OnUnknown::Report))
}

fn answering(journal: impl Journal, outside: &Outside, decision: Decision) -> RuntimeBuilder {
    process(journal, outside).approver(Asked(decision, outside.clone()))
}

/// Returns the root call that calls a tool; one that exists only at run time is called by itself.
fn root(tool: &str) -> (&'static str, Value) {
    if tool == "by_value" { ("by_value", json!({ "what": "a" })) } else { ("buy", json!({ "tool": tool })) }
}

async fn run(builder: RuntimeBuilder, tool: &str) -> Result<Value, CallError> {
    let (name, arguments) = root(tool);
    builder.build().unwrap().run_named(name, arguments).await
}

/// Runs until the effect has happened, and drops the run in it, as if its process died.
async fn die(journal: impl Journal, outside: &Outside, (name, arguments): (&str, Value)) {
    outside.is_stuck.store(true, Ordering::Relaxed);
    let runtime = answering(journal, outside, Decision::approve()).build().unwrap();
    tokio::select! {
        biased;
        () = outside.happened() => {}
        ended = runtime.run_named(name, arguments) => panic!("the run ended: {ended:?}"),
    }
    outside.is_stuck.store(false, Ordering::Relaxed);
    outside.take();
}

async fn died(outside: &Outside, tool: &str) -> MemoryJournal {
    let journal = MemoryJournal::new();
    die(journal.clone(), outside, root(tool)).await;
    journal.replayed()
}

/// Returns the key of the call that began last.
fn begun_call(records: &[Record]) -> String {
    let begun = records.iter().rfind(|record| record.kind == StepKind::Begun).unwrap();
    begun.key.rsplit_once('/').unwrap().0.to_owned()
}

#[tokio::test]
async fn a_call_that_happened_has_the_result_that_the_approver_gives() {
    let outside = Outside::default();
    for tool in ["pay_bill", "settle_order"] {
        let journal = died(&outside, tool).await;
        let resumed = run(answering(journal.clone(), &outside, Decision::happened(7)), tool).await;
        assert_eq!(resumed.unwrap(), 7, "{tool}");
        assert_eq!(outside.take(), ["asked again about pay_bill"], "{tool}");
        // It is recorded as the result of the call.
        assert_eq!(run(process(journal.replayed(), &outside), tool).await.unwrap(), 7);
        assert!(outside.take().is_empty());
    }
    let request = outside.last.lock().unwrap().clone().unwrap();
    assert_eq!(request.result_schema.unwrap()["type"], "integer");
    assert_eq!(request.approved_by, Some(llm_do::approval::DecidedBy::Approver));
}

#[tokio::test]
async fn an_answer_that_a_call_happened_holds_if_the_process_dies_after_it() {
    let outside = Outside::default();
    let journal = died(&outside, "pay_bill").await;
    run(answering(journal.clone(), &outside, Decision::happened(7)), "pay_bill").await.unwrap();
    outside.take();
    let answer = journal.records().iter().rposition(|record| record.kind == StepKind::Approval).unwrap();
    let cut = MemoryJournal::from_records(journal.records().into_iter().take(answer + 1));
    assert_eq!(run(process(cut, &outside), "pay_bill").await.unwrap(), 7);
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn a_result_that_does_not_match_and_one_of_a_call_that_has_not_begun_are_asked_for_again() {
    let outside = Outside::default();
    let journal = died(&outside, "pay_bill").await;
    let resumed = run(answering(journal, &outside, Decision::happened("seven")), "pay_bill").await;
    assert_eq!(resumed.unwrap(), 1);
    assert_eq!(outside.take(), ["asked again about pay_bill", "asked again about pay_bill"]);
    let problem = outside.last.lock().unwrap().clone().unwrap().problem.unwrap();
    assert!(problem.contains("does not match the schema"), "{problem}");
    let runtime = process(MemoryJournal::new(), &outside).approve_with(|request| async move {
        match request.problem {
            None => Decision::happened(1),
            Some(problem) => Decision::deny(problem),
        }
    });
    let error = run(runtime, "pay_bill").await.unwrap_err();
    assert!(chain(&error).contains("has not begun"), "{error:?}");
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn an_answer_that_a_call_did_not_happen_runs_it_and_one_that_stops_does_not() {
    let outside = Outside::default();
    let journal = died(&outside, "pay_bill").await;
    assert_eq!(run(answering(journal.replayed(), &outside, Decision::approve()), "pay_bill").await.unwrap(), 1);
    assert_eq!(outside.take(), ["asked again about pay_bill", "did a"]);
    let stopped = run(answering(journal.replayed(), &outside, Decision::deny_and_stop("look first")), "pay_bill").await;
    assert!(stopped.unwrap_err().is_stopped());
    assert_eq!(outside.take(), ["asked again about pay_bill"]);
}

#[tokio::test]
async fn an_approver_without_a_decision_leaves_the_outcome_unknown() {
    let outside = Outside::default();
    let journal = died(&outside, "pay_bill").await;
    let error = run(answering(journal, &outside, Decision::undecided("the terminal is closed")), "pay_bill").await;
    assert!(error.unwrap_err().is_outcome_unknown());
    assert_eq!(outside.take(), ["asked again about pay_bill"]);
}

#[tokio::test]
async fn each_setting_is_followed_and_the_policy_comes_before_the_tool() {
    let outside = Outside::default();
    for (tool, is_reported) in [("mail", true), ("by_value", true), ("book", false)] {
        let journal = died(&outside, tool).await;
        let resumed = run(answering(journal.replayed(), &outside, Decision::happened(9)), tool).await;
        assert_eq!(resumed.is_err_and(|error| error.is_outcome_unknown()), is_reported, "{tool}");
        // The first approval is used up.
        let expected: &[&str] = if is_reported { &[] } else { &["asked about book", "did a"] };
        assert_eq!(outside.take(), expected, "{tool}");
        let swapped = if is_reported { OnUnknown::Rerun } else { OnUnknown::Report };
        let ruled = answering(journal.replayed(), &outside, Decision::happened(9));
        let resumed = run(ruled.policy(Policy::new().on_unknown(tool, swapped)), tool).await;
        assert_eq!(resumed.is_ok(), is_reported, "{tool}");
        outside.take();
    }
    let journal = died(&outside, "pay_bill").await;
    let reporting = answering(journal.replayed(), &outside, Decision::happened(9)).on_unknown(OnUnknown::Report);
    assert!(run(reporting, "pay_bill").await.unwrap_err().is_outcome_unknown());
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn the_setting_of_a_toolset_holds_for_its_members_without_their_own_and_the_strictest_of_several() {
    let outside = Outside::default();
    let cases: [(_, _, &[&str]); 4] = [
        ("ring_up", false, &[]),
        ("repay", true, &["asked about repay", "did a"]),
        ("take_cash", true, &["asked again about take_cash"]),
        ("void_sale", true, &["asked about void_sale", "did a"]),
    ];
    for (tool, is_ok, log) in cases {
        let journal = died(&outside, tool).await;
        let resumed = run(answering(journal, &outside, Decision::happened(9)), tool).await;
        assert_eq!(resumed.is_ok(), is_ok, "{tool}");
        assert_eq!(outside.take(), log, "{tool}");
    }
    let journal = died(&outside, "ring_up").await;
    let policy = Policy::new().on_unknown("till", OnUnknown::Ask);
    let resumed = run(answering(journal, &outside, Decision::happened(9)).policy(policy), "ring_up").await;
    assert_eq!(resumed.unwrap(), 9, "a policy comes before the toolset");
    assert_eq!(outside.take(), ["asked again about ring_up"]);
}

#[test]
fn a_setting_for_an_unknown_name_or_for_a_worker_is_a_fault_of_the_policy() {
    let outside = Outside::default();
    let policy = Policy::new().on_unknown("pay_bil", OnUnknown::Report).on_unknown("cashier", OnUnknown::Report);
    let error = chain(&process(MemoryJournal::new(), &outside).policy(policy).build().unwrap_err());
    assert!(error.contains("unknown tool or toolset `pay_bil`; did you mean `pay_bill`?"), "{error}");
    assert!(error.contains("`cashier` is not a tool, but a worker"), "{error}");
    let written: Policy = serde_json::from_value(json!({ "on_unknown": { "pay_bill": "rerun" } })).unwrap();
    assert_eq!(serde_json::to_value(&written).unwrap()["on_unknown"], json!({ "pay_bill": "rerun" }));
}

#[tokio::test]
async fn code_matches_an_unknown_outcome_live_and_replayed() {
    let outside = Outside::default();
    let journal = MemoryJournal::new();
    die(journal.clone(), &outside, ("pay_or_note", json!({}))).await;
    let journal = journal.replayed();
    for _ in 0..3 {
        let runtime = process(journal.replayed(), &outside).build().unwrap();
        assert_eq!(runtime.run(pay_or_note {}).await.unwrap(), "look up pay_bill");
    }
    let runtime = process(journal.clone(), &outside).build().unwrap();
    assert_eq!(runtime.run(pay_or_note {}).await.unwrap(), "look up pay_bill");
    // The answer of an approver comes too late: the code has gone on.
    let later = answering(journal.replayed(), &outside, Decision::happened(7)).build().unwrap();
    assert_eq!(later.run(pay_or_note {}).await.unwrap(), "look up pay_bill");
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn a_model_gets_plain_words_and_goes_on() {
    let outside = Outside::default();
    let journal = died(&outside, "cashier").await;
    let answer = run(process(journal, &outside), "cashier").await.unwrap();
    let answer = answer.as_str().unwrap();
    assert!(
        answer.contains("the outcome of `pay_bill` is unknown") && answer.contains("find out whether it did"),
        "{answer}"
    );
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn the_error_keeps_its_kind_where_code_passes_it_on() {
    let outside = Outside::default();
    let mut journal = died(&outside, "settle_order").await;
    for _ in 0..3 {
        journal = journal.replayed();
        // A failed run is resumed: its failure is retried.
        let error = run(process(journal.clone(), &outside), "settle_order").await.unwrap_err();
        assert!(error.is_outcome_unknown() && error.is_recoverable(), "{error:?}");
    }
    let resumed = run(answering(journal.replayed(), &outside, Decision::happened(7)), "settle_order").await;
    assert_eq!(resumed.unwrap(), 7, "only the call inside is asked about");
    assert_eq!(outside.take(), ["asked again about pay_bill"]);
}

#[tokio::test]
async fn what_is_settled_by_hand_comes_before_every_question() {
    let outside = Outside::default();
    for (settlement, result, log) in
        [(Settlement::Result(json!(7)), 7, Vec::new()), (Settlement::NotDone, 1, vec!["asked about pay_bill", "did a"])]
    {
        let journal = died(&outside, "pay_bill").await;
        // Reported, and the run failed.
        run(process(journal.clone(), &outside), "pay_bill").await.unwrap_err();
        // And a person stopped it.
        let journal = journal.replayed();
        let stopping = answering(journal.clone(), &outside, Decision::deny_and_stop("look first"));
        run(stopping, "pay_bill").await.unwrap_err();
        outside.take();
        let call = begun_call(&journal.records());
        journal.settle(&call, &settlement).unwrap();
        let again = journal.settle(&call, &Settlement::NotDone);
        assert!(matches!(again, Err(JournalError::InvalidValue { .. })), "{again:?}");
        let resumed = run(answering(journal.replayed(), &outside, Decision::happened(9)), "pay_bill").await;
        assert_eq!(resumed.unwrap(), result);
        assert_eq!(outside.take(), log);
    }
    let unknown = MemoryJournal::new().settle("buy/pay_bill", &Settlement::NotDone).unwrap_err();
    assert!(unknown.to_string().contains("no call of this key began"), "{unknown}");
}

#[tokio::test]
async fn a_call_that_is_interrupted_after_it_was_settled_is_reported_and_settled_again() {
    let outside = Outside::default();
    for tool in ["pay_bill", "settle_order"] {
        let mut journal = died(&outside, tool).await;
        for _ in 0..3 {
            journal.settle(&begun_call(&journal.records()), &Settlement::NotDone).unwrap();
            journal = journal.replayed();
            die(journal.clone(), &outside, root(tool)).await;
            journal = journal.replayed();
            let error = run(process(journal.clone(), &outside), tool).await.unwrap_err();
            assert!(error.is_outcome_unknown(), "{tool}: {error:?}");
            journal = journal.replayed();
        }
        journal.settle(&begun_call(&journal.records()), &Settlement::Result(json!(7))).unwrap();
        assert_eq!(run(process(journal.replayed(), &outside), tool).await.unwrap(), 7, "{tool}");
        assert!(outside.take().is_empty());
    }
}

#[tokio::test]
async fn a_call_in_a_file_is_settled_in_the_file() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), Outside::default());
    let path = folder.path().join("run.jsonl");
    die(FileJournal::open(&path).unwrap(), &outside, ("buy", json!({ "tool": "pay_bill" }))).await;
    let records: Vec<_> = FileJournal::read(&path).unwrap().map(Result::unwrap).collect();
    let journal = FileJournal::open(&path).unwrap();
    journal.settle(&begun_call(&records), &Settlement::Result(json!(7))).await.unwrap();
    drop(journal);
    assert_eq!(run(process(FileJournal::open(&path).unwrap(), &outside), "pay_bill").await.unwrap(), 7);
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn the_tool_of_reconcile_is_asked_before_a_person_and_knows_the_key_of_the_call() {
    let outside = Outside::default();
    for (known, result, log) in [
        (1, 5, vec!["looked for a"]),
        (0, 1, vec!["looked for a", "did a"]),
        (9, 7, vec!["looked for a", "asked again about wire"]),
    ] {
        let journal = died(&outside, "wire").await;
        outside.was_wired.store(known, Ordering::Relaxed);
        let resumed = run(answering(journal.clone(), &outside, Decision::happened(7)), "wire").await;
        assert_eq!((resumed.unwrap(), outside.take()), (json!(result), log.into_iter().map(str::to_owned).collect()));
        // What was found is recorded.
        assert_eq!(run(process(journal.replayed(), &outside), "wire").await.unwrap(), result);
        assert!(outside.take().is_empty());
    }
}

#[test]
fn a_tool_of_reconcile_that_changes_something_or_is_unknown_is_a_fault() {
    let tool = |reconcile: &str| {
        let tool = FunctionTool::new("send", "Send.", json!({ "type": "object" }), Effect::Destructive, |_, _| async {
            Ok("sent")
        });
        let builder = process(MemoryJournal::new(), &Outside::default()).tool(tool.reconcile(reconcile));
        chain(&builder.build().unwrap_err())
    };
    assert!(tool("was_wire").contains("unknown tool `was_wire` of `reconcile`"), "{}", tool("was_wire"));
    assert!(tool("pay_bill").contains("with `effect = read_only`"), "{}", tool("pay_bill"));
}

#[tokio::test]
async fn an_effect_that_must_not_run_twice_is_reported_and_settled() {
    let outside = Outside::default();
    let journal = MemoryJournal::new();
    die(journal.clone(), &outside, ("pay_by_effect", json!({}))).await;
    let mut journal = journal.replayed();
    for _ in 0..2 {
        journal = journal.replayed();
        let error = process(journal.clone(), &outside).build().unwrap().run(pay_by_effect {}).await.unwrap_err();
        assert!(error.is_outcome_unknown(), "{error:?}");
    }
    assert!(outside.take().is_empty());
    for (settlement, result, log) in [(Settlement::Result(json!(7)), 7, 0), (Settlement::NotDone, 1, 1)] {
        let settled = journal.replayed();
        settled.settle(&begun_call(&settled.records()), &settlement).unwrap();
        let runtime = process(settled.replayed(), &outside).build().unwrap();
        assert_eq!((runtime.run(pay_by_effect {}).await.unwrap(), outside.take().len()), (result, log));
    }
}
