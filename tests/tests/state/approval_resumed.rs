//! Approvals of resumed runs: decisions of a person are kept, decisions of a mode or a rule are made again.

use std::sync::{Arc, Mutex};

use llm_do::approval::{
    ApprovalMode, ApprovalRequest, ApprovalScope, Approver, DecidedBy, Decision, Policy, Rule, RuleSource,
};
use llm_do::async_trait;
use llm_do::event::EventKind;
use llm_do::journal::{Journal, JournalError, JournalOutcome, MemoryJournal, Record, StepFuture, StepKind, StepSpec};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The effects outside of the plane. Clones share them.
#[derive(Clone, Debug, Default)]
struct World {
    log: Arc<Mutex<Vec<String>>>,
    /// The text whose write never returns.
    stuck: Arc<Mutex<Option<String>>>,
    reached: Arc<Notify>,
}

impl World {
    fn add(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

/// Post a text.
#[tool(effect = destructive)]
async fn post(text: String, world: State<World>) -> usize {
    let is_stuck = world.stuck.lock().unwrap().as_ref() == Some(&text);
    if is_stuck {
        world.reached.notify_one();
        std::future::pending::<()>().await;
    }
    world.add(format!("wrote {text}"));
    text.len()
}

/// Posts texts sequentially.
#[entry(toolsets = [post])]
async fn post_all(ctx: &CallContext<post_all>, texts: Vec<String>) -> Result<usize> {
    let mut sum = 0;
    for text in texts {
        sum += ctx.call(post { text }).await?;
    }
    Ok(sum)
}

/// Do what is asked.
#[worker(toolsets = [post])]
async fn secretary(input: String) -> String;

/// An approver that always returns this decision, and logs the requests.
#[derive(Debug)]
struct Always(Decision, World);

#[async_trait]
impl Approver for Always {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        self.1.add(format!("asked about {}", request.arguments["text"].as_str().unwrap()));
        self.0.clone()
    }
}

fn process(journal: &MemoryJournal, world: &World) -> RuntimeBuilder {
    crate::own_builder().journal(journal.clone()).state(world.clone())
}

fn answering(journal: &MemoryJournal, world: &World, decision: Decision) -> RuntimeBuilder {
    process(journal, world).approver(Always(decision, world.clone()))
}

fn all() -> post_all {
    post_all { texts: vec!["a".into(), "b".into()] }
}

async fn run(builder: RuntimeBuilder) -> Result<usize, CallError> {
    builder.build().unwrap().run(all()).await
}

/// Runs until a post of `text` has begun, and drops the run there.
async fn drop_run_at(text: &str, builder: RuntimeBuilder, world: &World) {
    *world.stuck.lock().unwrap() = Some(text.to_owned());
    let runtime = builder.build().unwrap();
    tokio::select! {
        biased;
        () = world.reached.notified() => {}
        ended = runtime.run(all()) => panic!("the run ended: {ended:?}"),
    }
    *world.stuck.lock().unwrap() = None;
    world.take();
}

/// Returns the journal as it is if the process died before the last call began: its approval is not used up.
fn before_begin(journal: &MemoryJournal) -> MemoryJournal {
    let mut records = journal.records();
    let last = records.iter().rposition(|record| record.kind == StepKind::Begun).unwrap();
    records.remove(last);
    MemoryJournal::from_records(records)
}

/// Returns the journal with `change` applied to each recorded answer of an approval.
fn with_answers(journal: &MemoryJournal, change: impl Fn(&mut Value)) -> MemoryJournal {
    let changed = journal.records().into_iter().map(|mut record: Record| {
        if record.kind == StepKind::Approval {
            change(&mut record.value);
        }
        record
    });
    MemoryJournal::from_records(changed)
}

fn answers(journal: &MemoryJournal) -> Vec<Value> {
    let records = journal.records().into_iter();
    records.filter(|record| record.kind == StepKind::Approval).map(|record| record.value).collect()
}

fn decisions(recorder: &Recorder) -> Vec<(bool, DecidedBy, RuleSource)> {
    let decided = |kind| match kind {
        EventKind::ApprovalDecided { approved, by, rule, .. } if rule != RuleSource::User => Some((approved, by, rule)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(decided).collect()
}

const MODES: [ApprovalMode; 3] = [ApprovalMode::Prompt, ApprovalMode::ApproveAll, ApprovalMode::RejectAll];

#[tokio::test]
async fn a_call_that_a_mode_approved_is_reported_after_a_resume_under_reject_all() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop_run_at("b", process(&journal, &world).approval_mode(ApprovalMode::ApproveAll), &world).await;
    assert_eq!(answers(&journal), Vec::<Value>::new(), "the mode's answers are not recorded");

    let rejecting = process(&journal.replayed(), &world).approval_mode(ApprovalMode::RejectAll);
    let error = run(rejecting).await.unwrap_err();
    assert!(error.is_outcome_unknown() && llm_do::error::chain(&error).contains("post"), "{error:?}");
    assert!(world.take().is_empty(), "`a` is replayed, `b` does not run");
}

#[tokio::test]
async fn a_recorded_approval_of_one_project_does_not_hold_in_another() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (resumed_in, expected) in [(0, &["wrote b"][..]), (1, &["asked about b", "wrote b"])] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        let approving = |journal: &MemoryJournal, folder: usize| {
            answering(journal, &world, Decision::approve()).project_root(folders[folder].path())
        };
        drop_run_at("b", approving(&journal, 0), &world).await;
        run(approving(&before_begin(&journal).replayed(), resumed_in)).await.unwrap();
        assert_eq!(world.take(), expected, "resumed in project {resumed_in}");
    }
}

