//! The runs that live in the engine Restate.

use llm_do_serve::{RestateEngine, RestateRun, RestateRuns, RunListQuery, RunState};
use tokio::runtime::{Builder, Runtime};

use super::{Each, RunInfo};
use crate::CommandError;
use crate::args::RunFilter;

/// The runs of an application in an engine.
pub(super) struct Engine {
    runs: RestateRuns,
    runtime: Runtime,
}

impl Engine {
    /// Names the engine: `NAME`, the service of the application in it, or `NAME@URL`, with the address of its administration.
    pub(super) fn named(name: &str) -> Result<Self, CommandError> {
        let (name, admin) = name.split_once('@').map_or((name, None), |(name, admin)| (name, Some(admin)));
        let engine = RestateEngine::new(name).map_err(|error| CommandError::Usage(error.to_string()))?;
        let engine = match admin {
            Some(admin) => engine.admin(admin),
            None => engine,
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(CommandError::from_error)?;
        Ok(Self { runs: RestateRuns::of(engine), runtime })
    }

    /// Reads the chosen runs, the latest first.
    pub(super) fn read(&self, filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
        if filter.app_version.is_some() {
            return Err(CommandError::Usage("--app-version: runs in Restate do not have it".to_owned()));
        }
        for id in &filter.run {
            self.read_run(id, each)?;
        }
        if !filter.run.is_empty() {
            return Ok(());
        }
        let query = RunListQuery { since: filter.since, until: filter.until, ..RunListQuery::default() };
        let query = RunListQuery { entry: filter.entry.clone(), tenant: filter.tenant.clone(), ..query };
        // The parser of the option knows the same names.
        let states: Vec<RunState> = filter.state.iter().filter_map(|state| state.parse().ok()).collect();
        let mut last: Option<RestateRun> = None;
        loop {
            let page =
                self.runtime.block_on(self.runs.list(&query, last.as_ref())).map_err(CommandError::from_error)?;
            let Some(end) = page.last().cloned() else { return Ok(()) };
            for run in page.iter().filter(|run| RestateRuns::is_asked_for(&query, run)) {
                if states.is_empty() || states.contains(&run.state) {
                    self.read_run(&run.id, each)?;
                }
            }
            last = Some(end);
        }
    }

    fn read_run(&self, id: &str, each: &mut Each<'_>) -> Result<(), CommandError> {
        let records = self.runtime.block_on(self.runs.records(id)).map_err(CommandError::from_error)?;
        each(&RunInfo { id: Some(id.to_owned()), is_in_chat: false }, &mut records.into_iter().map(Ok))
    }
}
