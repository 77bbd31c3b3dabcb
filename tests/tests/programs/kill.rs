//! A journaled process that is killed at any point and restarted has the same result, repeats no recorded effect, and makes no effect
//! twice that must not be.
//!
//! The approver of the process looks outside: what may have happened has happened if its line is in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use llm_do::Value;
use llm_do::journal::{FileJournal, Record, SqliteJournal, StepKind};

/// How often the processes with a journal in a file of its own are killed.
const KILLS: usize = 50;

/// How often the processes with a journal in SQLite are killed.
fn sqlite_kills() -> usize {
    std::env::var("LLM_DO_KILLS").map_or(30, |kills| kills.parse().unwrap())
}

/// Where the journal is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Store {
    File,
    Sqlite,
}

/// A run over several processes.
struct JournaledRun {
    case: &'static str,
    store: Store,
    folder: tempfile::TempDir,
}

impl JournaledRun {
    fn new(case: &'static str, store: Store) -> Self {
        Self { case, store, folder: tempfile::tempdir().unwrap() }
    }

    /// The file that the last records are in.
    fn journal(&self) -> PathBuf {
        self.folder.path().join(if self.store == Store::File { "run.jsonl" } else { "runs.db-wal" })
    }

    fn records(&self) -> Vec<Record> {
        match self.store {
            Store::File if !self.journal().exists() => Vec::new(),
            Store::File => FileJournal::read(self.journal()).unwrap().map(Result::unwrap).collect(),
            Store::Sqlite => {
                assert_eq!(self.integrity(), "ok");
                let runs = SqliteJournal::open(self.folder.path().join("runs.db")).unwrap();
                let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
                tokio.block_on(runs.records("run")).unwrap()
            }
        }
    }

    /// Returns what SQLite finds wrong in the file, or "ok".
    fn integrity(&self) -> String {
        let file = rusqlite::Connection::open(self.folder.path().join("runs.db")).unwrap();
        file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap()
    }

    fn start(&self, mode: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journaled"));
        command.args([self.case, mode]).arg(self.folder.path());
        if self.store == Store::Sqlite {
            command.arg("anyone");
        }
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a process to its end, and returns the result.
    fn finish(&self, mode: &str) -> String {
        let output = self.start(mode).wait_with_output().unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.case);
        String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
    }

    /// Kills a process `delay` after its first `effects` effects; returns the result if it finished before.
    fn kill(&self, mode: &str, effects: u64, delay: Duration) -> Option<String> {
        let mut child = self.start(mode);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = lines.by_ref().take(usize::try_from(effects).unwrap()).map(Result::unwrap).last();
        std::thread::sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap();
        lines.map_while(Result::ok).last().or(last).filter(|line| line.starts_with('['))
    }

    /// Returns the effects, with the number of times that each was performed.
    fn effects(&self) -> BTreeMap<String, usize> {
        let mut effects = BTreeMap::new();
        for line in fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default().lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    /// Returns the effects that are recorded as finished.
    fn recorded(&self) -> BTreeSet<String> {
        self.records().iter().filter_map(effect_line).collect()
    }

    /// Returns the effects that the approver approved, by the records.
    fn approved(&self) -> BTreeSet<String> {
        let by_approver = |record: &Record| record.kind == StepKind::Approval && record.value["by"] == "approver";
        self.records().into_iter().filter(by_approver).flat_map(|record| approved_effects(&record)).collect()
    }

    /// Returns the contents of the worker files that the run created, by name.
    fn worker_files(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.folder.path().join("made")).into_iter().flatten().map(Result::unwrap);
        let is_worker_file = |path: &PathBuf| path.extension().is_some_and(|end| end == "worker");
        let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
        let files = files.map(|file| file.path()).filter(is_worker_file).map(read);
        files.map(|(path, text)| (path.rsplit('/').next().unwrap().to_owned(), text)).collect()
    }

    fn is_torn(&self) -> bool {
        self.store == Store::File && !fs::read(self.journal()).unwrap_or_default().ends_with(b"\n")
    }