#[tokio::test]
async fn an_approval_for_the_run_does_not_hold_when_the_run_is_resumed_in_another_project() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for (resumed_in, expected) in [(0, &["wrote a"][..]), (1, &["asked about a", "wrote a"])] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        let approving = |journal: &MemoryJournal, folder: usize| {
            let decision = Decision::approve_for(ApprovalScope::Run);
            answering(journal, &world, decision).project_root(folders[folder].path())
        };
        let texts = || post_all { texts: vec!["a".into(), "b".into(), "a".into()] };
        *world.stuck.lock().unwrap() = Some("b".to_owned());
        let runtime = approving(&journal, 0).build().unwrap();
        tokio::select! {
            biased;
            () = world.reached.notified() => {}
            ended = runtime.run(texts()) => panic!("the run ended: {ended:?}"),
        }
        *world.stuck.lock().unwrap() = None;
        drop(runtime);
        let resumed = approving(&journal.replayed(), resumed_in).build().unwrap();
        world.take();
        resumed.run(texts()).await.unwrap();
        // `b` may have been written, so it is asked about in any case.
        assert_eq!(world.take(), [&["asked about b", "wrote b"], expected].concat(), "resumed in project {resumed_in}");
    }
}

#[tokio::test]
async fn a_resumed_run_uses_the_current_mode_for_calls_without_a_recorded_answer() {
    for before in MODES {
        for after in MODES {
            let (journal, world) = (MemoryJournal::new(), World::default());
            let first = answering(&journal, &world, Decision::approve()).approval_mode(before);
            if before == ApprovalMode::RejectAll {
                assert!(run(first).await.unwrap_err().is_denied());
            } else {
                drop_run_at("b", first, &world).await;
            }
            let journal = if before == ApprovalMode::RejectAll { journal } else { before_begin(&journal) };
            let resumed = answering(&journal.replayed(), &world, Decision::approve()).approval_mode(after);
            let result = run(resumed).await;
            let expected: &[&str] = match (before, after) {
                (ApprovalMode::ApproveAll, ApprovalMode::Prompt) => &["asked about b", "wrote b"],
                (_, ApprovalMode::RejectAll) => &[],
                // Under `Prompt`, the answer of the person about `b` was recorded, and it is kept.
                (ApprovalMode::Prompt, _) | (ApprovalMode::ApproveAll, ApprovalMode::ApproveAll) => &["wrote b"],
                (_, ApprovalMode::Prompt) => &["asked about a", "wrote a", "asked about b", "wrote b"],
                _ => &["wrote a", "wrote b"],
            };
            assert_eq!(world.take(), expected, "{before:?}, then {after:?}");
            assert_eq!(result.is_ok(), !expected.is_empty(), "{before:?}, then {after:?}: {result:?}");
        }
    }
}

