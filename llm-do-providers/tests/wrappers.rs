//! Models around models: a row of them, and one that is asked only so often.

#![expect(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use llm_do_providers::{
    ErrorKind, FallbackModel, FunctionModel, LimitedModel, Message, Model, Profile, ProviderError, Request, Response,
    ResponsePart, ResponseStream, Settings, StreamEvent, Usage,
};
use tokio::time::Instant;

fn response(text: &str) -> Response {
    Response::new("m", vec![ResponsePart::Text { text: text.to_owned() }], Usage::of_request(1, 1))
}

fn failing(kind: ErrorKind) -> FunctionModel {
    FunctionModel::new(move |_| Err(ProviderError::new("down", kind, "it fails"))).named("down")
}

fn saying(text: &'static str) -> FunctionModel {
    FunctionModel::new(move |_| Ok(response(text))).named(text)
}

async fn ask(model: &dyn Model) -> Result<Response, ProviderError> {
    model.request(Request::new(&[Message::user("hi")], &Settings::default())).await
}

async fn stream(model: &dyn Model) -> Vec<Result<StreamEvent, ProviderError>> {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    match model.stream(Request::new(&messages, &settings)).await {
        Ok(stream) => stream.collect().await,
        Err(error) => vec![Err(error)],
    }
}

#[tokio::test]
async fn the_next_model_answers_where_one_fails_and_says_who_it_is() {
    let model = FallbackModel::new(failing(ErrorKind::Overloaded)).or(saying("b")).or(saying("c"));
    assert_eq!(model.name(), "function:down");
    let answer = ask(&model).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.answered_by.as_deref()), ("b", Some("function:b")));
    let events = stream(&model).await;
    assert!(matches!(&events[0], Ok(StreamEvent::Waiting { on }) if on.contains("function:b")), "{events:?}");
    let Some(Ok(StreamEvent::Done(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.answered_by.as_deref(), Some("function:b"));
}

#[tokio::test]
async fn what_another_model_may_not_have_is_asked_of_it() {
    for kind in [
        ErrorKind::Auth,
        ErrorKind::ContextTooLong,
        ErrorKind::RateLimited,
        ErrorKind::Overloaded,
        ErrorKind::Unavailable,
        ErrorKind::Transport,
        ErrorKind::Timeout,
        ErrorKind::Protocol,
    ] {
        let model = FallbackModel::new(failing(kind)).or(saying("b"));
        assert_eq!(ask(&model).await.unwrap().text(), "b", "{kind:?}");
    }
    let unknown = || ProviderError::new("a", ErrorKind::InvalidRequest, "no such model").with_status(404);
    let model = FallbackModel::new(FunctionModel::new(move |_| Err(unknown()))).or(saying("b"));
    assert_eq!(ask(&model).await.unwrap().text(), "b");
}

#[tokio::test]
async fn what_the_request_is_at_fault_for_is_not_asked_of_another() {
    for kind in [ErrorKind::InvalidRequest, ErrorKind::ContentFilter, ErrorKind::Configuration, ErrorKind::Cancelled] {
        let model = FallbackModel::new(failing(kind)).or(saying("b"));
        assert_eq!(ask(&model).await.unwrap_err().kind(), kind);
    }
    let model = FallbackModel::new(failing(ErrorKind::ContentFilter)).or(saying("b")).when(|_| true);
    assert_eq!(ask(&model).await.unwrap().text(), "b");
}

#[tokio::test]
async fn the_wait_for_another_model_names_the_failure() {
    for (status, told) in
        [(503, "`function:b` after status 503 of down"), (200, "`function:b` after a failure of down")]
    {
        let error = move || ProviderError::new("down", ErrorKind::Overloaded, "it fails").with_status(status);
        let model = FallbackModel::new(FunctionModel::new(move |_| Err(error()))).or(saying("b"));
        let events = stream(&model).await;
        assert!(matches!(&events[0], Ok(StreamEvent::Waiting { on }) if on == told), "{events:?}");
    }
}

#[tokio::test]
async fn the_last_error_tells_how_many_failed_before() {
    let model = FallbackModel::new(failing(ErrorKind::Timeout)).or(failing(ErrorKind::Auth));
    for error in [ask(&model).await.unwrap_err(), stream(&model).await.pop().unwrap().unwrap_err()] {
        assert_eq!(error.to_string(), "down: it fails; 1 before it failed too");
    }
}

/// A model whose streams are these.
#[derive(Debug)]
struct Streaming(Mutex<Vec<Result<StreamEvent, ErrorKind>>>);

#[async_trait]
impl Model for Streaming {
    fn name(&self) -> &'static str {
        "test:streaming"
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        Ok(response("whole"))
    }

    async fn stream(&self, _: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let events = std::mem::take(&mut *self.0.lock().unwrap());
        let events = events.into_iter().map(|event| event.map_err(|kind| ProviderError::new("s", kind, "it broke")));
        Ok(Box::pin(stream::iter(events)))
    }
}