    /// Returns how many calls began by the records, without a change of the files.
    fn begins(&self) -> usize {
        let copy = Self::new(self.case, self.store);
        let files = fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        for file in files.filter(|file| file.file_type().unwrap().is_file()) {
            fs::copy(file.path(), copy.folder.path().join(file.file_name())).unwrap();
        }
        copy.records().iter().filter(|record| record.kind == StepKind::Begun).count()
    }

    /// Tears what was written last, as a power failure may; returns false if nothing was torn.
    ///
    /// The record that a call begins is on the disk before its effect, so that no power failure takes it back.
    fn tear(&self, random: &mut Rng) -> bool {
        let begins = self.begins();
        let whole = fs::read(self.journal()).unwrap_or_default();
        let end = match self.store {
            Store::File => {
                let mut lines = whole.split_inclusive(|byte| *byte == b'\n').rev();
                let Some(last) = lines.next().filter(|_| lines.next().is_some()) else { return false };
                last.len() / 2
            }
            Store::Sqlite if whole.is_empty() => return false,
            // What the processes share in memory is lost with the power.
            Store::Sqlite => {
                fs::remove_file(self.folder.path().join("runs.db-shm")).unwrap();
                random.usize(0..whole.len().min(20_000))
            }
        };
        fs::write(self.journal(), &whole[..whole.len() - end]).unwrap();
        let is_possible = self.begins() == begins;
        if !is_possible {
            fs::write(self.journal(), &whole).unwrap();
        }
        is_possible
    }
}

/// Checks that no effect was made twice that must not be.
fn assert_made_once(case: &str, effects: &BTreeMap<String, usize>) {
    // A question, and an effect of a tool's own that does not forbid it, may be repeated.
    let may_be_repeated = |line: &str| line.starts_with("asked ") || line.ends_with(" sum");
    for (line, times) in effects {
        assert!(*times == 1 || may_be_repeated(line), "{case}: `{line}` was made {times} times");
    }
}

/// Checks that there is one answer for each call that began, and one more for each unknown outcome; returns the number of calls that
/// had happened.
fn assert_asked_once(case: &str, records: &[Record]) -> usize {
    let (mut begins, mut answers, mut happened) = (BTreeMap::new(), BTreeMap::new(), 0);
    for record in records.iter().filter(|record| ["append", "append_set"].contains(&&*record.name)) {
        let call = record.key.rsplit_once('/').map(|(call, _)| call);
        match record.kind {
            StepKind::Begun => *begins.entry(call).or_insert(0) += 1,
            StepKind::Approval => {
                *answers.entry(call).or_insert(0) += 1;
                if record.value["verdict"].get("happened").is_some() {
                    *begins.entry(call).or_insert(0) += 1;
                    happened += 1;
                }
            }
            _ => {}
        }
    }
    for (call, begins) in begins {
        assert_eq!(answers.get(&call), Some(&begins), "{case}: answers about {call:?}");
    }
    happened
}

/// Returns the line of the effect in a record.
fn effect_line(record: &Record) -> Option<String> {
    // An unknown outcome is not an effect.
    if !record.value["outcome_unknown"].is_null() {
        return None;
    }
    match (record.kind, &*record.name) {
        // The body of a root tool and the result of its run are one record.
        (StepKind::Tool, _) | (StepKind::Result, "append") => Some(appended_line(&record.input)),
        (StepKind::Effect, "sum") => Some(format!("{} sum", record.input.as_str().unwrap())),
        (StepKind::Input, _) => Some(format!("asked {}", record.input.as_str().unwrap())),
        _ => None,
    }
}

