//! The events of a run, as server-sent events from any point.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use http::{HeaderMap, StatusCode};
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::declare::partial::Partial;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::problem::Problem;
use super::runs::visible;
use super::{App, Id, Identity, Role};
use crate::engine::{Arrived, Shared};
use crate::store::{RunState, StoredEvent};

/// The header by which a client that lost its connection continues.
const LAST_EVENT_ID: &str = "last-event-id";
/// The maximum number of streams that a client has open: each holds a connection, of which there are 1024 for all clients.
const MAX_STREAMS: usize = 128;
/// How often a comment keeps an idle connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where a stream of events starts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct From {
    /// The number of the last known event.
    #[serde(default)]
    after: u64,
}

/// A stream of a run's events: those that are stored, then new ones, until the run has finished.
struct Follower {
    shared: Arc<Shared>,
    run: String,
    last: u64,
    changes: watch::Receiver<()>,
    ready: VecDeque<StoredEvent>,
    state: Option<RunState>,
    /// What arrives of the result, while this process drives the run.
    arrived: Option<watch::Receiver<Arrived>>,
    is_done: bool,
    _open: OpenStream,
}

pub(super) async fn stream(
    State(shared): App,
    client: Identity,
    Id(id): Id,
    from: Result<Query<From>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    client.require(Role::Watch)?;
    let run = visible(&shared, &client, &id).await?.id;
    let Query(From { after }) = from.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
    let last = match headers.get(LAST_EVENT_ID) {
        Some(id) => id.to_str().ok().and_then(|id| id.parse().ok()),
        None => Some(after),
    };
    let is_number = |last: &u64| i64::try_from(*last).is_ok();
    let fault =
        || Problem::invalid("invalid `last-event-id` or `after`: expected the number of an event, such as `12`");
    let last = last.filter(is_number).ok_or_else(fault)?;
    let open = OpenStream::open(&shared.streams, &client.name)?;
    let changes = shared.store.run_changes(&run);
    let (ready, state, arrived) = (VecDeque::new(), None, None);
    let follower = Follower { shared, run, last, changes, ready, state, arrived, is_done: false, _open: open };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// How many streams each client has open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<Arc<str>, usize>>>);

/// An open stream of a client, counted until it is dropped.
pub(super) struct OpenStream {
    streams: Streams,
    client: Arc<str>,
}

impl OpenStream {
    /// Returns an error if the client has the maximum number.
    pub(super) fn open(streams: &Streams, client: &Arc<str>) -> Result<Self, Problem> {
        let mut counts = streams.0.lock().ignore_poison();
        let count = counts.entry(Arc::clone(client)).or_default();
        if *count >= MAX_STREAMS {
            return Err(too_many());
        }
        *count += 1;
        Ok(Self { streams: streams.clone(), client: Arc::clone(client) })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut counts = self.streams.0.lock().ignore_poison();
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
        }
    }
}

fn too_many() -> Problem {
    let text = format!("the client follows {MAX_STREAMS} runs, the maximum; close some of the streams");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", text)
}

/// Waits for more of a result; never returns once the run is no longer driven.
async fn next_part(arrived: &mut Option<watch::Receiver<Arrived>>) -> Partial<Value> {
    while let Some(receiver) = arrived {
        if receiver.changed().await.is_err() {
            *arrived = None;
        } else if let Some(partial) = receiver.borrow_and_update().clone() {
            return partial;
        }
    }
    std::future::pending().await
}

impl Follower {
    /// Returns the next event: `event` of the run, `state` when its state changes, or `partial` when more of its result has
    /// arrived.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(StoredEvent { number, event }) = self.ready.pop_front() {
                self.last = number;
                return Some(Event::default().id(number.to_string()).event("event").data(event));
            }
            if self.is_done || self.shared.shutdown.is_cancelled() {
                return None;
            }
            self.changes.mark_unchanged();
            // The state first: events are stored before the run counts as finished.
            // An error ends the stream; the client connects again and continues.
            let state = self.shared.store.state(&self.run).await.ok()??;
            self.ready = self.shared.store.events(&self.run, self.last).await.ok()?.into();
            if self.ready.is_empty() {
                if self.state.replace(state) != Some(state) {
                    self.is_done = state.is_finished();
                    return Event::default().event("state").json_data(json!({ "state": state })).ok();
                }
                if self.arrived.is_none() {
                    self.arrived = self.shared.active.arrived(&self.run);
                }
                tokio::select! {
                    biased;
                    changed = self.changes.changed() => changed.ok()?,
                    partial = next_part(&mut self.arrived) => return Event::default().event("partial").json_data(partial).ok(),
                    () = self.shared.shutdown.cancelled() => return None,
                }
            }
        }
    }
}
