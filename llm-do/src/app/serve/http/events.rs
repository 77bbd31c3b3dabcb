//! The events of a run, as server-sent events from any point.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use http::HeaderMap;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use super::problem::Problem;
use super::runs::visible;
use super::{App, Identity, Role};
use crate::app::serve::engine::Shared;
use crate::app::serve::store::{RunState, StoredEvent, Topic};

/// The header by which a client that lost its connection continues.
const LAST_EVENT_ID: &str = "last-event-id";
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
    changes: watch::Receiver<u64>,
    ready: VecDeque<StoredEvent>,
    state: Option<RunState>,
    is_done: bool,
}

pub(super) async fn stream(
    State(shared): App,
    client: Identity,
    Path(id): Path<String>,
    from: Result<Query<From>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    client.require(Role::Watch)?;
    let run = visible(&shared, &client, &id).await?.id;
    let Query(From { after }) = from.map_err(|rejection| Problem::invalid(rejection.body_text()))?;
    let last = match headers.get(LAST_EVENT_ID) {
        Some(id) => id.to_str().ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
            Problem::invalid("invalid header `last-event-id`: expected the number of an event, such as `12`")
        })?,
        None => after,
    };
    let changes = shared.store.changes(Topic::Progress);
    let follower = Follower { shared, run, last, changes, ready: VecDeque::new(), state: None, is_done: false };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

impl Follower {
    /// Returns the next event: `event` of the run, or `state` when its state changes.
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
            let state = self.shared.store.run(&self.run).await.ok()??.state;
            self.ready = self.shared.store.events(&self.run, self.last).await.ok()?.into();
            if self.ready.is_empty() {
                if self.state.replace(state) != Some(state) {
                    self.is_done = state.is_finished();
                    return Event::default().event("state").json_data(json!({ "state": state })).ok();
                }
                tokio::select! {
                    changed = self.changes.changed() => changed.ok()?,
                    () = self.shared.shutdown.cancelled() => return None,
                }
            }
        }
    }
}