/// Returns the line that a tool adds for these arguments, after the edit of the approver.
fn appended_line(input: &Value) -> String {
    if let Some(line) = input["line"].as_str() {
        return line.strip_prefix("edit ").map_or_else(|| line.to_owned(), |what| format!("edited {what}"));
    }
    let mut words: Vec<_> = input["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    words.sort_unstable();
    format!("set {}", words.join(" "))
}

/// Returns the effects that an approval record allows.
fn approved_effects(record: &Record) -> Vec<String> {
    match &*record.name {
        "append" | "append_set" => vec![appended_line(&record.input)],
        "append_all" => vec![format!("{} sum", record.input["of"].as_str().unwrap())],
        _ => Vec::new(),
    }
}

#[derive(Default)]
struct Figures {
    runs: usize,
    kills: usize,
    resumed: usize,
    replayed: usize,
    effects: usize,
    repeated: usize,
    happened: usize,
    torn: usize,
    torn_by_test: usize,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, kills, resumed, replayed, effects, repeated, happened, torn, torn_by_test } = self;
        writeln!(
            f,
            "{runs} runs, killed {kills} times, resumed {resumed} times; {effects} effects, of which {repeated} \
             unrecorded ones that may be were repeated; {happened} had happened by the word of the approver, none of these made twice; \
             {replayed} recorded effects in resumed processes, none repeated; {torn} torn lines, {torn_by_test} torn by the test"
        )
    }
}

/// Kills the processes of a run until it finishes or `kills` is reached, then lets it finish; returns it with its result.
fn kill_until_finished(
    (case, store): (&'static str, Store),
    kills: usize,
    random: &mut Rng,
    figures: &mut Figures,
) -> (JournaledRun, String) {
    let run = JournaledRun::new(case, store);
    figures.runs += 1;
    loop {
        let (before, recorded) = (run.effects(), run.recorded());
        figures.resumed += usize::from(!recorded.is_empty());
        figures.replayed += recorded.len();
        let is_last = figures.kills >= kills;
        let delay = Duration::from_micros(random.u64(0..4_000));
        let result =
            if is_last { Some(run.finish("prompt")) } else { run.kill("prompt", 1 + random.u64(0..20), delay) };
        let after = run.effects();
        for line in &recorded {
            assert_eq!(after.get(line), before.get(line), "{case}: `{line}` is recorded and was repeated");
        }
        assert_made_once(case, &after);
        if let Some(result) = result {
            figures.happened += assert_asked_once(case, &run.records());
            assert_eq!(after.keys().cloned().collect::<BTreeSet<_>>(), run.recorded(), "{case}");
            figures.effects += after.values().sum::<usize>();
            figures.repeated += after.values().map(|times| times - 1).sum::<usize>();
            return (run, result);
        }
        figures.kills += 1;
        if run.is_torn() {
            figures.torn += 1;
        } else if random.u64(0..4) == 0 && run.tear(random) {
            figures.torn_by_test += 1;
        }
    }
}

/// Kills a long run again and again, and writes what happened to a file.
fn assert_same_at_any_point(store: Store, kills: usize, report: &str) {
    let uninterrupted = JournaledRun::new("ledger", store);
    let result = uninterrupted.finish("prompt");
    assert!(uninterrupted.effects().values().all(|times| *times == 1));
    assert_eq!(uninterrupted.effects().len(), 30, "{:?}", uninterrupted.effects());

    let (mut random, mut figures) = (Rng::with_seed(0x9E37_79B9_7F4A_7C15), Figures::default());
    while figures.kills < kills {
        assert_eq!(kill_until_finished(("ledger", store), kills, &mut random, &mut figures).1, result);
    }
    assert!(figures.resumed > kills / 2, "{figures}");
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(report), figures.to_string()).unwrap();
}

#[test]
fn a_run_that_is_killed_at_any_point_and_resumed_has_the_same_result() {
    assert_same_at_any_point(Store::File, KILLS, "kill.txt");
}

#[test]
fn a_run_in_a_file_of_many_that_is_killed_at_any_point_and_resumed_has_the_same_result() {
    assert_same_at_any_point(Store::Sqlite, sqlite_kills(), "kill_sqlite.txt");
}

/// Kills a case after each of its effects, and compares each resumed run with an uninterrupted one.
fn assert_same_after_kills(case: &'static str, expected: &str) {
    for store in [Store::File, Store::Sqlite] {
        assert_same_after_kills_in(case, store, expected);
    }
}

