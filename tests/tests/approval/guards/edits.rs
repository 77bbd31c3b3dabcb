//! Guards run on the arguments that an approver edits, as on the original ones.

use std::sync::atomic::{AtomicBool, Ordering};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Approver, Decision, Policy, Rule};
use llm_do::error::chain;
use llm_do::event::EventKind;
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::Recorder;
use serde_json::json;

use super::{Notes, write};

/// Writes a file.
#[entry(toolsets = [write])]
async fn writing(ctx: &CallContext<writing>) -> Result<String> {
    Ok(ctx.call(write { path: "a".into() }).await?)
}

/// Writes a file, and fails the first time.
#[entry(toolsets = [write])]
async fn writing_twice(ctx: &CallContext<writing_twice>) -> Result<String> {
    let written = ctx.call(write { path: "a".into() }).await?;
    if ctx.state::<AtomicBool>().is_some_and(|fails| fails.swap(false, Ordering::SeqCst)) {
        return Err("later".into());
    }
    Ok(written)
}

/// Handles a denied write, and then fails the first time.
#[entry(toolsets = [write])]
async fn continuing(ctx: &CallContext<continuing>) -> Result<bool> {
    let is_denied = ctx.call(write { path: "a".into() }).await.is_err();
    ctx.effect("continue", is_denied, async { Ok(()) }).await?;
    if ctx.state::<AtomicBool>().is_some_and(|fails| fails.swap(false, Ordering::SeqCst)) {
        return Err("later".into());
    }
    Ok(is_denied)
}

/// An approver that replaces the path, and notes its requests.
#[derive(Debug)]
struct Puts {
    path: &'static str,
    asked: Notes,
}

#[llm_do::async_trait]
impl Approver for Puts {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        let path = request.arguments["path"].as_str().unwrap();
        self.asked.add(format!("{path} {}", request.problem.as_deref().unwrap_or("-")));
        if path == "a" { Decision::approve_with(json!({ "path": self.path })) } else { Decision::approve() }
    }
}

/// A guard that refuses what is secret, writes the rest in small letters, and notes what it sees.
fn small(seen: &Notes) -> FunctionGuard {
    let seen = seen.clone();
    FunctionGuard::new("small").before_call(move |call| {
        if call.name() != "write" {
            return Ok(());
        }
        let path = call.arguments()["path"].as_str().unwrap().to_owned();
        seen.add(&*path);
        if path == "secret" {
            return Err(Refusal::reject("it is secret"));
        }
        if path != path.to_lowercase() {
            call.arguments_mut()["path"] = path.to_lowercase().into();
        }
        Ok(())
    })
}

fn editing(path: &'static str, seen: &Notes, asked: &Notes) -> RuntimeBuilder {
    Runtime::builder().approver(Puts { path, asked: asked.clone() }).guard(small(seen))
}

#[tokio::test]
async fn a_guard_refuses_an_edit_like_original_arguments() {
    let (seen, asked) = (Notes::default(), Notes::default());
    let runtime = editing("secret", &seen, &asked).build().unwrap();
    let error = runtime.run(writing {}).await.unwrap_err();
    assert!(error.is_refused() && chain(&error).contains("it is secret"), "{}", chain(&error));
    assert_eq!(seen.take(), ["a", "secret"]);
}

#[tokio::test]
async fn an_edit_that_a_guard_leaves_alone_runs() {
    let (seen, asked) = (Notes::default(), Notes::default());
    let runtime = editing("b", &seen, &asked).build().unwrap();
    assert_eq!(runtime.run(writing {}).await.unwrap(), "wrote b");
    assert_eq!((seen.take(), asked.take()), (vec!["a".into(), "b".into()], vec!["a -".to_owned()]));
}

