//! A run in a file of many answers like a journal in a file of its own, whose tests hold for both.

use std::collections::BTreeSet;
use std::sync::Arc;

use llm_do::journal::{
    FileJournal, Journal, JournalError, JournalOutcome, Record, SqliteJournal, SqliteRun, StepFuture, StepKind,
    StepSpec,
};
use llm_do::{Value, json};
use proptest::prelude::*;

use super::super::journal::{Process, block_on, interrupted, never, returns, tool, trees, values};
use super::folder;

#[derive(Clone, Debug)]
enum Operation {
    Step(Step),
    /// Forgets the record of a step that was made before.
    Forget(prop::sample::Index),
    /// Opens the journal in another process.
    Restart,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn independently")]
struct Step {
    /// Inside of the last step, or of the one that contains that.
    is_inside: bool,
    place: u32,
    name: &'static str,
    input: u8,
    nth: u32,
    is_part: bool,
    is_overlapped: bool,
    is_interrupted: bool,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let names = prop::sample::select(vec!["a", "b", "c/%"]);
    let place = (any::<bool>(), 0..3_u32, names, 0..2_u8, 0..2_u32);
    let flags = (prop::bool::weighted(0.2), any::<bool>(), prop::bool::weighted(0.1));
    let step =
        (place, flags).prop_map(|((is_inside, place, name, input, nth), (is_part, is_overlapped, is_interrupted))| {
            Operation::Step(Step { is_inside, place, name, input, nth, is_part, is_overlapped, is_interrupted })
        });
    let forget = any::<prop::sample::Index>().prop_map(Operation::Forget);
    let operation = prop_oneof![8 => step, 1 => forget, 1 => Just(Operation::Restart)];
    prop::collection::vec(operation, 1..20)
}

impl Step {
    fn spec(&self, last: Option<&StepSpec>) -> StepSpec {
        let parent: Arc<str> = match last {
            Some(last) if self.is_inside => Arc::clone(&last.key),
            _ => "main".into(),
        };
        let spec = StepSpec::new(parent, self.place, StepKind::Call, self.name, json!([self.input])).nth(self.nth);
        let spec = if self.is_part { spec.within(StepKind::Approval, "approval") } else { spec };
        if self.is_overlapped {
            spec.overlap();
        }
        spec
    }
}

/// Makes a step, and returns what a caller sees.
async fn make(
    journal: &dyn Journal,
    step: &Step,
    last: Option<&StepSpec>,
    value: usize,
) -> Result<Option<Value>, String> {
    let local = if step.is_interrupted { interrupted() } else { returns(json!(value)) };
    journal.step(step.spec(last), local).await.map(JournalOutcome::into_value).map_err(describe)
}

/// Two calls at one place may be named in any order, so the recorded one is left out.
fn describe(error: JournalError) -> String {
    match error {
        JournalError::Diverged { place, found, .. } => format!("{found} diverged at {place}"),
        error => error.to_string(),
    }
}

/// What a journal knows of a step besides its value.
async fn state(journal: &dyn Journal, step: &StepSpec) -> (bool, bool, Option<Value>, bool, Option<String>) {
    let unused = journal.unused("main").map(describe);
    let has_steps = journal.has_recorded_steps(&step.key);
    (journal.is_replaying(), journal.is_recorded(&step.key), journal.recorded(&step.key).await, has_steps, unused)
}

fn without_times(records: impl IntoIterator<Item = Record>) -> Vec<String> {
    let text = |record: Record| {
        let mut record = json!(record);
        record.as_object_mut().unwrap().remove("time");
        record.to_string()
    };
    records.into_iter().map(text).collect()
}

async fn run(runs: &SqliteJournal) -> SqliteRun {
    runs.run("1").await.unwrap()
}

/// Makes the same steps in both journals; fails where they differ.
async fn compare(operations: Vec<Operation>) {
    let ((folder, path), own) = (folder(), "own.jsonl");
    let own = || FileJournal::open(folder.path().join(own)).unwrap();
    let runs = SqliteJournal::open(&path).unwrap();
    let (mut file, mut sqlite) = (own(), run(&runs).await);
    let mut made: Vec<StepSpec> = Vec::new();
    for (value, operation) in operations.into_iter().enumerate() {
        match operation {
            Operation::Step(step) => {
                let last = made.last().cloned();
                let expected = make(&file, &step, last.as_ref(), value).await;
                assert_eq!(make(&sqlite, &step, last.as_ref(), value).await, expected, "{step:?}");
                made.push(step.spec(last.as_ref()));
            }
            Operation::Forget(index) if !made.is_empty() => {
                let keys = vec![Arc::clone(&index.get(&made).key)];
                file.forget(keys.clone()).await.unwrap();
                sqlite.forget(keys).await.unwrap();
            }
            Operation::Forget(_) => {}
            Operation::Restart => {
                drop(file);
                (file, sqlite) = (own(), run(&runs).await);
            }
        }
        for step in &made {
            assert_eq!(state(&sqlite, step).await, state(&file, step).await, "{step}");
        }
    }
    drop(file);
    let expected = FileJournal::read(folder.path().join("own.jsonl")).unwrap().map(Result::unwrap);
    assert_eq!(without_times(runs.records("1").await.unwrap()), without_times(expected));
}

/// A journal whose process dies once a number of effects are recorded.
#[derive(Debug)]
struct Mortal {
    run: SqliteRun,
    records: usize,
}

#[llm_do::async_trait]
impl Journal for Mortal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if self.run.recorded() >= self.records {
            std::future::pending::<()>().await;
        }
        self.run.step(step, local).await
    }

    fn is_replaying(&self) -> bool {
        self.run.is_replaying()
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        self.run.unused(parent)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_in_a_file_of_many_answers_like_one_in_a_file_of_its_own(operations in operations()) {
        // Waits for other calls time out immediately.
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        paused.block_on(compare(operations));
    }

    #[test]
    fn a_run_dropped_anywhere_resumes_to_its_end_and_runs_only_unrecorded_effects(
        tree in trees(),
        at in any::<prop::sample::Index>(),
        reversed in any::<bool>(),
    ) {
        let ((_folder, path), clock) = (folder(), Arc::default());
        let runs = SqliteJournal::open(&path).unwrap();
        let whole = Process::new(block_on(runs.run("whole")).unwrap(), &clock, false);
        let size = block_on(async { whole.run(tree.clone()).await; runs.records("whole").await.unwrap().len() });

        let dying = Mortal { run: block_on(run(&runs)), records: at.index(size + 1) };
        let process = Process::new(dying, &clock, false);
        block_on(async {
            let died = tokio::time::timeout(std::time::Duration::from_millis(20), process.run(tree.clone())).await;
            drop(died);
        });
        // Opened first, which waits for writes of the dropped run.
        let second = Process::new(block_on(run(&runs)), &clock, reversed);
        let kept = values(block_on(runs.records("1")).unwrap());
        let value = block_on(second.run(tree.clone()));
        let ran = second.ran();
        prop_assert!(!second.journal.is_replaying());
        let all = values(block_on(runs.records("1")).unwrap());
        prop_assert!(ran.values().all(|count| *count == 1), "each once");
        let run_and_kept: BTreeSet<_> = ran.keys().chain(kept.keys()).cloned().collect();
        prop_assert_eq!(ran.len() + kept.len(), run_and_kept.len(), "no recorded effect ran");
        prop_assert_eq!(&run_and_kept, &all.keys().cloned().collect::<BTreeSet<_>>());

        let third = Process::new(block_on(run(&runs)), &clock, !reversed);
        prop_assert_eq!(block_on(third.run(tree)), value);
        prop_assert!(third.ran().is_empty() && !third.journal.is_replaying());
    }

    #[test]
    fn numbers_survive_the_file_exactly(bits in any::<u64>(), integer in any::<i64>()) {
        let (_folder, path) = folder();
        let runs = SqliteJournal::open(&path).unwrap();
        let value = json!([f64::from_bits(bits), integer, bits]);
        let step = tool("main", 0, "a", value.clone());
        block_on(async { run(&runs).await.step(step.clone(), returns(value.clone())).await.unwrap() });
        let found = block_on(async { run(&runs).await.step(step, never()).await.unwrap() });
        let found = found.into_value().unwrap();
        prop_assert_eq!(found[0].as_f64().map(f64::to_bits), value[0].as_f64().map(f64::to_bits));
        prop_assert_eq!(found, value);
    }
}
