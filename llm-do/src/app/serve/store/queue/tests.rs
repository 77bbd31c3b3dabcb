use super::{ABANDONED, RUNNABLE};
use crate::app::serve::store::Store;
use crate::observe::database::Database;
use crate::observe::journal::SqliteJournal;

#[test]
fn a_look_into_the_queue_reads_indexes_and_not_all_runs_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let database = Database::open(&path).unwrap();
    let (_journal, _store) = (SqliteJournal::on(database.clone()).unwrap(), Store::new(database).unwrap());
    let file = rusqlite::Connection::open(&path).unwrap();
    for sql in [ABANDONED, RUNNABLE] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        let scans_runs = |step: &String| step.starts_with("SCAN") && step.contains("runs");
        assert!(!steps.iter().any(scans_runs), "{sql}: {steps:?}");
    }
}
