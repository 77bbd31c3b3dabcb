//! Resumes runs that failed or were cancelled.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::changes::Changed;
use super::new_run::{QuotaReached, admit, start_of_day, unfinished_of_chat};
use super::run_state::RunState;
use super::runs::{RunRow, find};
use super::{Json, Millis, Store, StoreError};
use crate::access::Quota;

/// The result of a request to resume a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resuming {
    Done,
    /// It has neither failed nor been cancelled.
    NotResumable,
    /// Its chat has another unfinished run.
    ChatBusy(String),
    /// A later message of its chat has succeeded, so the run could not continue from its beginning.
    ChatWentOn,
    OverQuota(QuotaReached),
}

impl Store {
    /// Returns a failed or cancelled run to the queue, unless a quota of the client that resumes it is used up.
    pub(crate) async fn resume(&self, id: &str, quota: Quota, now: Timestamp) -> Result<Resuming, StoreError> {
        let id = id.to_owned();
        self.change(Changed::QueueAndRun(id.clone()), move |tx| resume(tx, &id, quota, now)).await
    }
}

fn resume(tx: &Transaction<'_>, id: &str, quota: Quota, now: Timestamp) -> rusqlite::Result<Resuming> {
    let is_resumable = |run: &RunRow| matches!(run.state, RunState::Failed | RunState::Cancelled);
    let Some(run) = find(tx, id)?.filter(is_resumable) else { return Ok(Resuming::NotResumable) };
    if let Some(chat) = &run.chat {
        if let Some(other) = unfinished_of_chat(tx, chat)? {
            return Ok(Resuming::ChatBusy(other));
        }
        let sql = "SELECT 1 FROM runs WHERE chat = ? AND id > ? AND state = 'succeeded'";
        if tx.prepare_cached(sql)?.exists([chat.as_str(), id])? {
            return Ok(Resuming::ChatWentOn);
        }
    }
    let cost_limit = match admit(tx, &run.tenant, quota, run.usage.cost.known, now)? {
        Ok(limit) => limit,
        Err(reached) => return Ok(Resuming::OverQuota(reached)),
    };
    // The further cost of a run of an earlier day counts for this day.
    let sql = "UPDATE runs SET state = 'queued', outcome = NULL, finished = NULL, is_cancelled = 0, deaths = 0,
               cost_limit = coalesce(?2, cost_limit), admitted = CASE WHEN admitted < ?3 THEN ?4 ELSE admitted END,
               cost_before = CASE WHEN admitted < ?3 THEN ?5 ELSE cost_before END WHERE id = ?1";
    let (day, used) = (Millis(start_of_day(now)), Json(run.usage.cost.known));
    tx.execute(sql, params![id, cost_limit.map(Json), day, Millis(now), used])?;
    Ok(Resuming::Done)
}