/// Returns the journal as it is if the process died before the result of the run was recorded.
fn unfinished(journal: &MemoryJournal) -> MemoryJournal {
    MemoryJournal::from_records(journal.records().into_iter().filter(|record| record.kind != StepKind::Result))
}

#[tokio::test]
async fn a_recorded_effect_is_replayed_under_each_mode_and_rule() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    let pre_approved = Policy::new().tool("post", Rule::PreApproved);
    let first = run(process(&journal, &world).policy(pre_approved)).await.unwrap();
    world.take();
    let deny = || answering(&unfinished(&journal), &world, Decision::deny("no"));
    for resumed in [
        deny(),
        deny().policy(Policy::new().tool("post", Rule::Ask)),
        deny().policy(Policy::new().tool("post", Rule::blocked("not any more"))),
        deny().policy(Policy::new().decide_with(|_| panic!("no rule is applied to recorded effects"))),
        deny().approval_mode(ApprovalMode::RejectAll),
        process(&unfinished(&journal), &world),
    ] {
        let recorder = Recorder::new();
        assert_eq!(run(resumed.sink(recorder.clone())).await.unwrap(), first);
        assert!(world.take().is_empty());
        assert_eq!(decisions(&recorder), vec![(true, DecidedBy::Policy, RuleSource::Journal); 2]);
    }
}

#[tokio::test]
async fn the_recorded_decision_of_a_person_is_reported_in_a_replay() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    run(answering(&journal, &world, Decision::approve_with(json!({ "text": "edited" })))).await.unwrap();
    assert_eq!(world.take(), ["asked about a", "wrote edited", "asked about b", "wrote edited"]);

    let recorder = Recorder::new();
    let blocked = Policy::new().tool("post", Rule::blocked("not any more"));
    let resumed = answering(&unfinished(&journal), &world, Decision::deny("no")).policy(blocked).sink(recorder.clone());
    assert_eq!(run(resumed).await.unwrap(), 12);
    assert!(world.take().is_empty());
    assert_eq!(decisions(&recorder), vec![(true, DecidedBy::Approver, RuleSource::Journal); 2]);
    let edited = recorder.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::ApprovalDecided { edited, replayed: true, .. } => edited,
        _ => None,
    });
    assert_eq!(edited.collect::<Vec<_>>(), vec![json!({ "text": "edited" }); 2]);
}

#[tokio::test]
async fn only_decisions_of_the_approver_are_recorded() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    let texts = || post_all { texts: vec!["a".into(), "a".into(), "b".into()] };
    let runtime = answering(&journal, &world, Decision::approve_for_session()).build().unwrap();
    runtime.run(texts()).await.unwrap();
    assert_eq!(world.take(), ["asked about a", "wrote a", "wrote a", "asked about b", "wrote b"]);
    let decided_by: Vec<_> = answers(&journal).into_iter().map(|answer| answer["by"].clone()).collect();
    assert_eq!(decided_by, ["approver", "approver"], "remembered approvals are not recorded separately");

    // A recorded approval for the session is remembered after a resume, even if its effect is only replayed.
    let resumed = MemoryJournal::from_records(journal.records().into_iter().take(4));
    let runtime = answering(&resumed, &world, Decision::deny("no")).build().unwrap();
    assert!(runtime.run(texts()).await.unwrap_err().is_denied());
    assert_eq!(world.take(), ["wrote a", "asked about b"]);
}