#[tokio::test]
async fn a_stream_that_was_shown_is_not_asked_of_another() {
    let text = || Ok(StreamEvent::Text("half".into()));
    let waiting = || Ok(StreamEvent::Waiting { on: "retry".into() });
    let broken = || Err(ErrorKind::Transport);
    let shown = FallbackModel::new(Streaming(vec![text(), broken()].into())).or(saying("b"));
    let events = stream(&shown).await;
    assert!(matches!(&events[..], [Ok(StreamEvent::Text(_)), Err(_)]), "{events:?}");
    let waited = FallbackModel::new(Streaming(vec![waiting(), broken()].into())).or(saying("b"));
    let events = stream(&waited).await;
    assert!(matches!(&events[..2], [Ok(StreamEvent::Waiting { .. }), Ok(StreamEvent::Waiting { .. })]), "{events:?}");
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done(_)))), "{events:?}");
}

#[test]
fn a_row_can_do_what_all_in_it_can() {
    let native = saying("a").profile(Profile::NATIVE_OUTPUT);
    assert!(FallbackModel::new(native.clone()).or(native.clone()).profile().native_output);
    assert!(!FallbackModel::new(native).or(saying("b")).profile().native_output);
}

/// A model that takes a second, and knows how many ask it at once.
#[derive(Clone, Debug, Default)]
struct Busy {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl Model for Busy {
    fn name(&self) -> &'static str {
        "test:busy"
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        Ok(response("done"))
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_so_many_ask_at_once() {
    let busy = Busy::default();
    let model = LimitedModel::new(busy.clone()).at_once(2);
    let begun = Instant::now();
    futures_util::future::join_all((0..6).map(|_| ask(&model))).await;
    assert_eq!((busy.most.load(Ordering::SeqCst), begun.elapsed().as_secs()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_stream_holds_its_place_until_it_is_dropped() {
    let model = LimitedModel::new(saying("a")).at_once(1);
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let held = model.stream(Request::new(&messages, &settings)).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_secs(9), ask(&model));
    assert!(waiting.await.is_err());
    drop(held);
    assert_eq!(ask(&model).await.unwrap().text(), "a");
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_minute_are_spread_over_it_for_all_clones() {
    let model = LimitedModel::new(saying("a")).per_minute(60);
    let begun = Instant::now();
    for _ in 0..5 {
        ask(&model.clone()).await.unwrap();
    }
    assert_eq!(begun.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_takes_no_turn() {
    let model = LimitedModel::new(saying("a")).per_minute(2);
    let begun = Instant::now();
    ask(&model).await.unwrap();
    let patience = Duration::from_secs(20);
    assert!(tokio::time::timeout(patience, ask(&model)).await.is_err());
    tokio::time::timeout(patience, ask(&model)).await.unwrap().unwrap();
    assert_eq!(begun.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn many_that_give_up_leave_nothing_to_wait_for() {
    let model = LimitedModel::new(saying("a")).per_minute(60);
    ask(&model).await.unwrap();
    let begun = Instant::now();
    let patience = Duration::from_millis(500);
    let waiting = (0..300).map(|_| tokio::time::timeout(patience, ask(&model)));
    assert!(futures_util::future::join_all(waiting).await.iter().all(Result::is_err));
    ask(&model).await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_waits_behind_one_that_gives_up_moves_up() {
    let model = LimitedModel::new(saying("a")).per_minute(60);
    let begun = Instant::now();
    let answered = |patience: u64| {
        let answer = ask(&model);
        async move {
            tokio::time::timeout(Duration::from_millis(patience), answer).await.ok().map(|_| begun.elapsed().as_secs())
        }
    };
    // In the order of asking: at once, after a second, given up, and then in its place.
    let when = tokio::join!(answered(9000), answered(9000), answered(1500), answered(9000));
    assert_eq!(when, (Some(0), Some(1), None, Some(2)));
}
