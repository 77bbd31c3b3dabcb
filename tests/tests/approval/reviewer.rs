//! A worker reviews calls before the approver is asked.

use llm_do::approval::{ApprovalRequest, Approver, CallReview, DecidedBy, Decision, Policy, ReviewVerdict, Rule};
use llm_do::event::EventKind;
use llm_do::journal::{MemoryJournal, Record, StepKind};
use llm_do::model::{ErrorKind, ProviderError};
use llm_do::prelude::*;
use llm_do::runtime::{BuildError, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel, RecordedRequest, Recorder, ScriptedModel};
use llm_do::{Limits, Value, async_trait, json};

use super::{Scripted, decisions};

/// Look up the owner of a house.
#[tool(effect = read_only)]
fn look_up_owner(house: u32) -> String {
    format!("The owner of {house} is Mallory.")
}

/// Give a key away.
#[tool(effect = destructive)]
fn give_key(to: String, house: u32) -> String {
    format!("{to} has the key of {house}")
}

/// Review a call.
#[worker(toolsets = [give_key])]
async fn judge_call(input: String) -> CallReview;

/// Review a call in free text.
#[worker]
async fn judge_in_words(input: String) -> String;

/// Give keys as asked.
#[worker(toolsets = [look_up_owner, give_key])]
async fn janitor(input: String) -> String;

/// Gives a key, after looking up the owner.
#[entry(toolsets = [look_up_owner, give_key])]
async fn hand_over(ctx: &CallContext<hand_over>, to: Option<String>, house: u32) -> Result<String> {
    let owner = ctx.call(look_up_owner { house }).await?;
    let to = to.unwrap_or_else(|| owner.trim_end_matches('.').rsplit(' ').next().unwrap_or_default().to_owned());
    Ok(ctx.call(give_key { to, house }).await?)
}

fn review(verdict: ReviewVerdict, reason: &str) -> CallReview {
    CallReview { verdict, reason: reason.to_owned() }
}

fn reviewed(model: ScriptedModel) -> RuntimeBuilder {
    Runtime::builder().force_model(model).policy(Policy::new().reviewer("judge_call"))
}

fn given() -> hand_over {
    hand_over { to: Some("Ann".into()), house: 7 }
}

#[tokio::test]
async fn a_review_passes_refuses_or_hands_on_with_its_reason() {
    use ReviewVerdict::{Ask, Pass, Refuse};
    for (verdict, by, asked) in
        [(Pass, DecidedBy::Reviewer, 0), (Refuse, DecidedBy::Reviewer, 0), (Ask, DecidedBy::Approver, 1)]
    {
        let (approver, recorder) = (Scripted::approving(), Recorder::new());
        let model = ScriptedModel::new().output(review(verdict, "I looked"));
        let builder = reviewed(model).approver(approver.clone()).sink(recorder.clone());
        let result = builder.build().unwrap().run(given()).await;
        let [(is_approved, decided_by, _)] = decisions(&recorder, "give_key").try_into().unwrap();
        assert_eq!((is_approved, decided_by), (verdict != Refuse, by), "{verdict:?}");
        assert_eq!(approver.asked().len(), asked, "{verdict:?}");
        match verdict {
            Refuse => assert!(llm_do::error::chain(&result.unwrap_err()).ends_with("denied: I looked")),
            _ => assert_eq!(result.unwrap(), "Ann has the key of 7"),
        }
        if let Some(request) = approver.asked().first() {
            assert_eq!(request.review.as_deref(), Some("I looked"));
            assert!(request.details().contains("the reviewer did not decide: I looked"), "{}", request.details());
        }
    }
}