#[tokio::test]
async fn recorded_edited_arguments_are_checked_against_the_current_rules() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop_run_at("edited", answering(&journal, &world, Decision::approve_with(json!({ "text": "edited" }))), &world)
        .await;
    let journal = before_begin(&journal);
    let resumed = || answering(&journal.replayed(), &world, Decision::deny("no"));

    let blocking = Policy::new()
        .decide_with(|call| (call.arguments["text"] == "edited").then(|| Rule::blocked("edits are blocked now")));
    let recorder = Recorder::new();
    let error = run(resumed().policy(blocking).sink(recorder.clone())).await.unwrap_err();
    assert!(error.is_blocked() && llm_do::error::chain(&error).contains("edits are blocked now"), "{error:?}");
    let refused = EventKind::EditRefused {
        arguments: json!({ "text": "edited" }),
        rule: Some(RuleSource::Function),
        reason: "edits are blocked now".into(),
    };
    assert!(recorder.kinds().contains(&refused), "{:?}", recorder.kinds());
    assert!(world.take().is_empty());

    let error = run(resumed()).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    assert_eq!(world.take(), ["wrote edited", "asked about b"], "there is no second question about `a`");

    let invalid = with_answers(&journal, |answer| answer["verdict"]["approved"] = json!({ "text": 7 }));
    let error = run(answering(&invalid, &world, Decision::approve())).await.unwrap_err();
    assert!(matches!(llm_do::error::chain(&error), text if text.contains("invalid arguments for `post`")), "{error:?}");
    assert!(world.take().is_empty());
}

/// Returns what a journal has of a decision, but not for what it was given.
async fn recorded(decision: Decision) -> Value {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop(run(answering(&journal, &world, decision)).await);
    let records = journal.records();
    let mut answer = records.iter().find(|record| record.kind == StepKind::Approval).unwrap().value.clone();
    answer.as_object_mut().unwrap().remove("environment");
    answer
}

#[tokio::test]
async fn a_recorded_answer_has_the_form_that_older_processes_read() {
    let answer = |verdict: Value, scope: &str| json!({ "verdict": verdict, "by": "approver", "scope": scope });
    let edited = json!({ "text": "edited" });
    assert_eq!(recorded(Decision::approve()).await, answer(json!({ "approved": null }), "call"));
    assert_eq!(recorded(Decision::approve_for_session()).await, answer(json!({ "approved": null }), "session"));
    assert_eq!(recorded(Decision::approve_with(edited.clone())).await, answer(json!({ "approved": edited }), "call"));
    assert_eq!(recorded(Decision::deny("no")).await, answer(json!({ "denied": "no" }), "call"));
    let mut stopped = answer(json!({ "denied": "enough" }), "call");
    stopped["stops"] = true.into();
    assert_eq!(recorded(Decision::deny_and_stop("enough")).await, stopped);
}

#[tokio::test]
async fn a_recorded_answer_outlives_the_rule_that_asked_but_a_block_takes_precedence() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop_run_at("a", answering(&journal, &world, Decision::approve()), &world).await;
    let journal = before_begin(&journal);
    let blocked = Policy::new().tool("post", Rule::blocked("not any more"));
    let error = run(answering(&journal.replayed(), &world, Decision::approve()).policy(blocked)).await.unwrap_err();
    assert!(error.is_blocked(), "{error:?}");

    let (journal, pre_approved) = (MemoryJournal::new(), Policy::new().tool("post", Rule::PreApproved));
    assert!(run(answering(&journal, &world, Decision::deny("never"))).await.unwrap_err().is_denied());
    world.take();
    let error =
        run(answering(&journal.replayed(), &world, Decision::approve()).policy(pre_approved)).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("never"), "{error:?}");
    assert!(world.take().is_empty());
}

