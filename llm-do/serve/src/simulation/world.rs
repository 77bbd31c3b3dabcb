//! The environment of the service: it carries effects out, and records violations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::observe::database::simulated::{Condition, SimulatedFile};
use rusqlite::Connection;
use tokio::sync::watch;

use super::plan;

/// The world. Clones share it.
#[derive(Clone)]
pub(super) struct World {
    file: SimulatedFile,
    state: Arc<Mutex<WorldState>>,
}

#[derive(Default)]
struct WorldState {
    /// The runs that have not been seen to end.
    runs: BTreeMap<u32, Run>,
    figures: Figures,
    /// A digest of all requests, in their order.
    history: u64,
    violations: Vec<String>,
}

#[derive(Default)]
struct Run {
    /// The effects that were carried out, by their numbers: the key of the request.
    effects: BTreeMap<u32, String>,
    /// Whether a process began the run and did not set it aside or end it so far.
    is_open: bool,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) ended: u32,
    pub(super) effects: u64,
    /// Requests for effects under a key that was carried out already: the process was interrupted before it recorded that.
    pub(super) requested_again: u64,
    /// How often a process continued a run that another process had not suspended.
    pub(super) takeovers: u64,
}

/// A process's attempt at a run, until it is dropped.
pub(super) struct Attempt {
    world: World,
    run: u32,
    condition: watch::Receiver<Condition>,
}

impl World {
    pub(super) fn new(file: SimulatedFile) -> Self {
        Self { file, state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, WorldState> {
        self.state.lock().ignore_poison()
    }

    /// Notes that a run was added.
    pub(super) fn add(&self, run: u32) {
        self.lock().runs.insert(run, Run::default());
    }

    /// Notes that a process begins or continues a run.
    pub(super) fn attempt(&self, run: u32, condition: watch::Receiver<Condition>) -> Attempt {
        let mut state = self.lock();
        if let Some(known) = state.runs.get_mut(&run)
            && std::mem::replace(&mut known.is_open, true)
        {
            state.figures.takeovers += 1;
        }
        Attempt { world: self.clone(), run, condition }
    }

    /// Carries an effect out once per key, as a service does that receives the key with the request.
    pub(super) fn request(&self, run: u32, effect: u32, key: &str) {
        let is_recorded = || self.file.read(|connection| is_recorded(connection, key));
        let mut state = self.lock();
        state.history = Rng::mix(state.history, (u64::from(run) << 8) | u64::from(effect));
        let violation = match state.runs.get_mut(&run) {
            None => Some("was requested after the run had ended"),
            Some(known) => match known.effects.insert(effect, key.to_owned()) {
                None => {
                    state.figures.effects += 1;
                    None
                }
                Some(earlier) if earlier != key => Some("was carried out twice, under two keys"),
                Some(_) if is_recorded() => Some("was requested again although it is recorded"),
                Some(_) => {
                    state.figures.requested_again += 1;
                    None
                }
            },
        };
        if let Some(violation) = violation {
            state.violations.push(format!("effect {effect} of run {run} {violation}"));
        }
    }

    /// Notes that a run has ended, with this outcome and so many records of effects.
    pub(super) fn end(&self, run: u32, outcome: &str, recorded: u32) {
        let mut state = self.lock();
        let Some(known) = state.runs.remove(&run) else { return };
        state.figures.ended += 1;
        let expected = (format!(r#"{{"result":{}}}"#, plan::result(run)), plan::effects(run));
        let carried_out = u32::try_from(known.effects.len()).unwrap();
        if (outcome, recorded, carried_out) != (&*expected.0, expected.1, expected.1) {
            let text = format!("run {run}: {outcome}, {carried_out} effects, {recorded} records; not {expected:?}");
            state.violations.push(text);
        }
    }

    pub(super) fn is_unfinished(&self, run: u32) -> bool {
        self.lock().runs.contains_key(&run)
    }

    /// Returns whether all runs that were added have been seen to end.
    pub(super) fn is_at_rest(&self) -> bool {
        self.lock().runs.is_empty()
    }

    pub(super) fn unfinished(&self) -> Vec<u32> {
        self.lock().runs.keys().copied().collect()
    }

    pub(super) fn figures(&self) -> Figures {
        self.lock().figures
    }

    pub(super) fn history(&self) -> u64 {
        self.lock().history
    }

    pub(super) fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }
}

/// Mixes a value into a digest.
struct Rng;

impl Rng {
    fn mix(digest: u64, value: u64) -> u64 {
        fastrand::Rng::with_seed(digest ^ value.rotate_left(17)).u64(..)
    }
}

/// Returns whether the step of a key, `RUN/STEP`, is recorded.
fn is_recorded(connection: &Connection, key: &str) -> rusqlite::Result<bool> {
    let (run, step) = key.split_once('/').unwrap();
    let sql = "WITH RECURSIVE list (record) AS (
                   SELECT last FROM journal_runs WHERE id = ?1 AND last > 0
                   UNION ALL SELECT previous FROM list CROSS JOIN journal_records USING (record) WHERE previous > 0)
               SELECT 1 FROM list CROSS JOIN journal_records USING (record) WHERE key = ?2 AND forgotten = 0";
    connection.prepare_cached(sql)?.exists([run, step])
}

impl Drop for Attempt {
    fn drop(&mut self) {
        // A process that died or stalls suspends no run.
        if *self.condition.borrow() == Condition::Running
            && let Some(run) = self.world.lock().runs.get_mut(&self.run)
        {
            run.is_open = false;
        }
    }
}
