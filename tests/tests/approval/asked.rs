//! Which calls need approval, and what the answer does.

use llm_do::approval::{ApprovalMode, ApprovalRequest, Approver, DecidedBy, Decision};
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use serde_json::json;

use super::Scripted;

/// Look.
#[tool(effect = read_only)]
fn look() -> u8 {
    1
}

/// Write without a declared effect.
#[tool]
fn jot(text: String) -> usize {
    text.len()
}

/// Writes the same twice and something else once.
#[entry(toolsets = [look, jot])]
async fn writes(ctx: &CallContext<writes>) -> Result<usize> {
    ctx.call(look {}).await?;
    let mut sum = 0;
    for text in ["a", "a", "bb"] {
        sum += ctx.call(jot { text: text.into() }).await?;
    }
    Ok(sum)
}

async fn run(answer: Decision) -> (Result<usize, CallError>, Vec<ApprovalRequest>) {
    let approver = Scripted::new([answer]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let result = runtime.run(writes {}).await;
    (result, approver.asked())
}

#[tokio::test]
async fn a_read_only_tool_needs_no_approval_and_an_undeclared_effect_does() {
    let (result, asked) = run(Decision::Approved).await;
    assert_eq!(result.unwrap(), 4);
    assert_eq!(asked.len(), 3);
    assert_eq!((&*asked[0].tool, &*asked[0].caller, &asked[0].arguments), ("jot", "writes", &json!({ "text": "a" })));
}

#[tokio::test]
async fn a_denied_call_ends_the_run_with_the_reason() {
    let (result, asked) = run(Decision::Denied { reason: "not today".into() }).await;
    let error = result.unwrap_err();
    assert!(error.is_denied());
    assert_eq!(llm_do::error::chain(&error), "`writes` failed: call to `jot` denied: not today");
    assert_eq!(asked.len(), 1);
}

#[tokio::test]
async fn without_an_approver_the_call_is_denied_and_the_reason_names_the_remedy() {
    let error = Runtime::builder().build().unwrap().run(writes {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("no approver is configured"), "{error}");
}

#[tokio::test]
async fn approve_all_and_reject_all_do_not_ask() {
    let run = |mode| async move {
        let approver = Scripted::approving();
        let runtime = Runtime::builder().approval_mode(mode).approver(approver.clone()).build().unwrap();
        let result = runtime.run(writes {}).await;
        assert_eq!(approver.asked().len(), 0);
        result
    };
    assert_eq!(run(ApprovalMode::ApproveAll).await.unwrap(), 4);
    assert!(run(ApprovalMode::RejectAll).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn the_users_root_call_needs_no_approval() {
    let runtime = Runtime::builder().approval_mode(ApprovalMode::RejectAll).build().unwrap();
    assert_eq!(runtime.run(jot { text: "abc".into() }).await.unwrap(), 3);
}

#[tokio::test]
async fn a_denied_call_never_starts() {
    let recorder = Recorder::new();
    let builder = Runtime::builder().approval_mode(ApprovalMode::RejectAll);
    builder.sink(recorder.clone()).build().unwrap().run(writes {}).await.unwrap_err();
    let events = recorder.events();
    let jot: Vec<_> = events.iter().filter(|event| &*event.name == "jot").map(|event| &event.kind).collect();
    let [asked, decided, refused] = jot[..] else { panic!("{jot:?}") };
    assert!(matches!(asked, EventKind::ApprovalAsked { .. }));
    assert!(matches!(decided, EventKind::ApprovalDecided { approved: false, by: DecidedBy::Mode, .. }));
    assert!(matches!(refused, EventKind::CallRefused { .. }));
}

#[tokio::test]
async fn arguments_are_validated_before_the_approver_is_asked() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    runtime.run(by_name {}).await.unwrap_err();
    assert_eq!(approver.asked().len(), 0);
}

/// Calls with invalid arguments.
#[entry]
async fn by_name(ctx: &CallContext) -> Result<serde_json::Value> {
    Ok(ctx.call_tool("jot", json!({ "text": 3 })).await?)
}

/// Remove a folder.
#[tool(effect = destructive)]
fn remove(path: String, #[arg(default = true)] recursive: bool) -> String {
    format!("{path} {recursive}")
}

/// Removes a folder twice, with and without the default written out.
#[entry]
async fn removes(ctx: &CallContext) -> Result<()> {
    ctx.call_tool("remove", json!({ "path": "p" })).await?;
    ctx.call(remove { recursive: true, path: "p".into() }).await?;
    Ok(())
}

#[tokio::test]
async fn the_approved_arguments_run_with_defaults_filled_in() {
    let approver = Scripted::new([Decision::approve_for_session()]);
    Runtime::builder().approver(approver.clone()).build().unwrap().run(removes {}).await.unwrap();
    let asked = approver.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].arguments, json!({ "path": "p", "recursive": true }));
}

/// An approver that panics.
#[derive(Debug)]
struct Panicking;

#[llm_do::async_trait]
impl Approver for Panicking {
    async fn review(&self, _: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        panic!("no answer")
    }
}

#[tokio::test]
async fn a_panic_of_the_approver_denies_the_call() {
    let runtime = Runtime::builder().approver(Panicking).build().unwrap();
    assert!(runtime.run(writes {}).await.unwrap_err().is_denied());
}

/// Calls an entry that calls a tool.
#[entry(toolsets = [writes])]
async fn outermost(ctx: &CallContext<outermost>) -> Result<usize> {
    Ok(ctx.call(writes {}).await?)
}

#[tokio::test]
async fn a_request_lists_its_callers_from_the_root() {
    let approver = Scripted::approving();
    Runtime::builder().approver(approver.clone()).build().unwrap().run(outermost {}).await.unwrap();
    let paths: Vec<_> = approver.asked().iter().map(|request| request.path.join("/")).collect();
    assert_eq!(paths[..2], ["outermost", "outermost/writes"]);
}

#[tokio::test]
async fn a_function_may_approve() {
    let runtime = Runtime::builder().approve_with(|request| async move {
        tokio::task::yield_now().await;
        if request.arguments["text"] == "bb" { Decision::deny("too long") } else { Decision::approve() }
    });
    let error = runtime.build().unwrap().run(writes {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).ends_with("denied: too long"), "{error}");
}
