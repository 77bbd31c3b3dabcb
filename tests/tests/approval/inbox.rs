//! Approval requests that another task answers later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use llm_do::approval::{ApprovalInbox, Decision, PendingApproval};
use llm_do::context::CancellationToken;
use llm_do::event::{Delivery, Event, EventKind, EventSink};
use llm_do::prelude::*;
use llm_do::{Runtime, json};

/// Plant a tree.
#[tool(effect = destructive)]
fn plant(tree: String) -> String {
    format!("planted {tree}")
}

/// Plants a tree.
#[entry(toolsets = [plant])]
async fn gardener(ctx: &CallContext<gardener>) -> Result<String> {
    Ok(ctx.call(plant { tree: "oak".into() }).await?)
}

/// Answers the one request of a run.
async fn answered(answer: impl FnOnce(PendingApproval)) -> Result<String, CallError> {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(gardener {}).await });
    answer(inbox.next().await.unwrap());
    let result = run.await.unwrap();
    assert!(inbox.pending().is_empty());
    assert!(inbox.next().await.is_none(), "the runtime is dropped");
    result
}

#[tokio::test]
async fn a_pending_approval_can_be_approved_denied_or_answered() {
    assert_eq!(answered(PendingApproval::approve).await.unwrap(), "planted oak");
    assert_eq!(answered(PendingApproval::approve_for_session).await.unwrap(), "planted oak");
    let denied = answered(|question| question.deny("no room")).await.unwrap_err();
    assert!(llm_do::error::chain(&denied).ends_with("denied: no room"), "{denied}");
    let decision = Decision::approve_with(json!({ "tree": "elm" }));
    assert_eq!(answered(|question| question.respond(decision)).await.unwrap(), "planted elm");
}

#[tokio::test]
async fn dropping_a_pending_approval_denies_the_call() {
    let error = answered(drop).await.unwrap_err();
    assert!(
        llm_do::error::chain(&error).ends_with("denied: the approval request was dropped without an answer"),
        "{error}"
    );
}

#[tokio::test]
async fn after_the_inbox_is_dropped_every_request_is_denied() {
    let (approver, inbox) = ApprovalInbox::new();
    drop(inbox);
    let error = Runtime::builder().approver(approver).build().unwrap().run(gardener {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("the approval inbox was dropped"), "{error}");
}

#[tokio::test]
async fn cancelled_requests_are_not_returned() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let token = CancellationToken::new();
    let runtime = Runtime::builder().approver(approver).cancellation(token.clone()).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(gardener {}).await });
    while inbox.pending().is_empty() {
        tokio::task::yield_now().await;
    }
    token.cancel();
    assert!(run.await.unwrap().unwrap_err().is_cancelled());
    assert!(inbox.pending().is_empty());
    assert!(inbox.next().await.is_none());
}

/// A sink that answers the requests of an inbox as soon as their events come, and counts them.
#[derive(Debug)]
struct Answering {
    inbox: Mutex<ApprovalInbox>,
    answered: AtomicUsize,
}

impl EventSink for Answering {
    fn emit(&self, event: &Arc<Event>) {
        if matches!(event.kind, EventKind::ApprovalAsked { .. }) {
            let mut inbox = self.inbox.lock().unwrap();
            assert_eq!(inbox.pending().len(), 1, "the request can be found");
            inbox.next().now_or_never().flatten().expect("the request is in the inbox").approve();
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

#[tokio::test]
async fn an_event_about_a_request_comes_once_the_inbox_has_it() {
    let (approver, inbox) = ApprovalInbox::new();
    let sink = Arc::new(Answering { inbox: Mutex::new(inbox), answered: AtomicUsize::new(0) });
    let runtime = Runtime::builder().approver(approver).shared_sink(Arc::clone(&sink) as _).build().unwrap();
    assert_eq!(runtime.run(gardener {}).await.unwrap(), "planted oak");
    assert_eq!(sink.answered.load(Ordering::Relaxed), 1);
}