#[tokio::test]
async fn an_approval_by_a_mode_in_an_older_journal_is_ignored() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop_run_at("b", answering(&journal, &world, Decision::approve()), &world).await;
    let journal = before_begin(&journal);
    let older = || with_answers(&journal, |answer| answer["by"] = json!("mode"));

    let error = run(process(&older(), &world).approval_mode(ApprovalMode::RejectAll)).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    assert!(world.take().is_empty());
    assert_eq!(run(answering(&older(), &world, Decision::approve())).await.unwrap(), 2);
    assert_eq!(world.take(), ["asked about b", "wrote b"]);
    assert_eq!(run(process(&older(), &world).approval_mode(ApprovalMode::ApproveAll)).await.unwrap(), 2);
    world.take();

    // The same for a journal without `is_recorded` and `recorded`.
    let minimal = |journal: MemoryJournal| crate::own_builder().journal(MinimalJournal(journal)).state(world.clone());
    let error = run(minimal(older()).approval_mode(ApprovalMode::RejectAll)).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    assert!(world.take().is_empty());
}

/// A journal with the required methods only.
#[derive(Debug)]
struct MinimalJournal(MemoryJournal);

#[async_trait]
impl Journal for MinimalJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.0.step(step, local).await
    }

    fn is_replaying(&self) -> bool {
        self.0.is_replaying()
    }
}

#[tokio::test]
async fn a_journal_with_the_required_methods_only_keeps_answers_and_checks_edits_against_the_rules() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    drop_run_at("edited", answering(&journal, &world, Decision::approve_with(json!({ "text": "edited" }))), &world)
        .await;
    let journal = before_begin(&journal);
    let minimal = || crate::own_builder().journal(MinimalJournal(journal.replayed())).state(world.clone());

    let answered = minimal().approver(Always(Decision::deny("no"), world.clone()));
    assert!(run(answered).await.unwrap_err().is_denied());
    assert_eq!(world.take(), ["wrote edited", "asked about b"]);

    let blocking = Policy::new()
        .decide_with(|call| (call.arguments["text"] == "edited").then(|| Rule::blocked("edits are blocked")));
    let error =
        run(minimal().approver(Always(Decision::deny("no"), world.clone())).policy(blocking)).await.unwrap_err();
    assert!(error.is_blocked(), "{error:?}");
    assert!(world.take().is_empty());
}

/// A model that posts `a`, and then returns the result of that call as text.
fn model(is_expected: bool) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        assert!(is_expected, "a model was called in a replay");
        let result = request.messages.iter().find_map(|message| match message {
            Message::Tool { results } => Some(results[0].content.clone()),
            _ => None,
        });
        let part = match result {
            Some(text) => ResponsePart::Text { text },
            None => ResponsePart::ToolCall(ToolCall::new("1", "post", json!({ "text": "a" }).to_string())),
        };
        Ok(Response::new("m", vec![part], Usage::of_request(1, 1)))
    })
}

#[tokio::test]
async fn a_denial_that_was_sent_to_a_model_is_kept() {
    let world = World::default();
    let rejecting = |builder: RuntimeBuilder| builder.approval_mode(ApprovalMode::RejectAll);
    let blocking = |builder: RuntimeBuilder| builder.policy(Policy::new().tool("post", Rule::blocked("never")));
    let denying: [&dyn Fn(RuntimeBuilder) -> RuntimeBuilder; 2] = [&rejecting, &blocking];
    for deny in denying {
        let journal = MemoryJournal::new();
        let run = async |builder: RuntimeBuilder, is_expected| {
            let runtime = builder.force_model(model(is_expected)).build().unwrap();
            runtime.run(secretary { input: "Go.".into() }).await
        };
        let first = run(deny(process(&journal, &world)), true).await.unwrap();
        assert!(first.contains("permission"), "{first}");
        // Without the result of the run, so that its turns are replayed.
        let records = journal.records().into_iter().filter(|record| record.kind != StepKind::Result);
        let rest = MemoryJournal::from_records(records);
        let approving = process(&rest, &world).approval_mode(ApprovalMode::ApproveAll);
        assert_eq!(run(approving.policy(Policy::new().tool("post", Rule::PreApproved)), false).await.unwrap(), first);
        assert!(world.take().is_empty());
    }
}

