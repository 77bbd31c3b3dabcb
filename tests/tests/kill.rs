//! A process that is killed wherever it is, and started again, comes to the same and repeats nothing that it recorded.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use llm_do::{FileJournal, Record, StepKind};

const KILLS: usize = 50;

/// Numbers that are the same in every run of the test.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A run that lasts for several processes.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_journaled"));
        command.arg(self.journal()).arg(self.folder.path().join("effects"));
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Runs to the end, and returns the result.
    fn finish(&self) -> String {
        let output = self.start().wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().last().unwrap().to_owned()
    }

    /// Kills a process that has had so many effects, `later`; returns the result if it was there before.
    fn kill(&self, after: u64, later: Duration) -> Option<String> {
        let mut child = self.start();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = lines.by_ref().take(usize::try_from(after).unwrap()).map(Result::unwrap).last();
        std::thread::sleep(later);
        child.kill().unwrap();
        child.wait().unwrap();
        lines.map_while(Result::ok).last().or(last).filter(|line| line.starts_with('['))
    }

    /// How often each effect was had.
    fn effects(&self) -> BTreeMap<String, usize> {
        let mut effects = BTreeMap::new();
        for line in fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default().lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }

    /// The effects that whole lines of the journal say have ended.
    fn recorded(&self) -> BTreeSet<String> {
        if !self.journal().exists() {
            return BTreeSet::new();
        }
        FileJournal::read(self.journal()).unwrap().filter_map(|record| effect(&record.unwrap())).collect()
    }

    fn is_torn(&self) -> bool {
        !fs::read(self.journal()).unwrap_or_default().ends_with(b"\n")
    }

    /// Cuts the last line off in its middle, as a loss of power may; returns whether there was a record to cut.
    fn tear(&self) -> bool {
        let whole = fs::read(self.journal()).unwrap_or_default();
        let mut lines = whole.split_inclusive(|byte| *byte == b'\n').rev();
        let Some(last) = lines.next().filter(|_| lines.next().is_some()) else { return false };
        fs::write(self.journal(), &whole[..whole.len() - last.len() / 2]).unwrap();
        true
    }
}

/// The line of an effect, of a record of one.
fn effect(record: &Record) -> Option<String> {
    match record.kind {
        StepKind::Tool => Some(record.input["line"].as_str().unwrap().to_owned()),
        StepKind::Effect => Some(format!("{} sum", record.input.as_str().unwrap())),
        _ => None,
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
            "{runs} runs, killed {kills} times, resumed {resumed} times; {effects} effects, of which {repeated} were had \
             again, as the journal had no line of them; {replayed} recorded effects found by processes that resumed, \
             none repeated; {torn} torn lines, {torn_by_the_test} torn by the test"
        )
    }
}

/// Kills a run again and again until it ends, and returns its result.
fn killed(chance: &mut Chance, figures: &mut Figures) -> String {
    let run = Run::new();
    figures.runs += 1;
    loop {
        let (before, recorded) = (run.effects(), run.recorded());
        figures.resumed += usize::from(!recorded.is_empty());
        figures.replayed += recorded.len();
        let is_over = figures.kills >= KILLS;
        let later = Duration::from_micros(chance.below(4_000));
        let ended = if is_over { Some(run.finish()) } else { run.kill(1 + chance.below(20), later) };
        let after = run.effects();
        for line in &recorded {
            assert_eq!(after.get(line), before.get(line), "`{line}` is recorded, and was had again");
        }
        if let Some(result) = ended {
            assert_eq!(after.keys().cloned().collect::<BTreeSet<_>>(), run.recorded());
            figures.effects += after.values().sum::<usize>();
            figures.repeated += after.values().map(|times| times - 1).sum::<usize>();
            return result;
        }
        figures.kills += 1;
        if run.is_torn() {
            figures.torn += 1;
        } else if chance.below(4) == 0 && run.tear() {
            figures.torn_by_the_test += 1;
        }
    }
}

#[test]
fn a_process_that_is_killed_anywhere_and_started_again_comes_to_the_same() {
    let undisturbed = Run::new();
    let result = undisturbed.finish();
    assert!(undisturbed.effects().values().all(|times| *times == 1));
    assert_eq!(undisturbed.effects().len(), 30, "{:?}", undisturbed.effects());

    let (mut chance, mut figures) = (Chance(0x9E37_79B9_7F4A_7C15), Figures::default());
    while figures.kills < KILLS {
        assert_eq!(killed(&mut chance, &mut figures), result);
    }
    assert!(figures.resumed > KILLS / 2, "{figures}");
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill.txt"), figures.to_string()).unwrap();
}
