//! The environment of the processes: clients that add runs, people who answer, and the observer of the ends.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::join_all;
use llm_do_core::base::clock::Clock;
use llm_do_core::observe::database::simulated::{Condition, SimulatedFile};
use serde_json::json;
use tokio::sync::watch;

use super::Setting;
use super::plan;
use super::process::SimulatedClock;
use super::world::World;
use crate::access::Quota;
use crate::store::{AnswerOutcome, Inserted, NewRun, Source, Store, WaitFilter, WaitKind};

/// How often runs are added.
const PAUSE: Duration = Duration::from_millis(20);
/// The maximum age of an observed end: longer than a process may stall between the end and the commit.
const WINDOW: Duration = Duration::from_secs(80);

/// Adds all runs, at an even rate.
pub(super) async fn add_runs(setting: Setting, file: SimulatedFile, world: World, clock: SimulatedClock) {
    let (_condition, running) = watch::channel(Condition::Running);
    let store = Store::new(file.open(running)).unwrap();
    let mut added = 0;
    while added < setting.runs {
        tokio::time::sleep(PAUSE).await;
        let due = u128::from(setting.rate) * clock.elapsed().as_millis() / 1_000;
        let due = u32::try_from(due).unwrap().min(setting.runs);
        let inserted = join_all((added..due).map(|run| {
            world.add(run);
            store.insert_run(new_run(run, clock))
        }));
        assert!(inserted.await.into_iter().all(|inserted| matches!(inserted, Ok(Inserted::New(_)))));
        added = due;
    }
}

fn new_run(run: u32, clock: SimulatedClock) -> NewRun {
    NewRun {
        id: format!("run-{run:07}"),
        tenant: "all".into(),
        client: "client".into(),
        quota: Quota::default(),
        source: Source::Client,
        entry: "work".to_owned(),
        arguments: json!({ "run": run }),
        idempotency_key: None,
        chat: None,
        now: clock.now(),
    }
}

/// Answers a part of the open questions each second.
pub(super) async fn answer_questions(seed: u64, file: SimulatedFile, clock: SimulatedClock) {
    let (_condition, running) = watch::channel(Condition::Running);
    let store = Store::new(file.open(running)).unwrap();
    let (mut random, person): (_, Arc<str>) = (Rng::with_seed(seed ^ 1), "person".into());
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let filter = WaitFilter { kind: WaitKind::Question, tenant: None, after: None, limit: 1_000 };
        for wait in store.waits(filter).await.unwrap().rows {
            if random.u32(0..10) < 3 {
                let (asked, by) = ((WaitKind::Question, wait.digest), (Arc::clone(&person), clock.now()));
                let answered = store.answer(&wait.id, None, asked, json!(plan::ANSWER.to_string()), by).await;
                assert!(!matches!(answered.unwrap(), AnswerOutcome::Unknown), "a question is gone: {}", wait.id);
            }
        }
    }
}

/// Compares runs that have ended with their plan.
pub(super) fn look_for_ends(file: &SimulatedFile, world: &World, clock: SimulatedClock) {
    let since = clock.now().checked_sub(WINDOW).unwrap().as_millisecond();
    let ended = file.read(|connection| {
        let sql =
            "SELECT runs.id, outcome, run FROM runs JOIN journal_runs ON journal_runs.id = runs.id WHERE finished >= ?";
        let mut statement = connection.prepare_cached(sql)?;
        let read = |row: &rusqlite::Row<'_>| {
            let id: String = row.get(0)?;
            Ok((id["run-".len()..].parse::<u32>().unwrap(), row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
        };
        statement.query_map([since], read)?.collect::<Result<Vec<_>, _>>()
    });
    for (run, outcome, number) in ended {
        if world.is_unfinished(run) {
            world.end(run, &outcome, recorded_effects(file, number));
        }
    }
}

/// Returns the number of recorded effects of a run, each under a separate key.
fn recorded_effects(file: &SimulatedFile, run: i64) -> u32 {
    // `CROSS JOIN` makes SQLite read the list first; otherwise it would read the records of all runs.
    let sql = "WITH RECURSIVE list (record) AS (
                   SELECT last FROM journal_runs WHERE run = ?1 AND last > 0
                   UNION ALL SELECT previous FROM list CROSS JOIN journal_records USING (record) WHERE previous > 0)
               SELECT count(*), count(DISTINCT key) FROM list CROSS JOIN journal_records USING (record)
               WHERE name = 'effect'";
    let count = |connection: &rusqlite::Connection| {
        connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?)))
    };
    let (records, keys) = file.read(count);
    assert_eq!(records, keys, "an effect is recorded twice");
    records
}