#[tokio::test]
async fn a_denial_that_stops_is_replayed_and_ends_the_run_again() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    let run = async |journal: &MemoryJournal, decision: Decision| {
        let builder = answering(journal, &world, decision).force_model(model(true));
        builder.build().unwrap().run(secretary { input: "Go.".into() }).await
    };
    let first = run(&journal, Decision::deny_and_stop("enough")).await.unwrap_err();
    assert!(first.is_stopped(), "{first:?}");
    assert_eq!(world.take(), ["asked about a"]);
    let again = run(&journal.replayed(), Decision::approve()).await.unwrap_err();
    assert_eq!(llm_do::error::chain(&again), llm_do::error::chain(&first));
    assert!(again.is_stopped() && world.take().is_empty(), "{again:?}");
}

#[tokio::test]
async fn a_call_of_a_model_without_a_decision_is_asked_about_when_the_run_is_resumed() {
    let undecided = Decision::undecided("the terminal was closed");
    for decision in [None, Some(undecided)] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        let run = async |builder: RuntimeBuilder| {
            builder.force_model(model(true)).build().unwrap().run(secretary { input: "Go.".into() }).await
        };
        let first = match decision {
            Some(decision) => answering(&journal, &world, decision),
            None => process(&journal, &world),
        };
        assert!(run(first).await.unwrap_err().is_stopped());
        assert_eq!(answers(&journal), Vec::<Value>::new());
        world.take();
        assert_eq!(run(answering(&journal.replayed(), &world, Decision::approve())).await.unwrap(), "1");
        assert_eq!(world.take(), ["asked about a", "wrote a"]);
    }
}

#[tokio::test]
async fn a_run_that_ended_with_a_denial_goes_on_with_its_reason_under_the_other_setting() {
    let (journal, world) = (MemoryJournal::new(), World::default());
    let run = async |journal: &MemoryJournal, decision: Decision, ends: bool| {
        let builder = answering(journal, &world, decision).end_on_denial(ends).force_model(model(true));
        builder.build().unwrap().run(secretary { input: "Go.".into() }).await
    };
    assert!(run(&journal, Decision::deny("not today"), true).await.unwrap_err().is_denied());
    assert_eq!(world.take(), ["asked about a"]);
    let told = run(&journal.replayed(), Decision::approve(), false).await.unwrap();
    let error = "call to `post` denied: not today";
    let expected = json!({ "error": error, "tool_name": "post", "error_type": "permission" });
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), expected);
    assert!(world.take().is_empty(), "the decision of the person is kept");
}

/// Post a text in a nested call.
#[tool(effect = read_only)]
async fn post_below(ctx: &CallContext, text: String) -> Result<usize> {
    Ok(ctx.call(post { text }).await?)
}

/// Posts a text twice: in a nested call, and then directly.
#[entry(toolsets = [post, post_below])]
async fn write_again(ctx: &CallContext<write_again>) -> Result<usize> {
    let below = ctx.call(post_below { text: "a".into() }).await?;
    Ok(below + ctx.call(post { text: "a".into() }).await?)
}

#[tokio::test]
async fn an_approval_inside_a_replayed_call_is_remembered() {
    for scope in [ApprovalScope::Session, ApprovalScope::Run] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        let run = async |journal: &MemoryJournal| {
            let approving = answering(journal, &world, Decision::approve_for(scope));
            approving.build().unwrap().run(write_again {}).await.unwrap()
        };
        assert_eq!(run(&journal).await, 2);
        assert_eq!(world.take(), ["asked about a", "wrote a", "wrote a"]);
        let records = journal.records();
        let below = records.iter().position(|record| record.kind == StepKind::Call).unwrap();
        let cut = MemoryJournal::from_records(records.into_iter().take(below + 1));
        assert_eq!(run(&cut).await, 2);
        assert_eq!(world.take(), ["wrote a"], "the approval inside the replayed call covers it: {scope:?}");
    }
}

