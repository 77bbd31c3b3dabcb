//! What a call would do, shown to the approver.

use std::sync::atomic::{AtomicUsize, Ordering};

use llm_do::Runtime;
use llm_do::approval::{ApprovalInbox, ApprovalMode, Decision};
use llm_do::prelude::*;
use serde_json::json;

use super::Scripted;

/// The number of previews of a runtime.
#[derive(Default)]
struct Shown(AtomicUsize);

/// Write a note.
#[tool(effect = idempotent, summary = "write {title}", preview = shown)]
fn write_note(title: String, text: &str, #[arg(default = 2)] copies: u32) -> String {
    format!("{title}: {text} ({copies})")
}

fn shown(ctx: &CallContext, call: &write_note) -> Result<String> {
    if let Some(shown) = ctx.state::<Shown>() {
        shown.0.fetch_add(1, Ordering::Relaxed);
    }
    match call.title.as_str() {
        "bad" => Err("`bad` is not a title".into()),
        "worse" => panic!("a preview must not panic"),
        "huge" => Ok("é".repeat(3_000_000)),
        "huge and bad" => Err("é".repeat(3_000_000).into()),
        title => Ok(format!("{}: +{title}\n+{}\n", ctx.name(), call.text.repeat(call.copies as usize))),
    }
}

/// Writes notes.
#[entry(toolsets = [write_note])]
async fn writer(ctx: &CallContext<writer>, titles: Vec<String>) -> Result<Vec<String>> {
    let mut written = Vec::new();
    for title in titles {
        written.push(ctx.call(write_note { title, text: "a".into(), copies: 2 }).await?);
    }
    Ok(written)
}

fn writing(titles: &[&str]) -> writer {
    writer { titles: titles.iter().map(|title| (*title).to_owned()).collect() }
}

#[tokio::test]
async fn the_approver_sees_what_the_call_would_do() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    runtime.run(writing(&["one"])).await.unwrap();
    let request = &approver.asked()[0];
    assert_eq!(request.preview.as_deref(), Some("write_note: +one\n+aa\n"));
    assert!(request.details().ends_with("\npreview:\n    write_note: +one\n    +aa"), "{}", request.details());
}

#[tokio::test]
async fn a_huge_preview_is_cut_with_the_number_of_missing_bytes() {
    for (title, more) in [("huge", 5_590_000), ("huge and bad", 5_590_012)] {
        let approver = Scripted::approving();
        let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
        runtime.run(writing(&[title])).await.unwrap();
        let shown = approver.asked()[0].preview.clone().unwrap();
        assert!(
            shown.ends_with(&format!("é\n… {more} more bytes of the preview are not shown")),
            "{}",
            &shown[shown.len() - 90..]
        );
        assert!(shown.len() < 410_100, "{}", shown.len());
    }
}

#[tokio::test]
async fn a_preview_is_computed_only_if_the_approver_is_asked() {
    let computed = |mode, approver: Option<Scripted>| async move {
        let mut builder = Runtime::builder().state(Shown::default()).approval_mode(mode);
        if let Some(approver) = approver {
            builder = builder.approver(approver);
        }
        let runtime = builder.build().unwrap();
        drop(runtime.run(writing(&["one", "one", "two"])).await);
        drop(runtime.run(write_note { title: "root".into(), text: String::new(), copies: 0 }).await);
        runtime.run(previews {}).await.unwrap()
    };
    assert_eq!(computed(ApprovalMode::ApproveAll, Some(Scripted::approving())).await, 0);
    assert_eq!(computed(ApprovalMode::RejectAll, Some(Scripted::approving())).await, 0);
    assert_eq!(computed(ApprovalMode::Prompt, None).await, 0);
    assert_eq!(computed(ApprovalMode::Prompt, Some(Scripted::approving())).await, 3);
    let remembering = Scripted::new([Decision::approve_for_session()]);
    assert_eq!(computed(ApprovalMode::Prompt, Some(remembering)).await, 2, "an equal call is not asked about again");
}

/// Count the previews.
#[tool(effect = read_only)]
fn previews(ctx: &CallContext) -> usize {
    ctx.state::<Shown>().map_or(0, |shown| shown.0.load(Ordering::Relaxed))
}

#[tokio::test]
async fn concurrent_equal_calls_share_one_preview() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).state(Shown::default()).build().unwrap();
    let handle = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.run(twice {}).await }
    });
    inbox.next().await.unwrap().approve();
    handle.await.unwrap().unwrap();
    assert_eq!(runtime.run(previews {}).await.unwrap(), 1);
}

/// Writes one note twice.
#[entry(toolsets = [write_note])]
async fn twice(ctx: &CallContext<twice>) -> Result<()> {
    let write = || ctx.call(write_note { title: "one".into(), text: "a".into(), copies: 2 });
    let (one, other) = tokio::join!(write(), write());
    one.and(other).map(drop).map_err(Into::into)
}

#[tokio::test]
async fn a_failed_preview_is_shown_as_its_error_and_the_call_still_needs_approval() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let written = runtime.run(writing(&["bad", "worse"])).await.unwrap();
    assert_eq!(written.len(), 2);
    let shown: Vec<_> = approver.asked().into_iter().filter_map(|request| request.preview).collect();
    assert_eq!(shown, ["No preview: `bad` is not a title", "No preview: the tool's `preview` function panicked"]);
}

#[tokio::test]
async fn a_preview_stays_while_the_approver_edits() {
    let invalid = Decision::approve_with(json!({ "title": 3 }));
    let edited = Decision::approve_with(json!({ "title": "b", "text": "c", "copies": 1 }));
    let approver = Scripted::new([invalid, edited]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    assert_eq!(runtime.run(writing(&["one"])).await.unwrap(), ["b: c (1)"]);
    let shown: Vec<_> = approver.asked().into_iter().map(|request| request.preview.unwrap()).collect();
    assert_eq!(shown, vec!["write_note: +one\n+aa\n"; 2]);
}
