//! Reads the records of runs from the engine, for those who learn from them.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::base::error::BoxError;
use llm_do_core::observe::journal::Record;
use serde::Deserialize;
use serde_json::Value;

use super::client::{EngineClient, EngineError, RestateEngine, quoted};
use super::entry::Entry;
use super::handler::RunInput;
use super::stored_log::{LogReader, bytes};
use crate::http::RunListQuery;
use crate::store::RunState;

/// How many runs are listed together.
const RUNS: usize = 200;
/// How deep calls that run as invocations of their own may be nested.
const MAX_DEPTH: usize = 32;

/// The runs of an application in the engine, with their records.
#[derive(Debug)]
#[doc(hidden)]
pub struct RestateRuns(EngineClient);

/// A run in the engine.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct RestateRun {
    /// The id of its invocation.
    pub id: String,
    /// The name of what was started, if the engine still has what started it.
    pub entry: Option<String>,
    /// Whose run it is, if a service started it.
    pub tenant: Option<String>,
    pub state: RunState,
    created: String,
}

/// A row of the engine's table of invocations.
#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    status: String,
    completion_result: Option<String>,
    created_at: String,
}

/// An id of an invocation.
#[derive(Debug, Deserialize)]
struct Id {
    id: String,
}

impl RestateRuns {
    /// Names the engine.
    #[must_use]
    pub fn of(engine: RestateEngine) -> Self {
        Self(EngineClient::new(engine))
    }

    /// Lists runs that were started before the last of these, the latest first: none at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be asked.
    pub async fn list(&self, query: &RunListQuery, after: Option<&RestateRun>) -> Result<Vec<RestateRun>, BoxError> {
        let sql = format!(
            "SELECT id, status, completion_result, created_at FROM sys_invocation
             WHERE target_service_name = {} AND target_handler_name = 'run' {} ORDER BY created_at DESC, id DESC LIMIT {RUNS}",
            quoted(self.0.runs_service()),
            conditions(query, after)
        );
        let rows: Vec<Row> = self.0.query(&sql).await?;
        let mut runs = Vec::new();
        for row in rows {
            runs.push(self.run(row).await?);
        }
        Ok(runs)
    }

    /// Returns whether a run fits the query, in what [`list`](Self::list) does not check.
    #[must_use]
    pub fn is_asked_for(query: &RunListQuery, run: &RestateRun) -> bool {
        query.state.is_none_or(|state| state == run.state)
            && query.entry.as_ref().is_none_or(|entry| run.entry.as_ref() == Some(entry))
            && query.tenant.as_ref().is_none_or(|tenant| run.tenant.as_ref() == Some(tenant))
    }

    /// Returns the records of a run, those of its calls that run as invocations of their own included.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be asked.
    pub async fn records(&self, run: &str) -> Result<Vec<Record>, BoxError> {
        Ok(self.0.records(run).await?)
    }

    async fn run(&self, row: Row) -> Result<RestateRun, EngineError> {
        let input = self.0.input(&row.id).await?;
        let state = match (row.status.as_str(), row.completion_result.as_deref()) {
            ("completed", Some("success")) => self.0.end(&row.id).await?,
            ("completed", _) => RunState::Failed,
            ("suspended" | "paused", _) => RunState::Waiting,
            ("pending" | "scheduled" | "inboxed", _) => RunState::Queued,
            _ => RunState::Running,
        };
        let (entry, tenant) = input.map(|input| (input.entry, input.tenant)).unzip();
        Ok(RestateRun { id: row.id, entry, tenant: tenant.flatten(), state, created: row.created_at })
    }
}

