//! Model wrappers: fallback, concurrency limit and rate limit.

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

fn answering(text: &'static str) -> FunctionModel {
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
async fn the_next_model_answers_if_one_fails_and_is_named_in_the_response() {
    let model = FallbackModel::new(failing(ErrorKind::Overloaded)).or(answering("b")).or(answering("c"));
    assert_eq!(model.name(), "function:down");
    let answer = ask(&model).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.answered_by.as_deref()), ("b", Some("function:b")));
    let events = stream(&model).await;
    assert!(matches!(&events[0], Ok(StreamEvent::Waiting { on }) if on.contains("function:b")), "{events:?}");
    let Some(Ok(StreamEvent::Done(answer))) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.answered_by.as_deref(), Some("function:b"));
}

#[tokio::test]
async fn model_specific_failures_cause_a_fallback() {
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
        let model = FallbackModel::new(failing(kind)).or(answering("b"));
        assert_eq!(ask(&model).await.unwrap().text(), "b", "{kind:?}");
    }
    let unknown = || ProviderError::new("a", ErrorKind::InvalidRequest, "no such model").with_status(404);
    let model = FallbackModel::new(FunctionModel::new(move |_| Err(unknown()))).or(answering("b"));
    assert_eq!(ask(&model).await.unwrap().text(), "b");
}

#[tokio::test]
async fn failures_of_the_request_itself_cause_no_fallback() {
    for kind in [ErrorKind::InvalidRequest, ErrorKind::ContentFilter, ErrorKind::Configuration, ErrorKind::Cancelled] {
        let model = FallbackModel::new(failing(kind)).or(answering("b"));
        assert_eq!(ask(&model).await.unwrap_err().kind(), kind);
    }
    let model = FallbackModel::new(failing(ErrorKind::ContentFilter)).or(answering("b")).when(|_| true);
    assert_eq!(ask(&model).await.unwrap().text(), "b");
}

#[tokio::test]
async fn the_waiting_event_of_a_fallback_names_the_failure() {
    for (status, expected) in [
        (503, "falling back to `function:b` after status 503 from down"),
        (200, "falling back to `function:b` after a failure of down"),
    ] {
        let error = move || ProviderError::new("down", ErrorKind::Overloaded, "it fails").with_status(status);
        let model = FallbackModel::new(FunctionModel::new(move |_| Err(error()))).or(answering("b"));
        let events = stream(&model).await;
        assert!(matches!(&events[0], Ok(StreamEvent::Waiting { on }) if on == expected), "{events:?}");
    }
}

#[tokio::test]
async fn the_last_error_has_the_number_of_earlier_failures() {
    let model = FallbackModel::new(failing(ErrorKind::Timeout)).or(failing(ErrorKind::Auth));
    for error in [ask(&model).await.unwrap_err(), stream(&model).await.pop().unwrap().unwrap_err()] {
        assert_eq!(error.to_string(), "down: it fails; 1 earlier model failed too");
    }
}

/// A model with scripted streams.
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
async fn a_stream_that_has_started_does_not_fall_back() {
    let text = || Ok(StreamEvent::Text("half".into()));
    let waiting = || Ok(StreamEvent::Waiting { on: "retry".into() });
    let broken = || Err(ErrorKind::Transport);
    let shown = FallbackModel::new(Streaming(vec![text(), broken()].into())).or(answering("b"));
    let events = stream(&shown).await;
    assert!(matches!(&events[..], [Ok(StreamEvent::Text(_)), Err(_)]), "{events:?}");
    let waited = FallbackModel::new(Streaming(vec![waiting(), broken()].into())).or(answering("b"));
    let events = stream(&waited).await;
    assert!(matches!(&events[..2], [Ok(StreamEvent::Waiting { .. }), Ok(StreamEvent::Waiting { .. })]), "{events:?}");
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done(_)))), "{events:?}");
}

#[test]
fn the_profile_is_what_all_models_support() {
    let native = answering("a").profile(Profile::NATIVE_OUTPUT);
    assert!(FallbackModel::new(native.clone()).or(native.clone()).profile().native_output);
    assert!(!FallbackModel::new(native).or(answering("b")).profile().native_output);
}

/// A model that takes a second and records the maximum number of concurrent requests.
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
async fn concurrent_requests_are_limited() {
    let busy = Busy::default();
    let model = LimitedModel::new(busy.clone()).max_concurrent(2);
    let start = Instant::now();
    futures_util::future::join_all((0..6).map(|_| ask(&model))).await;
    assert_eq!((busy.most.load(Ordering::SeqCst), start.elapsed().as_secs()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_stream_holds_its_permit_until_it_is_dropped() {
    let model = LimitedModel::new(answering("a")).max_concurrent(1);
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let held = model.stream(Request::new(&messages, &settings)).await.unwrap();
    let waiting = tokio::time::timeout(Duration::from_secs(9), ask(&model));
    assert!(waiting.await.is_err());
    drop(held);
    assert_eq!(ask(&model).await.unwrap().text(), "a");
}

#[tokio::test(start_paused = true)]
async fn requests_per_minute_are_spread_evenly_over_all_clones() {
    let model = LimitedModel::new(answering("a")).per_minute(60);
    let start = Instant::now();
    for _ in 0..5 {
        ask(&model.clone()).await.unwrap();
    }
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_uses_no_slot() {
    let model = LimitedModel::new(answering("a")).per_minute(2);
    let start = Instant::now();
    ask(&model).await.unwrap();
    let patience = Duration::from_secs(20);
    assert!(tokio::time::timeout(patience, ask(&model)).await.is_err());
    tokio::time::timeout(patience, ask(&model)).await.unwrap().unwrap();
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn many_dropped_requests_cause_no_delay() {
    let model = LimitedModel::new(answering("a")).per_minute(60);
    ask(&model).await.unwrap();
    let start = Instant::now();
    let patience = Duration::from_millis(500);
    let waiting = (0..300).map(|_| tokio::time::timeout(patience, ask(&model)));
    assert!(futures_util::future::join_all(waiting).await.iter().all(Result::is_err));
    ask(&model).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_behind_a_dropped_one_moves_up() {
    let model = LimitedModel::new(answering("a")).per_minute(60);
    let start = Instant::now();
    let answered = |patience: u64| {
        let answer = ask(&model);
        async move {
            tokio::time::timeout(Duration::from_millis(patience), answer).await.ok().map(|_| start.elapsed().as_secs())
        }
    };
    // In the order of the requests: immediately, after a second, given up, and after two seconds.
    let when = tokio::join!(answered(9000), answered(9000), answered(1500), answered(9000));
    assert_eq!(when, (Some(0), Some(1), None, Some(2)));
}
