//! One approval, one effect: an approval is used up when its call begins, however the call ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, ApprovalScope, Approver, Decision, Policy, Rule};
use llm_do::error::chain;
use llm_do::journal::{
    FileJournal, Journal, JournalError, JournalOutcome, MemoryJournal, Record, SqliteJournal, StepFuture, StepKind,
    StepSpec,
};
use llm_do::prelude::*;
use llm_do::project::Project;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Effect, async_trait};
use serde_json::{Value, json};

/// What happens outside of the program. Clones share it.
#[derive(Clone, Debug, Default)]
struct Outside {
    log: Arc<Mutex<Vec<String>>>,
    /// How effects end: never, with an error, or well.
    is_stuck: Arc<AtomicBool>,
    fails: Arc<AtomicBool>,
    /// The requests that were made.
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Outside {
    fn add(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    /// Returns what happened since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    async fn act(&self, what: String) -> Result<usize> {
        self.add(format!("did {what}"));
        if self.is_stuck.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        if self.fails.load(Ordering::Relaxed) { Err("the line is dead".into()) } else { Ok(what.len()) }
    }

    /// Returns once this number of effects has happened since the last `take`.
    async fn happened(&self, effects: usize) {
        while self.log.lock().unwrap().iter().filter(|line| line.starts_with("did")).count() < effects {
            tokio::task::yield_now().await;
        }
    }

    fn last_asked(&self) -> ApprovalRequest {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

/// Charge a customer.
#[tool(effect = destructive)]
async fn charge(what: String, outside: State<Outside>) -> Result<usize> {
    outside.act(what).await
}

/// Ship a parcel.
#[tool(approval = pre_approved)]
async fn ship(what: String, outside: State<Outside>) -> Result<usize> {
    outside.act(what).await
}

/// Set a value.
#[tool(effect = idempotent)]
async fn set(what: String, outside: State<Outside>) -> Result<usize> {
    outside.act(what).await
}

/// Look at a value.
#[tool(effect = read_only)]
async fn peek(what: String, outside: State<Outside>) -> Result<usize> {
    outside.act(what).await
}

/// Post a letter; one that is dated needs the time.
#[tool]
async fn post_letter(ctx: &CallContext, what: String, outside: State<Outside>) -> Result<usize> {
    if what == "dated" {
        ctx.now().await?;
    }
    outside.act(what).await
}

/// Send money.
#[tool(effect = destructive, approval = pre_approved)]
async fn remit(_ctx: &CallContext, what: String, outside: State<Outside>) -> Result<usize> {
    outside.act(what).await
}

/// Do all that an order needs.
#[tool(effect = destructive, toolsets = [charge])]
async fn fulfil(ctx: &CallContext<fulfil>, what: String) -> Result<usize> {
    Ok(ctx.call(charge { what }).await?)
}

/// Take orders.
#[worker(toolsets = [charge])]
async fn clerk(input: String) -> String;

/// Calls tools by name, one after the other.
#[entry(toolsets = [charge, ship, set, peek, fulfil, clerk])]
async fn order(ctx: &CallContext<order>, calls: Vec<String>, what: String) -> Result<()> {
    for name in calls {
        match &*name {
            "charge" => drop(ctx.call(charge { what: what.clone() }).await?),
            "ship" => drop(ctx.call(ship { what: what.clone() }).await?),
            "set" => drop(ctx.call(set { what: what.clone() }).await?),
            "peek" => drop(ctx.call(peek { what: what.clone() }).await?),
            "fulfil" => drop(ctx.call(fulfil { what: what.clone() }).await?),
            _ => drop(ctx.call(clerk { input: what.clone() }).await?),
        }
    }
    Ok(())
}

/// Charges two customers together, with equal arguments.
#[entry(toolsets = [charge])]
async fn charge_twice(ctx: &CallContext<charge_twice>) -> Result<usize> {
    let call = || ctx.call(charge { what: "both".into() });
    let (left, right) = futures_util::join!(call(), call());
    Ok(left? + right?)
}

/// Takes the first of a charge and a wait, and then looks.
#[entry(toolsets = [charge, peek])]
async fn race(ctx: &CallContext<race>) -> Result<String> {
    let first = tokio::select! {
        biased;
        charged = ctx.call(charge { what: "late".into() }) => format!("charged: {charged:?}"),
        waited = ctx.sleep(std::time::Duration::from_millis(20)) => { waited?; "waited".to_owned() }
    };
    ctx.call(peek { what: first.clone() }).await?;
    Ok(first)
}

/// An approver that logs what it is asked.
#[derive(Debug)]
struct Asked(Decision, Outside);

#[async_trait]
impl Approver for Asked {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        let again = if request.began.is_some() { " again" } else { "" };
        self.1.add(format!("asked{again} about {} of {}", request.tool, request.arguments["what"].as_str().unwrap()));
        self.1.asked.lock().unwrap().push(request.clone());
        self.0.clone()
    }
}

fn process(journal: impl Journal, outside: &Outside) -> RuntimeBuilder {
    crate::own_builder().journal(journal).state(outside.clone()).force_model(model())
}

/// A model that charges once, and then answers.
fn model() -> FunctionModel {
    FunctionModel::answering(|request| {
        let is_done = request.messages.len() > 1;
        if is_done { Answer::text("done") } else { Answer::call("charge", json!({ "what": "a" })) }
    })
}

fn approving(journal: impl Journal, outside: &Outside) -> RuntimeBuilder {
    process(journal, outside).approver(Asked(Decision::approve(), outside.clone()))
}

fn one(name: &str) -> order {
    order { calls: vec![name.into()], what: "a".into() }
}

async fn run(builder: RuntimeBuilder, name: &str) -> Result<(), CallError> {
    builder.build().unwrap().run(one(name)).await
}

/// Runs until effects have happened, and drops the run in them, as if its process died.
async fn die_after(effects: usize, builder: RuntimeBuilder, (name, arguments): (&str, Value), outside: &Outside) {
    outside.is_stuck.store(true, Ordering::Relaxed);
    let runtime = builder.build().unwrap();
    tokio::select! {
        biased;
        () = outside.happened(effects) => {}
        ended = runtime.run_named(name, arguments) => panic!("the run ended: {ended:?}"),
    }
    outside.is_stuck.store(false, Ordering::Relaxed);
}

async fn die(builder: RuntimeBuilder, name: &str, outside: &Outside) {
    die_after(1, builder, ("order", json!({ "calls": [name], "what": "a" })), outside).await;
}

fn of_kind(records: &[Record], kind: StepKind) -> Vec<&Record> {
    records.iter().filter(|record| record.kind == kind).collect()
}

#[tokio::test]
async fn a_call_whose_process_died_in_it_is_asked_about_again_each_time() {
    for name in ["charge", "clerk"] {
        let (mut journal, outside) = (MemoryJournal::new(), Outside::default());
        die(approving(journal.clone(), &outside), name, &outside).await;
        assert_eq!(outside.take(), ["asked about charge of a", "did a"]);
        for _ in 0..3 {
            journal = journal.replayed();
            die(approving(journal.clone(), &outside), name, &outside).await;
            assert_eq!(outside.take(), ["asked again about charge of a", "did a"], "{name}");
        }
        let request = outside.last_asked();
        let began = request.began.unwrap();
        let text = format!("began at {began}, and may have had its effect");
        assert!(request.summary().ends_with(&format!("({text})")), "{}", request.summary());
        assert!(request.details().contains(&format!("this call {text}")), "{}", request.details());
        run(approving(journal.replayed(), &outside), name).await.unwrap();
        assert_eq!(outside.take(), ["asked again about charge of a", "did a"]);
    }
}

#[tokio::test]
async fn in_each_journal_the_record_that_a_call_begins_precedes_its_tool() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), Outside::default());
    let mut log = Vec::new();
    let (path, database) = (folder.path().join("run.jsonl"), folder.path().join("runs.db"));
    for round in 0..3 {
        die(approving(FileJournal::open(&path).unwrap(), &outside), "charge", &outside).await;
        log.extend(outside.take());
        let records: Vec<_> = FileJournal::read(&path).unwrap().map(Result::unwrap).collect();
        assert_eq!(of_kind(&records, StepKind::Begun).len(), round + 1, "{records:?}");
        assert_eq!(of_kind(&records, StepKind::Approval).len(), round + 1);
        let begun = &of_kind(&records, StepKind::Begun)[round].value;
        let approval = &of_kind(&records, StepKind::Approval)[round].key;
        assert_eq!(begun["approval"], **approval, "it names the answer that it used up");
    }
    for round in 0..3 {
        let runs = SqliteJournal::open(&database).unwrap();
        die(approving(runs.run("1").await.unwrap(), &outside), "charge", &outside).await;
        log.extend(outside.take());
        let records = runs.records("1").await.unwrap();
        assert_eq!(of_kind(&records, StepKind::Begun).len(), round + 1, "{records:?}");
    }
    let asked = log.iter().filter(|line| line.starts_with("asked")).count();
    assert_eq!((asked, log.len()), (6, 12), "one answer for each effect: {log:?}");
}

