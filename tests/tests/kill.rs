//! Processes that are killed anywhere and restarted: the result is the same, and recorded effects are not repeated.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use llm_do::Value;
use llm_do::journal::{FileJournal, Record, StepKind};

const KILLS: usize = 50;

/// A deterministic random number generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A run that spans several processes.
struct Run {
    case: &'static str,
    folder: tempfile::TempDir,
}

impl Run {
    fn new(case: &'static str) -> Self {
        Self { case, folder: tempfile::tempdir().unwrap() }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    fn start(&self, mode: &str) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journaled"));
        command.args([self.case, mode]).arg(self.folder.path());
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Runs to the end, and returns the result.
    fn finish(&self, mode: &str) -> String {
        let output = self.start(mode).wait_with_output().unwrap();
        assert!(output.status.success(), "{}: {output:?}", self.case);
        String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
    }

    /// Starts a process and kills it a delay of `later` after its first `after` lines; returns the result if it finished.
    fn kill(&self, mode: &str, after: u64, later: Duration) -> Option<String> {
        let mut child = self.start(mode);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = lines.by_ref().take(usize::try_from(after).unwrap()).map(Result::unwrap).last();
        std::thread::sleep(later);
        child.kill().unwrap();
        child.wait().unwrap();
        lines.map_while(Result::ok).last().or(last).filter(|line| line.starts_with('['))
    }

    /// Returns the number of times that each effect ran.
    fn effects(&self) -> BTreeMap<String, usize> {
        let mut effects = BTreeMap::new();
        for line in fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default().lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    /// Returns the effects that complete lines of the journal record.
    fn recorded(&self) -> BTreeSet<String> {
        if !self.journal().exists() {
            return BTreeSet::new();
        }
        FileJournal::read(self.journal()).unwrap().filter_map(|record| effect(&record.unwrap())).collect()
    }

    /// Returns the effects that the approver approved, according to complete lines of the journal.
    fn approved(&self) -> BTreeSet<String> {
        if !self.journal().exists() {
            return BTreeSet::new();
        }
        let records = FileJournal::read(self.journal()).unwrap().map(Result::unwrap);
        let by_approver = |record: &Record| record.kind == StepKind::Approval && record.value["by"] == "approver";
        records.filter(by_approver).flat_map(|record| approved_by(&record)).collect()
    }

    /// Returns the worker files that were written, by name.
    fn made(&self) -> BTreeMap<String, String> {
        let files = fs::read_dir(self.folder.path().join("made")).into_iter().flatten().map(Result::unwrap);
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|end| end == "worker");
        let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
        let files = files.map(|file| file.path()).filter(is_whole).map(read);
        files.map(|(path, text)| (path.rsplit('/').next().unwrap().to_owned(), text)).collect()
    }

    fn is_torn(&self) -> bool {
        !fs::read(self.journal()).unwrap_or_default().ends_with(b"\n")
    }

    /// Truncates the last line in its middle, as a loss of power may; returns whether there was a record to truncate.
    fn tear(&self) -> bool {
        let whole = fs::read(self.journal()).unwrap_or_default();
        let mut lines = whole.split_inclusive(|byte| *byte == b'\n').rev();
        let Some(last) = lines.next().filter(|_| lines.next().is_some()) else { return false };
        fs::write(self.journal(), &whole[..whole.len() - last.len() / 2]).unwrap();
        true
    }
}

/// Returns the line that an effect logs, from its record.
fn effect(record: &Record) -> Option<String> {
    match (record.kind, &*record.name) {
        // The body of a root tool and the result of the run are one record.
        (StepKind::Tool, _) | (StepKind::Result, "append") => Some(line(&record.input)),
        (StepKind::Effect, "sum") => Some(format!("{} sum", record.input.as_str().unwrap())),
        (StepKind::Input, _) => Some(format!("asked {}", record.input.as_str().unwrap())),
        _ => None,
    }
}

/// Returns the line that a tool logs for this input, after an edit by the approver.
fn line(input: &Value) -> String {
    if let Some(line) = input["line"].as_str() {
        return line.strip_prefix("edit ").map_or_else(|| line.to_owned(), |what| format!("edited {what}"));
    }
    let mut words: Vec<_> = input["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    words.sort_unstable();
    format!("set {}", words.join(" "))
}

/// Returns the effects that a recorded approval permits.
fn approved_by(record: &Record) -> Vec<String> {
    match &*record.name {
        "append" | "append_set" => vec![line(&record.input)],
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
    torn: usize,
    torn_by_the_test: usize,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, kills, resumed, replayed, effects, repeated, torn, torn_by_the_test } = self;
        writeln!(
            f,
            "{runs} runs, killed {kills} times, resumed {resumed} times; {effects} effects, of which {repeated} ran \
             again because they were not recorded; {replayed} recorded effects in resumed processes, none repeated; \
             {torn} incomplete lines, {torn_by_the_test} truncated by the test"
        )
    }
}

/// Kills a run repeatedly, until it ends or `kills` is reached, and then lets it finish; returns the run and its result.
fn killed(case: &'static str, kills: usize, rng: &mut Rng, figures: &mut Figures) -> (Run, String) {
    let run = Run::new(case);
    figures.runs += 1;
    loop {
        let (before, recorded) = (run.effects(), run.recorded());
        figures.resumed += usize::from(!recorded.is_empty());
        figures.replayed += recorded.len();
        let is_over = figures.kills >= kills;
        let later = Duration::from_micros(rng.below(4_000));
        let ended = if is_over { Some(run.finish("prompt")) } else { run.kill("prompt", 1 + rng.below(20), later) };
        let after = run.effects();
        for line in &recorded {
            assert_eq!(after.get(line), before.get(line), "{case}: recorded effect `{line}` ran again");
        }
        if let Some(result) = ended {
            assert_eq!(after.keys().cloned().collect::<BTreeSet<_>>(), run.recorded(), "{case}");
            figures.effects += after.values().sum::<usize>();
            figures.repeated += after.values().map(|times| times - 1).sum::<usize>();
            return (run, result);
        }
        figures.kills += 1;
        if run.is_torn() {
            figures.torn += 1;
        } else if rng.below(4) == 0 && run.tear() {
            figures.torn_by_the_test += 1;
        }
    }
}

#[test]
fn a_process_that_is_killed_anywhere_and_restarted_has_the_same_result() {
    let undisturbed = Run::new("ledger");
    let result = undisturbed.finish("prompt");
    assert!(undisturbed.effects().values().all(|times| *times == 1));
    assert_eq!(undisturbed.effects().len(), 30, "{:?}", undisturbed.effects());

    let (mut rng, mut figures) = (Rng(0x9E37_79B9_7F4A_7C15), Figures::default());
    while figures.kills < KILLS {
        assert_eq!(killed("ledger", KILLS, &mut rng, &mut figures).1, result);
    }
    assert!(figures.resumed > KILLS / 2, "{figures}");
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill.txt"), figures.to_string()).unwrap();
}

/// Kills a case after each of its effects, and compares each resumed run with an undisturbed one.
fn assert_same_result(case: &'static str, expected: &str) {
    let undisturbed = Run::new(case);
    let result = undisturbed.finish("prompt");
    assert!(result.contains(expected), "{result}");
    let effects = undisturbed.effects();
    assert!(effects.values().all(|times| *times == 1), "{effects:?}");
    assert_eq!(undisturbed.recorded(), effects.keys().cloned().collect(), "{case}");

    // A complete journal is only replayed.
    assert_eq!(undisturbed.finish("prompt"), result, "{case}");
    assert_eq!(undisturbed.effects(), effects, "{case}");

    let mut rng = Rng(0x2545_F491_4F6C_DD1D);
    for first in 1..=effects.len() as u64 {
        let run = Run::new(case);
        let mut ended = run.kill("prompt", first, Duration::from_micros(rng.below(2_000)));
        while ended.is_none() {
            let (before, recorded) = (run.effects(), run.recorded());
            ended = if rng.below(3) == 0 {
                Some(run.finish("prompt"))
            } else {
                run.kill("prompt", 1 + rng.below(3), Duration::from_micros(rng.below(2_000)))
            };
            let after = run.effects();
            for line in &recorded {
                assert_eq!(after.get(line), before.get(line), "{case}: recorded effect `{line}` ran again");
            }
        }
        assert_eq!(ended.unwrap(), result, "{case}, killed after {first}");
        assert_eq!(run.effects().into_keys().collect::<Vec<_>>(), effects.keys().cloned().collect::<Vec<_>>());
        assert_eq!(run.made(), undisturbed.made());
    }
}

#[test]
fn denied_and_edited_calls_are_the_same_after_a_restart() {
    assert_same_result("refused", "five is not to be");
}

#[test]
fn denials_sent_to_a_model_are_the_same_after_a_restart() {
    assert_same_result("dared", "two is not to be");
}

#[test]
fn the_user_is_asked_once_unless_the_answer_was_lost() {
    assert_same_result("answered", "the third answer");
}

#[test]
fn workers_are_created_once_and_their_files_are_complete() {
    assert_same_result("makes", "a worker `helper` was made already");
}

#[test]
fn unordered_arguments_are_the_same_after_a_restart() {
    assert_same_result("unordered", "16");
}

#[test]
fn a_root_tool_runs_once() {
    assert_same_result("root_tool", "4");
}

#[test]
fn approvals_by_a_mode_are_not_kept() {
    const MODES: [&str; 5] = ["approve_all", "reject_all", "prompt", "reject_all", "approve_all"];
    let result = Run::new("moded").finish("prompt");
    let mut rng = Rng(0xD1B5_4A32_D192_ED03);
    let (mut rejected, mut had_by_answer) = (0, 0);
    for _ in 0..6 {
        let run = Run::new("moded");
        for mode in MODES.iter().cycle().take(15) {
            let (before, recorded, approved) = (run.effects(), run.recorded(), run.approved());
            let ended = run.kill(mode, 1 + rng.below(3), Duration::from_micros(rng.below(1_000)));
            let after = run.effects();
            for line in &recorded {
                assert_eq!(after.get(line), before.get(line), "recorded effect `{line}` ran again");
            }
            let had = after.iter().filter(|(line, times)| before.get(*line) != Some(times)).map(|(line, _)| line);
            let allowed = match *mode {
                "approve_all" => continue,
                "reject_all" => approved,
                _ => run.approved(),
            };
            for line in had {
                assert!(allowed.contains(line), "`{line}` ran under {mode}; approved: {allowed:?}");
                had_by_answer += 1;
            }
            if *mode == "reject_all" && ended.is_some_and(|ended| ended.contains("is rejected")) {
                rejected += 1;
            }
        }
        assert_eq!(run.finish("approve_all"), result);
    }
    assert!(rejected > 5 && had_by_answer > 5, "{rejected} runs were rejected, {had_by_answer} effects approved");
}