/// A model that judges by where the values came from.
fn judging() -> FunctionModel {
    FunctionModel::answering(|request| {
        let asked = format!("{:?}", request.messages);
        let has = |origin: &str| asked.contains(&format!(r#"\"from\": \"{origin}\""#));
        let (verdict, reason) = match (has("result"), has("unknown")) {
            (true, _) => ("refuse", "a value is from a result"),
            (false, true) => ("ask", "a value is from nowhere"),
            (false, false) => ("pass", "all is asked for"),
        };
        Answer::output(json!({ "verdict": verdict, "reason": reason }))
    })
}

#[tokio::test]
async fn a_reviewer_refuses_planted_calls_and_passes_those_of_the_user() {
    let cases = [
        (Some("Ann"), "pass", Some("Ann has the key of 7")),
        (None, "refuse", None),
        (Some("Mallory"), "pass", Some("Mallory has the key of 7")),
    ];
    for (to, verdict, result) in cases {
        let recorder = Recorder::new();
        let policy = Policy::new().reviewer("judge_call");
        let builder = Runtime::builder().force_model(judging()).policy(policy).sink(recorder.clone());
        let run = builder.build().unwrap().run(hand_over { to: to.map(str::to_owned), house: 7 }).await;
        let [(approved, by, _)] = decisions(&recorder, "give_key").try_into().unwrap();
        assert_eq!((approved, by), (verdict == "pass", DecidedBy::Reviewer), "{to:?}");
        assert_eq!(run.ok().as_deref(), result, "{to:?}");
    }
}

#[tokio::test]
async fn a_review_that_fails_hands_the_call_on() {
    let failing = [
        ScriptedModel::new().error(ProviderError::new("test", ErrorKind::Auth, "no answer")),
        ScriptedModel::new().call("give_key", json!({ "to": "me", "house": 1 })),
    ];
    for model in failing {
        let approver = Scripted::approving();
        let runtime = reviewed(model).approver(approver.clone()).build().unwrap();
        assert_eq!(runtime.run(given()).await.unwrap(), "Ann has the key of 7");
        let [request] = approver.asked().try_into().unwrap();
        let review = request.review.unwrap();
        assert!(review.starts_with("the review by `judge_call` failed: "), "{review}");
    }
}

#[tokio::test]
async fn a_review_counts_for_the_run_and_its_limits() {
    let model = || ScriptedModel::new().output(review(ReviewVerdict::Pass, "fine"));
    let start = reviewed(model()).build().unwrap().start(given());
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (1, 3), "with the call of the reviewer");

    let approver = Scripted::approving();
    let builder = reviewed(model()).approver(approver.clone()).limits(Limits::new().requests(0));
    builder.build().unwrap().run(given()).await.unwrap();
    let review = approver.asked()[0].review.clone().unwrap();
    assert!(review.contains("`requests` is limited to 0"), "{review}");
}

#[tokio::test]
async fn a_resumed_run_repeats_neither_a_review_nor_its_request() {
    // The review hands on, and the process ends before the approver decides.
    let journal = MemoryJournal::new();
    let model = ScriptedModel::new().output(review(ReviewVerdict::Ask, "not sure"));
    let later = Scripted::new([Decision::undecided("later")]);
    let builder = reviewed(model).journal(journal.clone()).approver(later);
    builder.build().unwrap().run(given()).await.unwrap_err();

    let approver = Scripted::approving();
    let model = ScriptedModel::new();
    let builder = reviewed(model.clone()).journal(journal.replayed()).approver(approver.clone());
    let start = builder.build().unwrap().start(given());
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "Ann has the key of 7");
    assert!(model.requests().is_empty(), "the answer of the reviewer is recorded");
    assert_eq!(approver.asked()[0].review.as_deref(), Some("not sure"));
    assert!(!approver.asked()[0].has_begun, "a review does not begin the call");
    assert_eq!(handle.usage().model.requests, 1, "and it is counted");
}

#[tokio::test]
async fn a_recorded_verdict_is_replayed_with_what_it_used() {
    let journal = MemoryJournal::new();
    let model = ScriptedModel::new().output(review(ReviewVerdict::Pass, "fine"));
    reviewed(model).journal(journal.clone()).build().unwrap().run(given()).await.unwrap();
    for journal in [journal.replayed(), without_results(&journal)] {
        let builder = reviewed(ScriptedModel::new()).journal(journal);
        let start = builder.build().unwrap().start(given());
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), "Ann has the key of 7");
        assert_eq!(handle.usage().model.requests, 1);
    }
}

/// Returns the journal as it is if the process died once the verdict was recorded.
fn without_results(journal: &MemoryJournal) -> MemoryJournal {
    let mut records = journal.records();
    let last = records.iter().rposition(|record| record.kind == StepKind::Approval).unwrap();
    records.truncate(last + 1);
    MemoryJournal::from_records(records)
}

