//! Adds runs: each once, and within the quotas of its client.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_do_providers::Money;
use rusqlite::{OptionalExtension, Transaction, named_params, params};
use serde_json::Value;

use super::run_state::{RunState, Source};
use super::runs::{RunRow, find};
use super::{Json, Millis, Store, StoreError, Topic};
use crate::app::serve::access::Quota;
use crate::base::usage::RunUsage;
use crate::plane::dispatch::fresh_id;

/// A run to be started.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct NewRun {
    pub(in crate::app::serve) id: String,
    pub(in crate::app::serve) tenant: Arc<str>,
    pub(in crate::app::serve) client: Arc<str>,
    pub(in crate::app::serve) quota: Quota,
    pub(in crate::app::serve) source: Source,
    pub(in crate::app::serve) entry: String,
    pub(in crate::app::serve) arguments: Value,
    pub(in crate::app::serve) idempotency_key: Option<String>,
    pub(in crate::app::serve) chat: Option<String>,
    pub(in crate::app::serve) now: Timestamp,
}

/// Whether a run was added.
#[derive(Debug)]
pub(in crate::app::serve) enum Inserted {
    New(RunRow),
    /// A run with the same key and the same request exists.
    Existing(RunRow),
    /// A run with the same key and another request exists.
    Conflict(RunRow),
    /// The chat has an unfinished run.
    ChatBusy(String),
    TooManyRuns(u64),
    TooExpensive(Money),
}

impl NewRun {
    /// Creates a run without a quota or a chat: of a schedule or a webhook.
    pub(in crate::app::serve) fn automatic(
        source: Source,
        (tenant, name): (&Arc<str>, &Arc<str>),
        entry: &str,
        arguments: Value,
        idempotency_key: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id: fresh_id().to_string(),
            tenant: Arc::clone(tenant),
            client: Arc::clone(name),
            quota: Quota::default(),
            source,
            entry: entry.to_owned(),
            arguments,
            idempotency_key: Some(idempotency_key),
            chat: None,
            now,
        }
    }
}

impl Store {
    /// Adds a run, unless its key is known or a quota is used up: all in one transaction.
    pub(in crate::app::serve) async fn insert_run(&self, run: NewRun) -> Result<Inserted, StoreError> {
        let inserted = self.database.write(move |tx| insert(tx, &run)).await?;
        self.notify(&[Topic::Queue]);
        Ok(inserted)
    }
}

fn insert(tx: &Transaction<'_>, new: &NewRun) -> rusqlite::Result<Inserted> {
    if let Some(key) = &new.idempotency_key {
        let sql = "SELECT id FROM runs WHERE tenant = ? AND idempotency_key = ?";
        let id: Option<String> = tx.query_row(sql, [&*new.tenant, key.as_str()], |row| row.get(0)).optional()?;
        if let Some(existing) = id.map(|id| find(tx, &id)).transpose()?.flatten() {
            let is_equal =
                existing.entry == new.entry && existing.arguments == new.arguments && existing.chat == new.chat;
            return Ok(if is_equal { Inserted::Existing(existing) } else { Inserted::Conflict(existing) });
        }
    }
    if let Some(chat) = &new.chat {
        let sql = "SELECT id FROM runs WHERE chat = ? AND finished IS NULL";
        if let Some(run) = tx.query_row(sql, [chat], |row| row.get(0)).optional()? {
            return Ok(Inserted::ChatBusy(run));
        }
    }
    if let Some(limit) = new.quota.runs
        && unfinished(tx, &new.tenant)? >= limit
    {
        return Ok(Inserted::TooManyRuns(limit));
    }
    let mut cost_limit = None;
    if let Some(limit) = new.quota.daily_cost {
        let used = cost_of_day(tx, &new.tenant, new.now)?;
        let left = limit.picodollars().saturating_sub(used.picodollars());
        if left == 0 {
            return Ok(Inserted::TooExpensive(limit));
        }
        cost_limit = Some(Money::from_picodollars(left));
    }
    let sql = "INSERT INTO runs (id, tenant, client, source, entry, arguments, idempotency_key, chat, cost_limit, state, created)
               VALUES (:id, :tenant, :client, :source, :entry, :arguments, :key, :chat, :cost_limit, :state, :created)";
    tx.execute(sql, named_params! {
        ":id": new.id, ":tenant": &*new.tenant, ":client": &*new.client, ":source": Json(&new.source), ":entry": new.entry,
        ":arguments": Json(&new.arguments), ":key": new.idempotency_key, ":chat": new.chat,
        ":cost_limit": cost_limit.map(Json), ":state": RunState::Queued, ":created": Millis(new.now),
    })?;
    find(tx, &new.id)?.map(Inserted::New).ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Returns how many runs of a tenant have not finished.
fn unfinished(tx: &Transaction<'_>, tenant: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM runs WHERE tenant = ? AND finished IS NULL";
    tx.query_row(sql, [tenant], |row| row.get(0))
}

/// Returns what the runs of a tenant cost that were created on the day of `now`, in UTC.
fn cost_of_day(tx: &Transaction<'_>, tenant: &str, now: Timestamp) -> rusqlite::Result<Money> {
    let day = now.to_zoned(TimeZone::UTC).start_of_day().map_or(now, |day| day.timestamp());
    let mut statement =
        tx.prepare_cached("SELECT usage FROM runs WHERE tenant = ? AND created >= ? AND usage IS NOT NULL")?;
    let costs = statement.query_map(params![tenant, Millis(day)], |row| row.get::<_, Json<RunUsage>>(0))?;
    costs.map(|usage| usage.map(|Json(usage)| usage.cost.known)).sum()
}
