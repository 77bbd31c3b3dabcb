//! Requests in progress, with their stages and the time limits of their bodies.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body as AnswerBody;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use llm_do_core::base::error::BoxError;
use tokio::time::{Instant, Sleep, sleep};

use super::connections::{Entry, Stage};

/// The maximum pause of a client within a body.
const BODY_PAUSE: Duration = Duration::from_secs(15);
/// The maximum time for a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// A router that records the stages of one connection's requests.
#[derive(Debug)]
pub(super) struct Tracked {
    router: TowerToHyperService<Router>,
    entry: Weak<Entry>,
}

/// The connection of a request, as an extension of the request.
#[derive(Clone, Debug)]
pub struct ClientConnection(Weak<Entry>);

impl ClientConnection {
    /// Records that the client may make the request of these extensions: its connections are kept before those of other
    /// clients.
    pub fn allow(extensions: &http::Extensions) {
        if let Some(entry) = extensions.get().and_then(|Self(entry)| entry.upgrade()) {
            entry.allow();
        }
    }
}

impl Tracked {
    /// Creates the service for a connection, which may end while parts of its requests are still referenced.
    pub(super) fn new(router: Router, entry: &Arc<Entry>) -> Self {
        Self { router: TowerToHyperService::new(router), entry: Arc::downgrade(entry) }
    }
}

impl Service<Request<Incoming>> for Tracked {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let stage = if request.body().is_end_stream() { Stage::Answer } else { Stage::Body };
        set_stage(&self.entry, stage);
        let entry = Weak::clone(&self.entry);
        let mut request = request.map(|body| TimedBody::new(body, Weak::clone(&entry)));
        request.extensions_mut().insert(ClientConnection(Weak::clone(&entry)));
        let answered = self.router.call(request);
        async move { Ok(answered.await?.map(|body| TrackedBody { body, entry })) }.boxed()
    }
}

fn set_stage(entry: &Weak<Entry>, stage: Stage) {
    if let Some(entry) = entry.upgrade() {
        entry.set_stage(stage);
    }
}

/// The body of a request, which ends with an error if it takes too long.
struct TimedBody {
    body: Incoming,
    entry: Weak<Entry>,
    begun: Instant,
    timer: Pin<Box<Sleep>>,
}

impl TimedBody {
    fn new(body: Incoming, entry: Weak<Entry>) -> Self {
        Self { body, entry, begun: Instant::now(), timer: Box::pin(sleep(BODY_PAUSE)) }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let late = || Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::TimedOut).into())));
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(_)) if self.begun.elapsed() > BODY_TIMEOUT => late(),
            Poll::Ready(frame) => {
                self.timer.as_mut().reset(Instant::now() + BODY_PAUSE);
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending if self.timer.as_mut().poll(context).is_ready() => late(),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TimedBody {
    /// The body was read, or the handler does not read it.
    fn drop(&mut self) {
        set_stage(&self.entry, Stage::Answer);
    }
}

/// The body of an answer; the next request begins when it is dropped.
pub(super) struct TrackedBody {
    body: AnswerBody,
    entry: Weak<Entry>,
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        set_stage(&self.entry, Stage::Head);
    }
}
