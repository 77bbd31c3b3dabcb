//! What a run that has ended has left behind: its effects, and the calls that may have had theirs.
//!
//! A run may be long, and it may be shown often: what was read of it is kept until something is added to it.

use std::collections::HashMap;
use std::sync::Mutex;

use super::Shared;
use crate::app::serve::store::StoreError;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::EffectLog;
use crate::observe::journal::{JournalError, Record, UnknownCall};
use crate::plane::dispatch::{unknown_calls, without_content};

/// The maximum number of runs of which something is kept.
const MAX_RUNS: usize = 200;

/// What was read of runs that have ended.
#[derive(Debug, Default)]
pub(in crate::app::serve) struct EndedRuns {
    /// By the last record of the run, and whether its records are reduced.
    unknown: ReadRuns<(i64, bool), Vec<UnknownCall>>,
    /// By the number of the last event.
    effects: ReadRuns<u64, EffectLog>,
}

/// Values that were read of runs, by the id of the run, each with the version that the run had.
#[derive(Debug)]
struct ReadRuns<V, T>(Mutex<HashMap<String, (V, T)>>);

impl<V, T> Default for ReadRuns<V, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: PartialEq, T: Clone> ReadRuns<V, T> {
    fn get(&self, run: &str, version: &V) -> Option<T> {
        let runs = self.0.lock().ignore_poison();
        runs.get(run).filter(|(known, _)| known == version).map(|(_, value)| value.clone())
    }

    /// Keeps the value of a run; with too many runs, those so far are read again.
    fn keep(&self, run: &str, version: V, value: T) {
        let mut runs = self.0.lock().ignore_poison();
        if runs.len() >= MAX_RUNS {
            runs.clear();
        }
        runs.insert(run.to_owned(), (version, value));
    }
}

impl Shared {
    /// Lists the calls of a run that may have had their effect.
    pub(in crate::app::serve) async fn unknown_calls(&self, run: &str) -> Result<Vec<UnknownCall>, JournalError> {
        let version = self.journal.version(run).await?;
        if let Some(known) = self.ended.unknown.get(run, &version) {
            return Ok(known);
        }
        let calls = unknown_calls(&self.outlines(run).await?).await;
        self.ended.unknown.keep(run, version, calls.clone());
        Ok(calls)
    }

    /// Returns the calls of a run that may have changed something.
    pub(in crate::app::serve) async fn effects(&self, run: &str) -> Result<EffectLog, StoreError> {
        let version = self.store.last_event(run).await?;
        if let Some(known) = self.ended.effects.get(run, &version) {
            return Ok(known);
        }
        let effects = self.store.effects(run).await?;
        self.ended.effects.keep(run, version, effects.clone());
        Ok(effects)
    }

    /// Returns the records of a run without their content.
    pub(in crate::app::serve) async fn outlines(&self, run: &str) -> Result<Vec<Record>, JournalError> {
        self.journal.read_parts(run, |record| Some(without_content(record))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_until_its_run_has_another_version() {
        let runs = ReadRuns::<u64, &str>::default();
        assert_eq!(runs.get("a", &1), None);
        runs.keep("a", 1, "one");
        assert_eq!((runs.get("a", &1), runs.get("a", &2), runs.get("b", &1)), (Some("one"), None, None));
        runs.keep("a", 2, "two");
        assert_eq!((runs.get("a", &1), runs.get("a", &2)), (None, Some("two")));
    }

    #[test]
    fn values_of_a_bounded_number_of_runs_are_kept() {
        let runs = ReadRuns::<u64, ()>::default();
        (0..=MAX_RUNS).for_each(|run| runs.keep(&run.to_string(), 1, ()));
        assert_eq!(runs.get("0", &1), None);
        assert_eq!(runs.get(&MAX_RUNS.to_string(), &1), Some(()));
    }
}
