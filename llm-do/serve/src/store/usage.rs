//! The stored usage of runs.

use llm_do_core::base::usage::RunUsage;
use rusqlite::Transaction;

use super::Json;

/// Returns the values for the columns `usage` and `counted` of a run after an attempt with this usage.
///
/// Neither value is ever lowered: an attempt that ends while it replays has repeated only a part of the usage of
/// earlier attempts.
pub(super) fn raised(
    tx: &Transaction<'_>,
    run: &str,
    used: &RunUsage,
) -> rusqlite::Result<(Json<RunUsage>, Json<RunUsage>)> {
    let raise = |stored: Option<Json<RunUsage>>| Json(stored.map_or(*used, |Json(stored)| larger(stored, *used)));
    let mut statement = tx.prepare_cached("SELECT usage, counted FROM runs WHERE id = ?")?;
    statement.query_row([run], |row| Ok((raise(row.get(0)?), raise(row.get(1)?))))
}

/// Returns the usage with the higher cost; with equal costs, the one with more requests and calls.
fn larger(one: RunUsage, other: RunUsage) -> RunUsage {
    let size = |usage: &RunUsage| (usage.cost.known, usage.model.requests, usage.tool_calls);
    if size(&one) > size(&other) { one } else { other }
}