/// Remark on a text.
#[tool(effect = read_only)]
async fn remark(text: String, world: State<World>) -> usize {
    world.add(format!("noted {text}"));
    text.len()
}

/// Posts a text, directly or in a nested call, and remarks whether this succeeded.
#[entry(toolsets = [post, post_below, remark])]
async fn write_and_note(ctx: &CallContext<write_and_note>, below: bool) -> Result<bool> {
    let text = || "a".to_owned();
    let written =
        if below { ctx.call(post_below { text: text() }).await } else { ctx.call(post { text: text() }).await };
    ctx.call(remark { text: format!("written: {}", written.is_ok()) }).await?;
    Ok(written.is_ok())
}

#[tokio::test]
async fn a_denial_by_a_mode_or_a_rule_that_code_handled_is_kept() {
    let blocked = || Policy::new().tool("post", Rule::blocked("never"));
    for (below, is_blocked) in [(false, false), (true, false), (false, true), (true, true)] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        let first = process(&journal, &world);
        let first = if is_blocked { first.policy(blocked()) } else { first.approval_mode(ApprovalMode::RejectAll) };
        assert!(!first.build().unwrap().run(write_and_note { below }).await.unwrap());
        assert_eq!(world.take(), ["noted written: false"]);
        let resumed = process(&unfinished(&journal), &world).approval_mode(ApprovalMode::ApproveAll);
        let is_written = resumed.build().unwrap().run(write_and_note { below }).await.unwrap();
        assert!(!is_written && world.take().is_empty(), "below {below}, blocked {is_blocked}");
    }
}

/// Post texts in one call.
#[tool(effect = destructive, toolsets = [post])]
async fn publish(ctx: &CallContext<publish>, texts: Vec<String>) -> Result<usize> {
    let texts: Vec<_> = texts.into_iter().map(|text| post { text }).collect();
    let count = texts.len();
    for text in texts {
        ctx.call(text).await?;
    }
    Ok(count)
}

/// Publishes two texts.
#[entry(toolsets = [publish])]
async fn publish_both(ctx: &CallContext<publish_both>) -> Result<usize> {
    Ok(ctx.call(publish { texts: vec!["a".into(), "b".into()] }).await?)
}

/// An approver that edits the texts of `publish`, then follows `fallback` if the edit is refused.
#[derive(Debug)]
struct EditsPublish(Decision, World);

#[async_trait]
impl Approver for EditsPublish {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        if &*request.tool != "publish" {
            return Decision::approve();
        }
        match &request.problem {
            None => Decision::approve_with(json!({ "texts": ["x", "y"] })),
            Some(problem) => {
                self.1.add(format!("begun: {}, {problem}", request.has_begun));
                self.0.clone()
            }
        }
    }
}

#[tokio::test]
async fn the_arguments_of_a_call_with_recorded_steps_cannot_be_edited() {
    let refused =
        "begun: true, steps of this call are recorded with its original arguments; approve it unchanged, or deny it";
    let unchanged = [refused, "wrote b"].map(str::to_owned).to_vec();
    for (fallback, expected) in [(Decision::approve(), unchanged), (Decision::deny("no"), vec![refused.to_owned()])] {
        let (journal, world) = (MemoryJournal::new(), World::default());
        *world.stuck.lock().unwrap() = Some("b".to_owned());
        let first = process(&journal, &world).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
        tokio::select! {
            biased;
            () = world.reached.notified() => {}
            ended = first.run(publish_both {}) => panic!("the run ended: {ended:?}"),
        }
        *world.stuck.lock().unwrap() = None;
        assert_eq!(world.take(), ["wrote a"]);

        let resumed = process(&journal.replayed(), &world).approver(EditsPublish(fallback, world.clone()));
        let ended = resumed.build().unwrap().run(publish_both {}).await;
        assert_eq!((ended.is_ok(), world.take()), (expected.len() == 2, expected));
    }
}