#[tokio::test]
async fn a_call_that_failed_is_asked_about_again_when_the_run_is_resumed() {
    for name in ["charge", "fulfil"] {
        let (mut journal, outside) = (MemoryJournal::new(), Outside::default());
        outside.fails.store(true, Ordering::Relaxed);
        run(approving(journal.clone(), &outside), name).await.unwrap_err();
        let first = outside.take();
        for _ in 0..4 {
            journal = journal.replayed();
            run(approving(journal.clone(), &outside), name).await.unwrap_err();
            let log = outside.take();
            let again: Vec<_> = first.iter().map(|line| line.replace("asked about", "asked again about")).collect();
            assert_eq!(log, again, "{name}");
        }
    }
}

#[tokio::test]
async fn an_unattended_resume_reports_a_call_that_may_have_had_its_effect() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die(approving(journal.clone(), &outside), "charge", &outside).await;
    outside.take();
    let error = run(process(journal.replayed(), &outside), "charge").await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error:?}");
    assert!(chain(&error).contains("the outcome of `charge` is unknown"), "{error:?}");
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn no_rule_and_no_remembered_approval_approves_a_call_that_began() {
    let pre_approved = || Policy::new().tool("charge", Rule::PreApproved);
    for scope in [ApprovalScope::Caller, ApprovalScope::Run, ApprovalScope::Session] {
        let (journal, outside) = (MemoryJournal::new(), Outside::default());
        let widened = |journal: MemoryJournal| {
            process(journal, &outside).approver(Asked(Decision::approve_for(scope), outside.clone()))
        };
        let twice = || json!({ "calls": ["charge", "charge"], "what": "a" });
        die_after(1, widened(journal.clone()), ("order", twice()), &outside).await;
        assert_eq!(outside.take(), ["asked about charge of a", "did a"]);
        let ruled = process(journal.replayed(), &outside).policy(pre_approved()).build().unwrap();
        let error = ruled.run_named("order", twice()).await.unwrap_err();
        assert!(chain(&error).contains("began at "), "{error:?}");
        widened(journal.replayed()).build().unwrap().run_named("order", twice()).await.unwrap();
        let expected = ["asked again about charge of a", "did a", "did a"];
        assert_eq!(outside.take(), expected, "the equal call that has not begun is approved: {scope:?}");
    }
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die(process(journal.clone(), &outside), "ship", &outside).await;
    assert_eq!(outside.take(), ["did a"]);
    run(approving(journal.replayed(), &outside), "ship").await.unwrap();
    assert_eq!(outside.take(), ["asked again about ship of a", "did a"]);
}