#[tokio::test]
async fn the_approver_is_asked_about_an_edit_that_a_guard_changes() {
    let (seen, asked, recorder) = (Notes::default(), Notes::default(), Recorder::new());
    let runtime = editing("B", &seen, &asked).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(writing {}).await.unwrap(), "wrote b");
    let question = "b guards changed the edited arguments; the call would run with the ones shown here";
    assert_eq!(asked.take(), ["a -", question]);
    let decided =
        recorder.kinds().into_iter().filter(|kind| matches!(kind, EventKind::ApprovalDecided { edited: Some(_), .. }));
    assert_eq!(decided.count(), 2);
}

#[tokio::test]
async fn a_guard_that_changes_every_edit_is_stopped() {
    let guard = FunctionGuard::new("appends").before_call(|call| {
        if call.name() == "write" {
            let path = format!("{}x", call.arguments()["path"].as_str().unwrap());
            call.arguments_mut()["path"] = path.into();
        }
        Ok(())
    });
    let approving = |request: ApprovalRequest| async move {
        Decision::approve_with(json!({ "path": format!("{}y", request.arguments["path"]) }))
    };
    let runtime = Runtime::builder().approve_with(approving).guard(guard).build().unwrap();
    let error = chain(&runtime.run(writing {}).await.unwrap_err());
    assert!(error.contains("guards changed the approver's arguments 10 times"), "{error}");
}

#[tokio::test]
async fn a_resumed_run_shows_guards_the_recorded_edit_without_asking() {
    let (seen, asked) = (Notes::default(), Notes::default());
    let journal = MemoryJournal::new();
    let runtime = |fails| {
        let builder = editing("B", &seen, &asked).journal(journal.clone());
        builder.state(AtomicBool::new(fails)).build().unwrap()
    };
    runtime(true).run(writing_twice {}).await.unwrap_err();
    assert_eq!((seen.take(), asked.take().len()), (vec!["a".into(), "B".into(), "b".into()], 2));
    assert_eq!(runtime(false).run(writing_twice {}).await.unwrap(), "wrote b");
    assert_eq!((seen.take(), asked.take().len()), (vec!["a".into(), "B".into(), "b".into()], 0));
}

#[tokio::test]
async fn an_edit_that_ran_is_replayed_even_if_the_rules_now_block_what_guards_made_of_it() {
    let of_b =
        |rule: Rule| Policy::new().decide_with(move |call| (call.arguments["path"] == "b").then(|| rule.clone()));
    for (first, then) in [
        (Policy::new(), of_b(Rule::blocked("not now"))),
        (of_b(Rule::PreApproved), Policy::new()),
        (of_b(Rule::PreApproved), of_b(Rule::blocked("not now"))),
    ] {
        let (seen, asked) = (Notes::default(), Notes::default());
        let journal = MemoryJournal::new();
        let builder = |fails| editing("B", &seen, &asked).journal(journal.clone()).state(AtomicBool::new(fails));
        builder(true).policy(first).build().unwrap().run(writing_twice {}).await.unwrap_err();
        asked.take();
        let resumed = builder(false).policy(then).approval_mode(ApprovalMode::RejectAll).build().unwrap();
        assert_eq!(resumed.run(writing_twice {}).await.unwrap(), "wrote b");
        assert!(asked.take().is_empty());
    }
}

#[tokio::test]
async fn a_block_of_what_guards_made_of_an_edit_is_kept_after_which_code_continued() {
    let blocked = Policy::new().decide_with(|call| (call.arguments["path"] == "b").then(|| Rule::blocked("not now")));
    let (seen, asked) = (Notes::default(), Notes::default());
    let journal = MemoryJournal::new();
    let builder = |fails| editing("B", &seen, &asked).journal(journal.clone()).state(AtomicBool::new(fails));
    builder(true).policy(blocked).build().unwrap().run(continuing {}).await.unwrap_err();
    assert_eq!((seen.take().last().map(String::as_str), asked.take().len()), (Some("B"), 1));
    let resumed = builder(false).build().unwrap();
    assert!(
        resumed.run(continuing {}).await.unwrap(),
        "the rule no longer blocks it, but the code has continued without it"
    );
    assert!(asked.take().is_empty());
}
