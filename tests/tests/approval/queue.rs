//! Approval requests that are open at the same time.

use futures_util::poll;
use llm_do::Runtime;
use llm_do::approval::{ApprovalInbox, ApprovalRequest, Approver, Decision, InboxApprover, PendingApproval};
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::testing::Recorder;

/// Dig a hole.
#[tool(effect = destructive)]
async fn dig(place: String) -> String {
    format!("dug {place}")
}

/// Digs at all these places concurrently.
#[entry(toolsets = [dig])]
async fn digs(ctx: &CallContext<digs>, first: String, second: String, third: String) -> Result<Vec<String>> {
    let dig = |place: String| ctx.call(dig { place });
    let (first, second, third) = tokio::join!(dig(first), dig(second), dig(third));
    let told = |result: Result<String, CallError>| result.unwrap_or_else(|error| error.to_string());
    Ok(vec![told(first), told(second), told(third)])
}

fn at(places: [&str; 3]) -> digs {
    let [first, second, third] = places.map(ToOwned::to_owned);
    digs { first, second, third }
}

/// An inbox with a maximum number of concurrent requests.
#[derive(Debug)]
struct Taking(usize, InboxApprover);

#[llm_do::async_trait]
impl Approver for Taking {
    async fn review(&self, request: &ApprovalRequest, ctx: &CallContext) -> Decision {
        self.1.review(request, ctx).await
    }

    fn max_concurrent(&self) -> usize {
        self.0
    }
}

fn place(request: &ApprovalRequest) -> String {
    let place = request.arguments["place"].as_str().unwrap();
    format!("{place} {}/{}", request.position, request.total())
}

#[tokio::test]
async fn equal_calls_in_flight_ask_once_and_share_the_answer() {
    let ((approver, mut inbox), recorder) = (ApprovalInbox::new(), Recorder::new());
    let runtime = Runtime::builder().approver(approver).sink(recorder.clone()).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(at(["here", "here", "here"])).await });
    inbox.next().await.unwrap().deny("not here");
    let denied = "call to `dig` denied: not here";
    assert_eq!(run.await.unwrap().unwrap(), [denied, denied, denied]);
    let asked = recorder.kinds().into_iter().filter(|kind| matches!(kind, EventKind::ApprovalAsked { .. })).count();
    assert_eq!(asked, 3, "each call reports its own request");
    assert!(inbox.next().await.is_none(), "there was one request");
}

#[tokio::test]
async fn different_calls_queue_and_are_numbered_one_at_a_time() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(Taking(1, approver)).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(at(["a", "b", "c"])).await });
    for expected in ["a 1/3", "b 2/3", "c 3/3"] {
        let question = inbox.next().await.unwrap();
        assert_eq!(place(question.request()), expected);
        assert_eq!(inbox.pending().len(), 1);
        question.approve();
    }
    assert_eq!(run.await.unwrap().unwrap(), ["dug a", "dug b", "dug c"]);
}

#[tokio::test]
async fn an_approver_gets_at_most_max_concurrent_requests() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(Taking(2, approver)).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(at(["a", "b", "c"])).await });
    let (first, second) = (inbox.next().await.unwrap(), inbox.next().await.unwrap());
    assert_eq!(inbox.pending().len(), 2);
    second.deny("no");
    let third = inbox.next().await.unwrap();
    assert_eq!((place(first.request()), place(third.request())), ("a 1/3".to_owned(), "c 3/3".to_owned()));
    third.approve();
    first.approve();
    assert_eq!(run.await.unwrap().unwrap(), ["dug a", "call to `dig` denied: no", "dug c"]);
}

#[tokio::test]
async fn the_count_restarts_once_all_requests_are_answered() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    for _ in 0..2 {
        let runtime = runtime.clone();
        let run = tokio::spawn(async move { runtime.run(at(["a", "b", "b"])).await });
        for expected in ["a 1/2", "b 2/2"] {
            let question = inbox.next().await.unwrap();
            assert_eq!(place(question.request()), expected);
            question.approve();
        }
        run.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn the_total_grows_while_a_request_is_open() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let (one, other) = (runtime.clone(), runtime);
    let one = tokio::spawn(async move { one.run(at(["a", "a", "a"])).await });
    let first = inbox.next().await.unwrap();
    assert_eq!(place(first.request()), "a 1/1");
    let other = tokio::spawn(async move { other.run(at(["b", "a", "b"])).await });
    let second = inbox.next().await.unwrap();
    let third = inbox.next().await.unwrap();
    let places = [&first, &second, &third].map(|question| place(question.request()));
    assert_eq!(places, ["a 1/3", "b 2/3", "a 3/3"], "another run has its own request");
    [first, second, third].into_iter().for_each(PendingApproval::approve);
    assert_eq!(one.await.unwrap().unwrap(), ["dug a"; 3]);
    assert_eq!(other.await.unwrap().unwrap(), ["dug b", "dug a", "dug b"]);
}

/// Digs at one place by two calls, and gives the first up while both wait.
#[entry(toolsets = [dig])]
async fn gives_up(ctx: &CallContext<gives_up>) -> Result<String> {
    let mut first = ctx.call(dig { place: "a".into() });
    let mut second = ctx.call(dig { place: "a".into() });
    assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
    drop(first);
    Ok(second.await?)
}

#[tokio::test]
async fn a_cancelled_call_leaves_the_request_to_an_equal_waiting_call() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(gives_up {}).await });
    let question = inbox.next().await.unwrap();
    assert!(question.is_open());
    question.approve();
    assert_eq!(run.await.unwrap().unwrap(), "dug a");
    assert!(inbox.next().await.is_none(), "there was one request");
}

#[tokio::test]
async fn a_request_is_withdrawn_once_no_call_waits_and_the_next_one_starts() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(Taking(1, approver)).build().unwrap();
    let (one, other) = (runtime.clone(), runtime);
    let one = tokio::spawn(async move { one.run(at(["a", "a", "a"])).await });
    let mut question = inbox.next().await.unwrap();
    let other = tokio::spawn(async move { other.run(at(["b", "b", "b"])).await });
    one.abort();
    question.withdrawn().await;
    assert!(!question.is_open());
    let next = inbox.next().await.unwrap();
    assert_eq!(next.request().arguments["place"], "b");
    next.approve();
    other.await.unwrap().unwrap();
}