#[tokio::test]
async fn what_is_stricter_now_holds_for_an_approval_that_is_not_used_up() {
    let outside = Outside::default();
    let approved = async || {
        let journal = MemoryJournal::new();
        die(approving(journal.clone(), &outside), "charge", &outside).await;
        outside.take();
        // The process died before the call began.
        let records = journal.records().into_iter().filter(|record| record.kind != StepKind::Begun);
        process(MemoryJournal::from_records(records), &outside)
    };
    let asks = Policy::new().tool("charge", Rule::Ask);
    run(approved().await.policy(asks), "charge").await.unwrap();
    assert_eq!(outside.take(), ["did a"], "the answer of a person to this call holds");
    run(approved().await.approval_mode(ApprovalMode::ApproveAll), "charge").await.unwrap();
    assert_eq!(outside.take(), ["did a"]);

    let error = run(approved().await.approval_mode(ApprovalMode::RejectAll), "charge").await.unwrap_err();
    assert!(error.is_denied() && chain(&error).contains("mode rejects"), "{error:?}");
    let blocked = Policy::new().tool("charge", Rule::blocked("not any more"));
    assert!(run(approved().await.policy(blocked), "charge").await.unwrap_err().is_blocked());
    assert!(outside.take().is_empty());
}

#[tokio::test]
async fn no_mode_knows_what_happened_to_a_call_that_began() {
    for mode in [ApprovalMode::Prompt, ApprovalMode::ApproveAll, ApprovalMode::RejectAll] {
        for name in ["charge", "ship"] {
            let (journal, outside) = (MemoryJournal::new(), Outside::default());
            die(approving(journal.clone(), &outside), name, &outside).await;
            outside.take();
            let error = run(process(journal.replayed(), &outside).approval_mode(mode), name).await.unwrap_err();
            assert!(error.is_outcome_unknown() && outside.take().is_empty(), "{name} in {mode:?}: {error:?}");
            let asked = run(approving(journal.replayed(), &outside).approval_mode(mode), name).await;
            let log = outside.take();
            let is_asked = mode != ApprovalMode::RejectAll;
            assert_eq!(
                (asked.is_ok(), log.len()),
                (is_asked, 2 * usize::from(is_asked)),
                "{name} in {mode:?}: {log:?}"
            );
        }
    }
}