fn assert_same_after_kills_in(case: &'static str, store: Store, expected: &str) {
    let uninterrupted = JournaledRun::new(case, store);
    let result = uninterrupted.finish("prompt");
    assert!(result.contains(expected), "{result}");
    let effects = uninterrupted.effects();
    assert!(effects.values().all(|times| *times == 1), "{effects:?}");
    assert_eq!(uninterrupted.recorded(), effects.keys().cloned().collect(), "{case}");

    // A run with a complete journal performs no effect.
    assert_eq!(uninterrupted.finish("prompt"), result, "{case}");
    assert_eq!(uninterrupted.effects(), effects, "{case}");

    let mut random = Rng::with_seed(0x2545_F491_4F6C_DD1D);
    for first in 1..=effects.len() as u64 {
        let run = JournaledRun::new(case, store);
        let mut finished = run.kill("prompt", first, Duration::from_micros(random.u64(0..2_000)));
        while finished.is_none() {
            let (before, recorded) = (run.effects(), run.recorded());
            finished = if random.u64(0..3) == 0 {
                Some(run.finish("prompt"))
            } else {
                run.kill("prompt", 1 + random.u64(0..3), Duration::from_micros(random.u64(0..2_000)))
            };
            let after = run.effects();
            for line in &recorded {
                assert_eq!(after.get(line), before.get(line), "{case}: `{line}` is recorded and was repeated");
            }
        }
        assert_eq!(finished.unwrap(), result, "{case}, killed after {first}");
        assert_made_once(case, &run.effects());
        // No one approves the user's own call.
        if case != "root_tool" {
            assert_asked_once(case, &run.records());
        }
        assert_eq!(run.effects().into_keys().collect::<Vec<_>>(), effects.keys().cloned().collect::<Vec<_>>());
        assert_eq!(run.worker_files(), uninterrupted.worker_files());
    }
}

#[test]
fn denials_and_edits_are_replayed() {
    assert_same_after_kills("refused", "five is not to be");
}

#[test]
fn denials_returned_to_the_model_are_replayed() {
    assert_same_after_kills("dared", "two is not to be");
}

#[test]
fn recorded_answers_of_the_user_are_replayed() {
    assert_same_after_kills("answered", "the third answer");
}

#[test]
fn workers_are_created_once_and_their_files_are_complete() {
    assert_same_after_kills("makes", "a worker named `helper` already exists");
}

#[test]
fn arguments_in_another_order_are_the_same_arguments() {
    assert_same_after_kills("unordered", "16");
}

#[test]
fn a_recorded_root_tool_is_not_repeated() {
    assert_same_after_kills("root_tool", "4");
}

#[test]
fn no_mode_runs_calls_that_only_another_mode_approved() {
    const MODES: [&str; 5] = ["approve_all", "reject_all", "prompt", "reject_all", "approve_all"];
    let result = JournaledRun::new("moded", Store::File).finish("prompt");
    let mut random = Rng::with_seed(0xD1B5_4A32_D192_ED03);
    let (mut rejected, mut performed) = (0, 0);
    for _ in 0..6 {
        let run = JournaledRun::new("moded", Store::File);
        for mode in MODES.iter().cycle().take(15) {
            let (before, recorded, approved) = (run.effects(), run.recorded(), run.approved());
            let finished = run.kill(mode, 1 + random.u64(0..3), Duration::from_micros(random.u64(0..1_000)));
            let after = run.effects();
            for line in &recorded {
                assert_eq!(after.get(line), before.get(line), "`{line}` is recorded and was repeated");
            }
            let new_effects =
                after.iter().filter(|(line, times)| before.get(*line) != Some(times)).map(|(line, _)| line);
            let allowed = match *mode {
                "approve_all" => continue,
                "reject_all" => approved,
                _ => run.approved(),
            };
            for line in new_effects {
                assert!(allowed.contains(line), "`{line}` was performed in mode {mode}; approved: {allowed:?}");
                performed += 1;
            }
            // What may have happened is reported.
            let is_refused = |result: &str| result.contains("mode rejects every call") || result.contains("is unknown");
            if *mode == "reject_all" && finished.is_some_and(|result| is_refused(&result)) {
                rejected += 1;
            }
        }
        assert_eq!(run.finish("approve_all"), result);
        assert_made_once("moded", &run.effects());
    }
    assert!(rejected > 5 && performed > 5, "{rejected} runs were rejected, {performed} approved effects performed");
}
