//! Approval of worker calls, which need none unless a policy requires it.

use llm_do::approval::{Decision, Policy, Rule, RuleSource, WorkerRule};
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, Recorder, TestModel};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Attachment, Runtime, json};

use super::{Scripted, calling, decisions};

/// Read what is attached.
#[worker]
async fn viewer(prompt: Prompt) -> String;

/// Think about a question.
#[worker]
async fn thinker(question: String) -> String;

/// Compare what is attached to a text.
#[worker]
async fn comparer(text: String, with: Prompt) -> String {
    with.attach(Attachment::new("text/plain", text))
}

/// Dig, and dig deeper.
#[worker(toolsets = [digger])]
async fn digger(meters: u32) -> String;

/// Digs one meter.
#[entry(toolsets = [digger])]
async fn dig_once(ctx: &CallContext<dig_once>) -> Result<String> {
    Ok(ctx.call(digger { meters: 1 }).await?)
}

/// Have another helper help.
#[tool(effect = read_only)]
async fn consult(ctx: &CallContext) -> Result<String> {
    Ok(ctx.llm_agent(WorkerSpec::new("helper", "Think.")).input("Help.").await?)
}

/// Asks helpers of one name: two that are equal, and one that may consult another.
#[entry(toolsets = [consult])]
async fn helped(ctx: &CallContext<helped>) -> Result<String> {
    let helper = || WorkerSpec::new("helper", "Consult.");
    ctx.llm_agent(helper()).input("Help.").await?;
    ctx.llm_agent(helper()).input("Help.").await?;
    Ok(ctx.llm_agent(helper().toolsets(["consult"])).input("Help.").await?)
}

/// Asks all workers, some with files.
#[entry(toolsets = [viewer, thinker, comparer])]
async fn asker(ctx: &CallContext<asker>) -> Result<()> {
    let file = Attachment::new("text/plain", "bees");
    ctx.call(viewer { prompt: "What?".into() }).await?;
    ctx.call(viewer { prompt: Prompt::new("This?").attach(file.clone()) }).await?;
    ctx.call(thinker { question: "Why?".into() }).await?;
    ctx.call(comparer { text: "bees".into(), with: "wasps".into() }).await?;
    ctx.call(comparer { text: "bees".into(), with: Prompt::new("this").attach(file) }).await?;
    Ok(())
}

/// The workers whose calls needed approval, in order.
async fn asked(policy: Policy) -> Vec<String> {
    let approver = Scripted::approving();
    let builder = Runtime::builder().policy(policy).approver(approver.clone()).force_model(TestModel::new().text("x"));
    builder.build().unwrap().run(asker {}).await.unwrap();
    approver.tools()
}

fn rule() -> WorkerRule {
    WorkerRule::new()
}

const ALL: [&str; 5] = ["viewer", "viewer", "thinker", "comparer", "comparer"];

#[tokio::test]
async fn workers_need_no_approval_by_default() {
    assert!(asked(Policy::new()).await.is_empty());
}

#[tokio::test]
async fn a_policy_can_gate_all_worker_calls_or_those_with_files() {
    assert_eq!(asked(Policy::new().workers(rule().calls(true))).await, ALL);
    assert_eq!(asked(Policy::new().workers(rule().attachments(true))).await, ["viewer", "comparer"]);
    assert_eq!(asked(Policy::new().workers(rule().calls(true).attachments(false))).await, ALL);
    assert!(asked(Policy::new().workers(rule().calls(false))).await.is_empty());
}

#[tokio::test]
async fn a_worker_override_inherits_its_unset_fields() {
    let thinker_free = Policy::new().workers(rule().calls(true)).worker("thinker", rule().calls(false));
    assert_eq!(asked(thinker_free).await, ["viewer", "viewer", "comparer", "comparer"]);
    let viewer_asks = Policy::new().worker("viewer", rule().calls(true));
    assert_eq!(asked(viewer_asks).await, ["viewer", "viewer"]);
    let all_but_files = Policy::new().workers(rule().attachments(true)).worker("viewer", rule().attachments(false));
    assert_eq!(asked(all_but_files).await, ["comparer"]);
    let inherits = Policy::new().workers(rule().calls(true)).worker("viewer", rule().attachments(false));
    assert_eq!(asked(inherits).await, ALL, "`calls` is inherited");
    let silent = Policy::new().workers(rule().calls(true)).worker("viewer", rule());
    assert_eq!(asked(silent).await, ALL, "an override without set fields has no effect");
}

#[tokio::test]
async fn a_rule_by_name_overrides_the_rules_for_workers() {
    let policy = Policy::new().workers(rule().calls(true).attachments(true)).tool("viewer", Rule::PreApproved);
    assert_eq!(asked(policy).await, ["thinker", "comparer", "comparer"]);
    assert_eq!(asked(Policy::new().tool("thinker", Rule::Ask)).await, ["thinker"]);
}

#[tokio::test]
async fn events_name_the_rule() {
    let recorder = Recorder::new();
    let policy = Policy::new().workers(rule().attachments(true)).worker("thinker", rule().calls(true));
    let builder = Runtime::builder().policy(policy).approver(Scripted::approving()).sink(recorder.clone());
    builder.force_model(TestModel::new().text("x")).build().unwrap().run(asker {}).await.unwrap();
    let sources = |name| decisions(&recorder, name).into_iter().map(|(.., rule)| rule).collect::<Vec<_>>();
    assert_eq!(sources("viewer"), [RuleSource::Effect, RuleSource::PolicyWorkers]);
    assert_eq!(sources("thinker"), [RuleSource::PolicyWorker]);
}

#[tokio::test]
async fn cycles_are_checked_with_the_approved_arguments() {
    let run = async |called: u32, answers: [Decision; 2]| {
        let (approver, recorder) = (Scripted::new(answers), Recorder::new());
        let model = calling("digger", json!({ "meters": called }));
        let builder = Runtime::builder().policy(Policy::new().workers(rule().calls(true))).approver(approver);
        let result =
            builder.force_model(model).max_depth(2).sink(recorder.clone()).build().unwrap().run(dig_once {}).await;
        let depth = recorder.events().iter().map(|event| event.depth).max();
        (llm_do::error::chain(&result.unwrap_err()), depth)
    };
    let (same, other) = (Decision::approve(), |meters: u32| Decision::approve_with(json!({ "meters": meters })));
    let (error, _) = run(2, [same.clone(), other(1)]).await;
    assert!(error.contains("`digger` calls itself with the same arguments"), "{error}");
    // Not the same, so that it digs until it is too deep.
    let (error, depth) = run(1, [other(2), same]).await;
    assert!(error.contains("the maximum depth is 2") && depth == Some(3), "{error} at {depth:?}");
}

#[tokio::test]
async fn run_time_workers_of_the_same_name_are_distinguished() {
    let approver = Scripted::new([Decision::approve_for_session()]);
    let model = FunctionModel::new(|request: Request<'_>| {
        let may_consult = !request.tools.is_empty() && request.messages.len() == 1;
        let part = if may_consult {
            ResponsePart::ToolCall(ToolCall::new("1", "consult", ""))
        } else {
            ResponsePart::Text { text: "Helped.".into() }
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    });
    let builder = Runtime::builder().policy(Policy::new().workers(rule().calls(true))).approver(approver.clone());
    assert_eq!(builder.force_model(model).build().unwrap().run(helped {}).await.unwrap(), "Helped.");
    assert_eq!(approver.tools(), ["helper"; 3], "the second helper equals the first");
}