#[tokio::test]
async fn calls_that_may_be_repeated_record_no_begin_and_run_again_unasked() {
    for (name, first) in [("set", vec!["asked about set of a", "did a"]), ("peek", vec!["did a"])] {
        let (journal, outside) = (MemoryJournal::new(), Outside::default());
        die(approving(journal.clone(), &outside), name, &outside).await;
        assert_eq!(outside.take(), first);
        assert!(of_kind(&journal.records(), StepKind::Begun).is_empty());
        run(approving(journal.replayed(), &outside), name).await.unwrap();
        assert_eq!(outside.take(), ["did a"], "{name}");
    }
}

#[tokio::test]
async fn the_next_answer_is_about_the_edited_arguments_with_which_the_call_began() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    let editing = |journal: MemoryJournal, what: &str| {
        let decision = Decision::approve_with(json!({ "what": what }));
        process(journal, &outside).approver(Asked(decision, outside.clone()))
    };
    die(editing(journal.clone(), "b"), "charge", &outside).await;
    assert_eq!(outside.take(), ["asked about charge of a", "did b"]);
    die(editing(journal.replayed(), "c"), "charge", &outside).await;
    assert_eq!(outside.take(), ["asked again about charge of b", "did c"]);
}

#[tokio::test]
async fn an_answer_to_the_second_question_holds_until_the_call_begins_again() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die(approving(journal.clone(), &outside), "charge", &outside).await;
    let second = journal.replayed();
    die(approving(second.clone(), &outside), "charge", &outside).await;
    outside.take();
    // Without the second begin, which is the last record.
    let records = second.records();
    let cut = MemoryJournal::from_records(records.into_iter().rev().skip(1).rev());
    run(process(cut, &outside), "charge").await.unwrap();
    assert_eq!(outside.take(), ["did a"], "no second question, and no approver");

    let denying = process(journal.replayed(), &outside).approver(Asked(Decision::deny("no"), outside.clone()));
    assert!(run(denying, "charge").await.unwrap_err().is_denied());
    assert_eq!(outside.take(), ["asked again about charge of a"]);
}

#[tokio::test]
async fn a_call_with_steps_is_not_asked_about_again_but_what_it_called_is() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die(approving(journal.clone(), &outside), "fulfil", &outside).await;
    assert_eq!(outside.take(), ["asked about fulfil of a", "asked about charge of a", "did a"]);
    run(approving(journal.replayed(), &outside), "fulfil").await.unwrap();
    assert_eq!(outside.take(), ["asked again about charge of a", "did a"]);
}

