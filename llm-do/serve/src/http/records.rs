//! The records of a run, as JSON Lines: what its journal has of it.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::{StatusCode, header};
use llm_do_core::base::error::BoxError;
use llm_do_core::observe::journal::{Record, RecordList};

use super::events::OpenStream;
use super::problem::Problem;
use super::runs::visible;
use super::{App, Id, Identity, Role};
use crate::engine::Shared;

/// The type of the answer.
const JSON_LINES: &str = "application/jsonl";

/// The records that were not sent yet.
struct Unsent {
    shared: Arc<Shared>,
    /// What was not read yet; `None` at the end.
    list: Option<RecordList>,
    ready: VecDeque<Record>,
    _open: OpenStream,
}

pub(super) async fn stream(State(shared): App, client: Identity, Id(id): Id) -> Result<Response, Problem> {
    client.require(Role::Watch)?;
    let run = visible(&shared, &client, &id).await?;
    let open = OpenStream::open(&shared.streams, &client.name)?;
    let mut unsent = Unsent { shared: Arc::clone(&shared), list: None, ready: VecDeque::new(), _open: open };
    if shared.is_elsewhere() {
        let failed = |_| {
            let text = "the engine Restate cannot be read; try again later";
            Problem::new(StatusCode::BAD_GATEWAY, "engine_failed", text)
        };
        unsent.ready = shared.records_elsewhere(&run.id).await.map_err(failed)?.into();
    } else {
        unsent.list = shared.journal.record_list(&run.id).await?;
    }
    let lines = stream::try_unfold(unsent, |mut unsent| async move {
        let lines = unsent.next().await?;
        Ok::<_, BoxError>(lines.map(|lines| (lines, unsent)))
    });
    Ok(([(header::CONTENT_TYPE, JSON_LINES)], Body::from_stream(lines)).into_response())
}

impl Unsent {
    /// Returns the next lines; an error ends the connection, so that the client does not take a part for the whole.
    async fn next(&mut self) -> Result<Option<Bytes>, BoxError> {
        if self.ready.is_empty()
            && let Some(list) = self.list.take()
        {
            let (list, part) = self.shared.journal.next_records(list).await?;
            self.ready = part.ok_or("the records were deleted while they were read")?.into();
            self.list = Some(list).filter(|_| !self.ready.is_empty());
        }
        if self.ready.is_empty() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for record in self.ready.drain(..) {
            serde_json::to_writer(&mut lines, &record)?;
            lines.push(b'\n');
        }
        Ok(Some(lines.into()))
    }
}
