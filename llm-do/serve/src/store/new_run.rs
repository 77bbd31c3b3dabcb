//! Adds runs: each once, and within the quotas of its client.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::plane::dispatch::fresh_id;
use llm_do_core::plane::registry::Application;
use llm_do_providers::Money;
use rusqlite::{OptionalExtension, Transaction, named_params, params};
use serde_json::Value;

use super::changes::Changed;
use super::run_state::{RunState, Source};
use super::runs::{RunRow, find};
use super::{Json, Millis, Store, StoreError};
use crate::access::Quota;

/// A run to be started.
#[derive(Clone, Debug)]
pub(crate) struct NewRun {
    pub(crate) id: String,
    pub(crate) tenant: Arc<str>,
    pub(crate) client: Arc<str>,
    pub(crate) quota: Quota,
    pub(crate) source: Source,
    pub(crate) entry: String,
    pub(crate) arguments: Value,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) now: Timestamp,
}

/// Whether a run was added.
#[derive(Debug)]
pub(crate) enum Inserted {
    New(RunRow),
    /// A run with the same key and the same request exists.
    Existing(RunRow),
    /// A run with the same key and another request exists.
    Conflict(RunRow),
    /// The chat has an unfinished run.
    ChatBusy(String),
    OverQuota(QuotaReached),
}

/// The quota of a client that a run would exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum QuotaReached {
    Runs(u64),
    DailyCost(Money),
}

impl NewRun {
    /// Creates a run without a quota or a chat: of a schedule or a webhook.
    pub(crate) fn automatic(
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
    /// Adds a run in one transaction, unless its key is known or a quota is used up.
    pub(crate) async fn insert_run(&self, run: NewRun) -> Result<Inserted, StoreError> {
        self.change(Changed::Queue, move |tx| insert(tx, &run)).await
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
    if let Some(chat) = &new.chat
        && let Some(run) = unfinished_of_chat(tx, chat)?
    {
        return Ok(Inserted::ChatBusy(run));
    }
    let cost_limit = match admit(tx, &new.tenant, new.quota, Money::ZERO, new.now)? {
        Ok(limit) => limit,
        Err(reached) => return Ok(Inserted::OverQuota(reached)),
    };
    let sql =
        "INSERT INTO runs (id, tenant, client, source, entry, arguments, idempotency_key, chat, cost_limit, state,
                   created, admitted, version)
               VALUES (:id, :tenant, :client, :source, :entry, :arguments, :key, :chat, :cost_limit, :state, :created,
                   :created, :version)";
    tx.execute(sql, named_params! {
        ":id": new.id, ":tenant": &*new.tenant, ":client": &*new.client, ":source": Json(&new.source), ":entry": new.entry,
        ":arguments": Json(&new.arguments), ":key": new.idempotency_key, ":chat": new.chat,
        ":cost_limit": cost_limit.map(Json), ":state": RunState::Queued, ":created": Millis(new.now),
        ":version": Application::current().version(),
    })?;
    find(tx, &new.id)?.map(Inserted::New).ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Returns the run of a chat that has not finished: a chat has one message at a time.
pub(super) fn unfinished_of_chat(tx: &Transaction<'_>, chat: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT id FROM runs WHERE chat = ? AND finished IS NULL";
    tx.query_row(sql, [chat], |row| row.get(0)).optional()
}

/// Checks the quotas of a client for a run of a tenant that has cost `used` so far; returns the limit of its whole cost.
pub(super) fn admit(
    tx: &Transaction<'_>,
    tenant: &str,
    quota: Quota,
    used: Money,
    now: Timestamp,
) -> rusqlite::Result<Result<Option<Money>, QuotaReached>> {
    if let Some(limit) = quota.runs
        && unfinished(tx, tenant)? >= limit
    {
        return Ok(Err(QuotaReached::Runs(limit)));
    }
    let Some(limit) = quota.daily_cost else { return Ok(Ok(quota.run_cost)) };
    let spent = cost_of_day(tx, tenant, now)?.picodollars().saturating_add(reserved(tx, tenant)?.picodollars());
    let left = limit.picodollars().saturating_sub(spent);
    if left == 0 {
        return Ok(Err(QuotaReached::DailyCost(limit)));
    }
    let limit = Money::from_picodollars(used.picodollars().saturating_add(left));
    Ok(Ok(Some(quota.run_cost.map_or(limit, |run| run.min(limit)))))
}

/// Returns the reserved cost of the unfinished runs of a tenant.
fn reserved(tx: &Transaction<'_>, tenant: &str) -> rusqlite::Result<Money> {
    let sql = "SELECT cost_limit, usage FROM runs WHERE tenant = ? AND finished IS NULL AND cost_limit IS NOT NULL";
    let mut statement = tx.prepare_cached(sql)?;
    let rest = statement.query_map([tenant], |row| {
        let (Json(limit), usage): (Json<Money>, Option<Json<RunUsage>>) = (row.get(0)?, row.get(1)?);
        let used = usage.map_or(Money::ZERO, |Json(usage)| usage.cost.known);
        Ok(Money::from_picodollars(limit.picodollars().saturating_sub(used.picodollars())))
    })?;
    rest.sum()
}

/// Returns how many runs of a tenant have not finished.
fn unfinished(tx: &Transaction<'_>, tenant: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM runs WHERE tenant = ? AND finished IS NULL";
    tx.query_row(sql, [tenant], |row| row.get(0))
}

/// Returns the cost of the runs of a tenant since they were admitted to the day of `now`.
fn cost_of_day(tx: &Transaction<'_>, tenant: &str, now: Timestamp) -> rusqlite::Result<Money> {
    let sql = "SELECT usage, cost_before FROM runs WHERE tenant = ? AND admitted >= ? AND usage IS NOT NULL";
    let mut statement = tx.prepare_cached(sql)?;
    let costs = statement.query_map(params![tenant, Millis(start_of_day(now))], |row| {
        let (Json(usage), before): (Json<RunUsage>, Option<Json<Money>>) = (row.get(0)?, row.get(1)?);
        let before = before.map_or(0, |Json(before)| before.picodollars());
        Ok(Money::from_picodollars(usage.cost.known.picodollars().saturating_sub(before)))
    })?;
    costs.sum()
}

/// Returns the start of the day of `now`, in UTC.
pub(super) fn start_of_day(now: Timestamp) -> Timestamp {
    now.to_zoned(TimeZone::UTC).start_of_day().map_or(now, |day| day.timestamp())
}