#[tokio::test]
async fn a_tool_with_a_context_that_made_no_step_is_asked_about_again() {
    for (name, what, is_asked) in [("post_letter", "a", true), ("remit", "a", true), ("post_letter", "dated", false)] {
        let (journal, outside) = (MemoryJournal::new(), Outside::default());
        die_after(1, approving(journal.clone(), &outside), (name, json!({ "what": what })), &outside).await;
        outside.take();
        let resumed = approving(journal.replayed(), &outside).build().unwrap();
        resumed.run_named(name, json!({ "what": what })).await.unwrap();
        let asked = is_asked.then(|| format!("asked again about {name} of {what}"));
        assert_eq!(outside.take(), asked.into_iter().chain([format!("did {what}")]).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_name_that_is_pre_approved_does_not_repeat_a_tool_with_a_context_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let file = "type: function\nname: send_letter\nfunction: post_letter\ndescription: Send.\napproval: pre_approved\n";
    std::fs::write(folder.path().join("send_letter.tool"), file).unwrap();
    let project = || Project::open(folder.path()).unwrap();
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    let first = approving(journal.clone(), &outside).project(project());
    die_after(1, first, ("send_letter", json!({ "what": "a" })), &outside).await;
    outside.take();
    let resumed = approving(journal.replayed(), &outside).project(project()).build().unwrap();
    resumed.run_named("send_letter", json!({ "what": "a" })).await.unwrap();
    assert_eq!(outside.take(), ["asked again about send_letter of a", "did a"]);
}

#[tokio::test]
async fn a_tool_with_a_context_that_failed_is_asked_about_again_also_after_a_step() {
    for what in ["a", "dated"] {
        let (mut journal, outside) = (MemoryJournal::new(), Outside::default());
        outside.fails.store(true, Ordering::Relaxed);
        let post = async |journal: &MemoryJournal| {
            approving(journal.clone(), &outside)
                .build()
                .unwrap()
                .run_named("post_letter", json!({ "what": what }))
                .await
        };
        post(&journal).await.unwrap_err();
        outside.take();
        for _ in 0..3 {
            journal = journal.replayed();
            post(&journal).await.unwrap_err();
            assert_eq!(outside.take(), [format!("asked again about post_letter of {what}"), format!("did {what}")]);
        }
    }
}

#[tokio::test]
async fn concurrent_equal_calls_that_began_have_an_answer_each() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die_after(2, approving(journal.clone(), &outside), ("charge_twice", json!({})), &outside).await;
    outside.take();
    approving(journal.replayed(), &outside).build().unwrap().run(charge_twice {}).await.unwrap();
    let log = outside.take();
    let asked = log.iter().filter(|line| line.starts_with("asked again")).count();
    let did = log.iter().filter(|line| line.starts_with("did")).count();
    assert_eq!((asked, did), (2, 2), "{log:?}");
}

#[tokio::test]
async fn a_call_that_lost_a_race_is_not_asked_about_in_a_replay() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    // The race is over once the process is stuck in what follows.
    die_after(2, approving(journal.clone(), &outside), ("race", json!({})), &outside).await;
    outside.take();
    for _ in 0..5 {
        let ended = process(journal.replayed(), &outside).build().unwrap().run(race {}).await;
        assert_eq!(ended.unwrap(), "waited");
        assert_eq!(outside.take(), ["did waited"]);
    }
}

#[tokio::test]
async fn a_tool_as_a_value_and_a_root_tool_are_asked_about_again_too() {
    let pay = |outside: &Outside| {
        let outside = outside.clone();
        let schema = json!({ "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] });
        FunctionTool::new("wire", "Pay.", schema, Effect::Destructive, move |_, arguments: Value| {
            let outside = outside.clone();
            async move { outside.act(arguments["what"].as_str().unwrap().to_owned()).await }
        })
    };
    for name in ["wire", "charge"] {
        let (journal, outside) = (MemoryJournal::new(), Outside::default());
        let first = approving(journal.clone(), &outside).tool(pay(&outside));
        die_after(1, first, (name, json!({ "what": "a" })), &outside).await;
        assert_eq!(outside.take(), ["did a"], "the user's own call needs no approval");
        let resumed = approving(journal.replayed(), &outside).tool(pay(&outside)).build().unwrap();
        resumed.run_named(name, json!({ "what": "a" })).await.unwrap();
        assert_eq!(outside.take(), [format!("asked again about {name} of a"), "did a".to_owned()]);
    }
}

/// A journal with the required methods only.
#[derive(Debug)]
struct Minimal(MemoryJournal);

#[async_trait]
impl Journal for Minimal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.0.step(step, local).await
    }

    fn is_replaying(&self) -> bool {
        self.0.is_replaying()
    }
}

#[tokio::test]
async fn a_journal_that_does_not_know_what_is_recorded_does_not_repeat_an_effect() {
    let (journal, outside) = (MemoryJournal::new(), Outside::default());
    die(approving(Minimal(journal.clone()), &outside), "charge", &outside).await;
    outside.take();
    let error = run(approving(Minimal(journal.replayed()), &outside), "charge").await.unwrap_err();
    assert!(chain(&error).contains("implement `is_recorded`"), "{error:?}");
    assert!(!outside.take().contains(&"did a".to_owned()));
}