/// Returns the conditions that the engine's tables can decide.
fn conditions(query: &RunListQuery, after: Option<&RestateRun>) -> String {
    let at = |sign: &str, time: Timestamp| format!("AND created_at {sign} {}", quoted(&time.to_string()));
    let after = after.map(|RestateRun { id, created, .. }| {
        let (id, created) = (quoted(id), quoted(created));
        format!("AND (created_at < {created} OR (created_at = {created} AND id < {id}))")
    });
    let ended = query.state.map(|state| {
        let is = if state.is_finished() { "=" } else { "<>" };
        format!("AND status {is} 'completed'")
    });
    let since = query.since.map(|since| at(">=", since));
    let until = query.until.map(|until| at("<", until));
    [since, until, ended, after].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

impl EngineClient {
    /// Returns the records of a run that a service started.
    pub(crate) async fn records_of_run(&self, run: &str) -> Result<Vec<Record>, EngineError> {
        let sql = format!(
            "SELECT id FROM sys_invocation WHERE target_service_name = {} AND (idempotency_key = {} OR id = {})",
            quoted(self.runs_service()),
            quoted(run),
            quoted(run)
        );
        let found: Vec<Id> = self.query(&sql).await?;
        match found.first() {
            Some(found) => self.records(&found.id).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the records of an invocation and of those that it made, in the order in which the steps ended.
    async fn records(&self, invocation: &str) -> Result<Vec<Record>, EngineError> {
        let (mut records, mut known, mut forgotten) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut level = vec![invocation.to_owned()];
        for _ in 0..MAX_DEPTH {
            for id in &level {
                self.read_log(id, &mut records, &mut forgotten).await?;
            }
            level = self.made_by(&level).await?;
            if level.is_empty() {
                break;
            }
        }
        records.retain(|record: &Record| !forgotten.contains(&record.key) && known.insert(Arc::clone(&record.key)));
        records.sort_by_key(|record| record.time);
        Ok(records)
    }

    /// Adds the records in the log of one invocation, without those that it forgot.
    async fn read_log(
        &self,
        invocation: &str,
        records: &mut Vec<Record>,
        forgotten: &mut HashSet<Arc<str>>,
    ) -> Result<(), EngineError> {
        for entry in self.log(invocation, &LogReader::default()).await?.entries() {
            match entry {
                Entry::Step(step) => {
                    if let Ok(record) = serde_json::from_str::<Record>(step.get()) {
                        forgotten.remove(&record.key);
                        records.push(record);
                    }
                }
                Entry::Forget(keys) => {
                    records.retain(|record| !keys.contains(&record.key));
                    forgotten.extend(keys);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the invocations of single calls that these made.
    async fn made_by(&self, invocations: &[String]) -> Result<Vec<String>, EngineError> {
        let ids: Vec<_> = invocations.iter().map(|id| quoted(id)).collect();
        let sql = format!(
            "SELECT id FROM sys_invocation WHERE target_service_name = {} AND target_handler_name = 'call' AND invoked_by_id IN ({})",
            quoted(self.runs_service()),
            ids.join(", ")
        );
        let found: Vec<Id> = self.query(&sql).await?;
        Ok(found.into_iter().map(|found| found.id).collect())
    }

    /// Returns how a run ended, as its log has it.
    async fn end(&self, invocation: &str) -> Result<RunState, EngineError> {
        let log = self.log(invocation, &LogReader::default()).await?;
        let outcome = log.entries().find_map(|entry| match entry {
            Entry::Outcome(outcome) => Some(crate::store::Outcome::from(outcome.end).state()),
            _ => None,
        });
        Ok(outcome.unwrap_or(RunState::Succeeded))
    }

    /// Returns what started a run.
    async fn input(&self, invocation: &str) -> Result<Option<RunInput>, EngineError> {
        #[derive(Deserialize)]
        struct Command {
            entry_json: Option<String>,
        }
        let sql = format!("SELECT entry_json FROM sys_journal WHERE id = {} AND index = 0", quoted(invocation));
        let first: Vec<Command> = self.query(&sql).await?;
        let command: Option<Value> =
            first.first().and_then(|first| serde_json::from_str(first.entry_json.as_deref()?).ok());
        let payload = command.and_then(|command| bytes(&command["Command"]["Input"]["payload"]));
        Ok(payload.and_then(|payload| serde_json::from_slice(&payload).ok()))
    }
}
