//! Runs of 500 turns with 40 tools and results of up to 5 MB: they stay within each window by the provider's own count and within bounded
//! memory, and a run that was killed and resumed ends as one that was not.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use llm_do::Value;
use tempfile::TempDir;

const TURNS: &str = "500";
/// The size of the largest results of a run without a journal.
const LARGEST: &str = "5000000";
/// The size of the largest results of a run that is resumed, which reads them again each time.
const LARGEST_RESUMED: &str = "200000";
/// How much memory a run may need, in MiB: its results have more, 125 MB.
const MAX_MIB: u64 = 112;

fn start(window: &str, largest: &str, journal: Option<&Path>) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_long_run"));
    command.args([window, TURNS, largest]).args(journal).stdout(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(run: &Value, key: &str) -> u64 {
    run[key].as_u64().unwrap_or_else(|| panic!("no `{key}` in {run}"))
}

/// Returns what a resumed run has in common with one that was not interrupted.
fn outcome(run: &Value) -> [&Value; 2] {
    [&run["result"], &run["history"]]
}

/// Returns the journal of a whole run at its place in a folder, and what the run has printed.
fn whole(folder: &TempDir, window: &str) -> (Vec<u8>, Value) {
    let journal = folder.path().join("whole.jsonl");
    let run = end(start(window, LARGEST_RESUMED, Some(&journal)));
    assert_eq!(run["result"], "done after turn 499");
    (fs::read(journal).unwrap(), run)
}

#[test]
fn a_long_run_ends_right_within_each_window_and_bounded_memory() {
    let windows = ["8000", "32000", "200000"];
    let runs: Vec<_> = windows.map(|window| (window, start(window, LARGEST, None))).into();
    for (window, child) in runs {
        let run = end(child);
        assert_eq!(run["result"], "done after turn 499", "{window}: {run}");
        assert_eq!((number(&run, "refused"), &run["task_stays"]), (0, &Value::Bool(true)), "{window}: {run}");
        let limit = window.parse::<u64>().unwrap();
        assert!(number(&run, "largest") <= limit && number(&run, "largest") > limit / 4, "{window}: {run}");
        assert!(number(&run, "pages") >= 20, "long results can be read: {window}: {run}");
        if cfg!(target_os = "linux") {
            assert!(number(&run, "peak_mib") < MAX_MIB, "{window}: {run}");
        }
    }
}

#[test]
fn a_long_run_that_is_cut_at_any_record_ends_as_the_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let (records, run) = whole(&folder, "8000");
    let ends: Vec<_> = (1..=records.len()).filter(|end| records[end - 1] == b'\n').collect();
    let cuts = [1, 3, 200, ends.len() / 3, ends.len() / 2 + 1, ends.len() - 2];
    let cut = |lines: usize| {
        let journal = folder.path().join(format!("{lines}.jsonl"));
        fs::write(&journal, &records[..ends[lines - 1]]).unwrap();
        let resumed = end(start("8000", LARGEST_RESUMED, Some(&journal)));
        assert_eq!(outcome(&resumed), outcome(&run), "{lines} of {}", ends.len());
        assert!(number(&resumed, "requests") < number(&run, "requests") || lines <= 3, "{lines}: {resumed}");
    };
    thread::scope(|scope| {
        for some in cuts.chunks(3) {
            scope.spawn(move || some.iter().for_each(|lines| cut(*lines)));
        }
    });
}

#[test]
fn a_long_run_that_is_killed_again_and_again_ends_as_the_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let (records, run) = whole(&folder, "32000");
    let journal = folder.path().join("killed.jsonl");
    for part in 1..=3 {
        let mut child = start("32000", LARGEST_RESUMED, Some(&journal));
        let written = || fs::metadata(&journal).map_or(0, |file| usize::try_from(file.len()).unwrap());
        while written() < records.len() / 4 * part && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(2));
        }
        // SIGKILL, on Unix.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let resumed = end(start("32000", LARGEST_RESUMED, Some(&journal)));
    assert_eq!(outcome(&resumed), outcome(&run));
    assert!(number(&resumed, "requests") < number(&run, "requests"), "{resumed}");
}