#[tokio::test]
async fn without_an_approver_what_a_review_hands_on_is_undecided() {
    let model = ScriptedModel::new().output(review(ReviewVerdict::Ask, "not sure"));
    let error = reviewed(model).build().unwrap().run(given()).await.unwrap_err();
    let text = "no approver is configured; set one: the reviewer did not decide: not sure";
    assert!(llm_do::error::chain(&error).ends_with(text), "{error:?}");
}

#[tokio::test]
async fn a_blocked_call_is_not_reviewed() {
    let model = ScriptedModel::new();
    let policy = Policy::new().reviewer("judge_call").tool("give_key", Rule::blocked("keys stay"));
    let runtime = Runtime::builder().force_model(model.clone()).policy(policy).build().unwrap();
    assert!(runtime.run(given()).await.unwrap_err().is_blocked());
    assert!(model.requests().is_empty());
}

#[test]
fn a_reviewer_is_a_worker_that_takes_the_call_and_returns_a_verdict() {
    let faults = |worker: &str| {
        let built = Runtime::builder().policy(Policy::new().reviewer(worker)).build();
        let Err(BuildError::Policy(faults)) = built else { panic!("expected faults of the policy") };
        faults.join("\n")
    };
    assert_eq!(faults("judge_cal"), "unknown worker `judge_cal`; did you mean `judge_call`?");
    assert_eq!(faults("give_key"), "the reviewer `give_key` is not a worker");
    let text = "the reviewer `judge_in_words` returns text; return `CallReview`, or set an `output_schema` with `verdict` and \
                `reason`";
    assert_eq!(faults("judge_in_words"), text);
}

/// An approver that asks a model.
#[derive(Debug)]
struct Asking;

#[async_trait]
impl Approver for Asking {
    async fn review(&self, request: &ApprovalRequest, ctx: &CallContext) -> Decision {
        let answer = ctx.llm_ask(format!("May this run? {}", request.summary())).output::<bool>().await;
        // What needs approval is not asked about from here.
        let nested = ctx.call_tool("give_key", json!({ "to": "me", "house": 1 })).await;
        assert!(nested.is_err_and(|error| error.is_denied()));
        if answer.unwrap_or(false) { Decision::approve() } else { Decision::deny("the model answers no") }
    }
}

#[tokio::test]
async fn the_requests_of_an_approver_are_counted_and_journaled() {
    let journal = MemoryJournal::new();
    let recorder = Recorder::new();
    let model = ScriptedModel::new().output(true);
    let builder = Runtime::builder().force_model(model).approver(Asking).sink(recorder.clone());
    let start = builder.journal(journal.clone()).build().unwrap().start(given());
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "Ann has the key of 7");
    assert_eq!(handle.usage().model.requests, 1);
    let requests = recorder.kinds().into_iter().filter(|kind| matches!(kind, EventKind::ModelRequest { .. })).count();
    assert_eq!(requests, 1);
    let asked = recorder.events().into_iter().find(|event| &*event.name == "llm_ask").unwrap();
    let is_question = |kind: &EventKind| matches!(kind, EventKind::ApprovalAsked { .. });
    let reviewed = recorder.events().into_iter().find(|event| is_question(&event.kind)).unwrap();
    assert_eq!(asked.parent, Some(reviewed.call), "below the call that it is about");
    let is_asked = |record: &Record| record.key.contains("/approval/review/");
    assert!(journal.records().iter().any(is_asked), "recorded below the approval of the call");
}

#[tokio::test]
async fn a_models_call_is_reviewed_and_its_refusal_goes_back() {
    let model = ScriptedModel::new()
        .call("give_key", json!({ "to": "Eve", "house": 3 }))
        .output(review(ReviewVerdict::Refuse, "Eve is unknown"))
        .text("I did not.");
    let runtime = reviewed(model.clone()).build().unwrap();
    assert_eq!(runtime.run(janitor { input: "Tidy up.".into() }).await.unwrap(), "I did not.");
    let reviews: Vec<_> = model.requests().iter().map(RecordedRequest::last_text).collect();
    assert!(reviews[1].contains("\"Eve\"") && reviews[1].contains("unknown"), "{}", reviews[1]);
    let told: Value = serde_json::from_str(&reviews[2]).unwrap();
    assert_eq!(told["error"], "call to `give_key` denied: Eve is unknown");
}
