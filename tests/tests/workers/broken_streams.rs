//! A streamed answer that breaks off is asked for again, within the worker's retries and the limits of the run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{
    ErrorKind, Profile, ProviderError, Request, Response, ResponsePart, ResponseStream, StreamEvent, ToolCall,
};
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use llm_do::usage::Usage;
use llm_do::{Limits, Model, async_trait};

use super::look;

/// Answer after a look.
#[worker(toolsets = [look], retries = 2)]
async fn narrate(input: String) -> String;

/// Answer in one attempt, or not at all.
#[worker(retries = 0)]
async fn narrate_once(input: String) -> String;

type Item = Result<StreamEvent, ProviderError>;

/// A model whose requests are answered by these streams, in order.
#[derive(Clone, Debug)]
struct Streams {
    left: Arc<Mutex<VecDeque<Vec<Item>>>>,
    asked: Arc<Mutex<usize>>,
}

impl Streams {
    fn new(streams: impl IntoIterator<Item = Vec<Item>>) -> Self {
        Self { left: Arc::new(Mutex::new(streams.into_iter().collect())), asked: Arc::default() }
    }

    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

#[async_trait]
impl Model for Streams {
    fn name(&self) -> &'static str {
        "test:streams"
    }

    fn profile(&self) -> Profile {
        Profile::BASIC
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        unreachable!("the model is streamed")
    }

    async fn stream(&self, _: Request<'_>) -> Result<ResponseStream, ProviderError> {
        *self.asked.lock().unwrap() += 1;
        let items = self.left.lock().unwrap().pop_front().expect("a stream for each request");
        Ok(Box::pin(stream::iter(items)))
    }
}

fn broken(kind: ErrorKind) -> Vec<Item> {
    let arrived = Response::new("m", Vec::new(), Usage::of_request(10, 5));
    let error = ProviderError::new("test", kind, "it broke").with_status(200).with_partial_response(arrived);
    vec![Ok(StreamEvent::Text("Hal".into())), Err(error)]
}

fn complete(parts: Vec<ResponsePart>) -> Vec<Item> {
    vec![Ok(StreamEvent::Done(Response::new("m", parts, Usage::of_request(100, 50))))]
}

fn text() -> Vec<Item> {
    complete(vec![ResponsePart::Text { text: "Half a loaf.".into() }])
}

fn runtime(model: &Streams, recorder: &Recorder) -> llm_do::runtime::RuntimeBuilder {
    Runtime::builder().force_model(model.clone()).streaming(true).sink(recorder.clone())
}

fn retries(recorder: &Recorder) -> Vec<String> {
    let reason = |kind| if let EventKind::ModelRetry { reason } = kind { Some(reason) } else { None };
    recorder.kinds().into_iter().filter_map(reason).collect()
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let kinds = [ErrorKind::Transport, ErrorKind::Overloaded, ErrorKind::Unavailable, ErrorKind::RateLimited];
    for kind in kinds {
        let (model, recorder) = (Streams::new([broken(kind), text()]), Recorder::new());
        let runtime = runtime(&model, &recorder).build().unwrap();
        let run = runtime.start(narrate { input: "q".into() });
        let handle = run.handle();
        assert_eq!(run.await.unwrap(), "Half a loaf.", "{kind:?}");
        let [reason] = retries(&recorder).try_into().unwrap();
        assert!(reason.contains("broke off") && reason.contains("it broke"), "{reason}");
        let used = handle.usage().model;
        assert_eq!((used.requests, used.input_tokens, used.output_tokens), (2, 110, 55), "the lost answer counts");
    }
}

#[tokio::test]
async fn a_turn_after_a_tool_is_repeated_and_the_tool_is_not() {
    let call = || complete(vec![ResponsePart::ToolCall(ToolCall::new("c1", "look", "{}"))]);
    let model = Streams::new([broken(ErrorKind::Transport), call(), broken(ErrorKind::Transport), text()]);
    let recorder = Recorder::new();
    let result = runtime(&model, &recorder).build().unwrap().run(narrate { input: "q".into() }).await;
    assert_eq!((result.unwrap().as_str(), model.asked()), ("Half a loaf.", 4));
    let started = recorder.kinds().into_iter().filter(|kind| matches!(kind, EventKind::CallStarted { .. })).count();
    assert_eq!(started, 2, "the worker and the tool");
}

#[tokio::test]
async fn the_repeats_are_bounded_by_the_retries_and_the_limits() {
    let streams = || (0..9).map(|_| broken(ErrorKind::Transport));
    let (model, recorder) = (Streams::new(streams()), Recorder::new());
    let error = runtime(&model, &recorder).build().unwrap().run(narrate { input: "q".into() }).await.unwrap_err();
    assert!(matches!(&error, CallError::Model { source, .. } if source.kind() == ErrorKind::Transport), "{error:?}");
    assert_eq!((model.asked(), retries(&recorder).len()), (3, 2));

    let model = Streams::new(streams());
    let built = runtime(&model, &Recorder::new()).build().unwrap();
    built.run(narrate_once { input: "q".into() }).await.unwrap_err();
    assert_eq!(model.asked(), 1);

    let model = Streams::new(streams());
    let limited = runtime(&model, &Recorder::new()).limits(Limits::new().requests(2)).build().unwrap();
    limited.run(narrate { input: "q".into() }).await.unwrap_err();
    assert_eq!(model.asked(), 2);
}

#[tokio::test]
async fn what_a_repeat_cannot_mend_ends_the_run() {
    let server_tool = vec![
        Ok(StreamEvent::ServerSideTool { name: "web_search".into(), input: llm_do::json!({}) }),
        Err(ProviderError::new("test", ErrorKind::Transport, "it broke").with_status(200)),
    ];
    let unbegun = vec![Err(ProviderError::new("test", ErrorKind::Transport, "it broke").with_status(200))];
    let lasting = vec![
        Ok(StreamEvent::Text("Hal".into())),
        Err(ProviderError::new("test", ErrorKind::RateLimited, "no quota").with_should_retry(false)),
    ];
    let refused = [ErrorKind::InvalidRequest, ErrorKind::ContentFilter, ErrorKind::Protocol, ErrorKind::NoCredit];
    let streams = refused.into_iter().map(broken).chain([server_tool, unbegun, lasting]);
    for stream in streams {
        let model = Streams::new([stream]);
        runtime(&model, &Recorder::new()).build().unwrap().run(narrate { input: "q".into() }).await.unwrap_err();
        assert_eq!(model.asked(), 1);
    }
}

#[tokio::test]
async fn a_journal_has_the_complete_answer_only() {
    let journal = MemoryJournal::new();
    let model = Streams::new([broken(ErrorKind::Transport), text()]);
    let first = runtime(&model, &Recorder::new()).journal(journal.clone()).build().unwrap();
    assert_eq!(first.run(narrate { input: "q".into() }).await.unwrap(), "Half a loaf.");
    let (none, recorder) = (Streams::new([]), Recorder::new());
    let resumed = runtime(&none, &recorder).journal(journal).build().unwrap();
    let run = resumed.start(narrate { input: "q".into() });
    let handle = run.handle();
    assert_eq!((run.await.unwrap().as_str(), none.asked()), ("Half a loaf.", 0));
    assert_eq!(handle.usage().model.input_tokens, 110, "the lost answer counts in a replay too");
    assert!(retries(&recorder).is_empty());
}
