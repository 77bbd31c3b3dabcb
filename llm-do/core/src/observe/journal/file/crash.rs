//! Power losses of a simulated disk, at every operation: synced data survives, and data that was not written never
//! appears.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::disk::Disk;
use super::open::prepare;
use super::records::{ForgetLine, Records};
use super::writer::join;
use crate::observe::journal::{Record, StepKind, StepSpec};

/// The unit in bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// A deterministic random number generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// A sync that a test leaves out, to prove that the tests detect it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sync {
    Header,
    Name,
    Truncate,
    Lines,
}

/// A file with all its versions since the last sync.
#[derive(Clone, Debug)]
struct File {
    /// The first version is synced, the last is the one that readers see.
    versions: Vec<Vec<u8>>,
    is_named: bool,
}

#[derive(Clone)]
struct SimulatedDisk {
    file: Arc<Mutex<File>>,
    /// The number of operations before the power is lost.
    left: Arc<Mutex<usize>>,
    /// The kind of sync that does nothing; the kind depends on the last operation.
    without: Option<Sync>,
    last: Option<Sync>,
}

impl SimulatedDisk {
    fn new(file: File, left: usize, without: Option<Sync>) -> Self {
        Self { file: Arc::new(Mutex::new(file)), left: Arc::new(Mutex::new(left)), without, last: None }
    }

    fn operate(&self) -> io::Result<()> {
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1).ok_or_else(|| io::Error::other("the power was lost"))?;
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut file = self.file.lock().unwrap();
        let mut bytes = file.versions.last().unwrap().clone();
        change(&mut bytes);
        file.versions.push(bytes);
    }
}

impl Disk for SimulatedDisk {
    fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.file.lock().unwrap().versions.last().unwrap().clone())))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.lock().unwrap().versions.last().unwrap().len() as u64)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = usize::try_from(at).unwrap();
        self.change(|file| {
            file.resize(file.len().max(at + bytes.len()), 0);
            file[at..at + bytes.len()].copy_from_slice(bytes);
        });
        self.last = Some(if at == 0 { Sync::Header } else { Sync::Lines });
        // If the power is lost during the write, any part of it may be on the disk.
        self.operate()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.change(|file| file.truncate(usize::try_from(length).unwrap()));
        self.last = Some(Sync::Truncate);
        self.operate()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.operate()?;
        if self.without.is_none() || self.without != self.last {
            let mut file = self.file.lock().unwrap();
            let last = file.versions.len() - 1;
            file.versions.drain(..last);
        }
        Ok(())
    }

    fn sync_name(&mut self) -> io::Result<()> {
        self.operate()?;
        if self.without != Some(Sync::Name) {
            self.file.lock().unwrap().is_named = true;
        }
        Ok(())
    }
}

/// Returns the file after a loss of power: each sector, and the length, is of any version since the last sync.
fn crashed(file: &File, rng: &mut Rng) -> File {
    let empty = File { versions: vec![Vec::new()], is_named: false };
    if !file.is_named && rng.below(2) == 0 {
        return empty;
    }
    let length = file.versions[rng.below(file.versions.len())].len();
    let mut bytes = vec![0; length];
    for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
        let version = &file.versions[rng.below(file.versions.len())];
        let written = version.get(number * SECTOR..).unwrap_or_default();
        let common = written.len().min(sector.len());
        sector[..common].copy_from_slice(&written[..common]);
    }
    File { versions: vec![bytes], is_named: file.is_named }
}

/// The records that all processes wrote so far, by key.
type Written = BTreeMap<Arc<str>, WrittenRecord>;

struct WrittenRecord {
    line: String,
    /// Whether the write was reported as synced.
    is_acknowledged: bool,
    /// The state of a line that forgets the record; it may be lost until it is synced.
    forgotten: Option<ForgetState>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ForgetState {
    Written,
    Synced,
}

/// Returns a record of random length, as a line.
fn line(number: usize, rng: &mut Rng) -> (Arc<str>, String) {
    let step = StepSpec::new("main", 0, StepKind::Tool, "a", json!(number));
    let value = json!(format!("{number} {}", "x".repeat(rng.below(900))));
    let record = Record::new(step, value).unwrap();
    (Arc::clone(&record.key), serde_json::to_string(&record).unwrap() + "\n")
}

/// One process: opens the file, checks what is in it, and appends until the power is lost.
fn process(disk: &mut SimulatedDisk, written: &mut Written, next: &mut usize, rng: &mut Rng) -> Result<(), String> {
    let listed = list(disk);
    let replay = match prepare(disk, Path::new("run.jsonl")) {
        Ok(replay) => replay,
        Err(crate::observe::journal::JournalError::Io { .. }) => return Ok(()),
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    let found: BTreeMap<_, _> = replay.records().map(|record| (Arc::clone(&record.key), record)).collect();
    if !listed.is_empty() && !found.keys().eq(&listed) {
        return Err(format!("`read` returned {listed:?}, and `open` {:?}", found.keys()));
    }
    check(&found, written)?;
    // The effects of lost records run again under the same keys.
    let mut lost: Vec<_> = written.keys().filter(|key| !found.contains_key(*key)).cloned().collect();
    for _ in 0..=rng.below(4) {
        let mut batch = Vec::new();
        for _ in 0..=rng.below(3) {
            let again = lost.pop().map(|key| (Arc::clone(&key), written[&key].line.clone()));
            *next += usize::from(again.is_none());
            batch.push(again.unwrap_or_else(|| line(*next, rng)));
        }
        for (key, line) in &batch {
            let known = WrittenRecord { line: line.clone(), is_acknowledged: false, forgotten: None };
            written.insert(Arc::clone(key), known);
        }
        let mut text = batch.iter().fold(Vec::new(), |text, (_, line)| join(text, line.as_bytes()));
        let forgotten = (rng.below(3) == 0).then(|| forget(written, rng)).flatten();
        if let Some((_, line)) = &forgotten {
            text = join(text, line);
        }
        if disk.append(&text).is_err() {
            return Ok(());
        }
        for (key, _) in batch {
            written.get_mut(&key).unwrap().is_acknowledged = true;
        }
        if let Some((key, _)) = forgotten {
            written.get_mut(&key).unwrap().forgotten = Some(ForgetState::Synced);
        }
    }
    Ok(())
}

/// Returns the sorted keys of the records that `FileJournal::read` would return; empty if it would fail.
fn list(disk: &SimulatedDisk) -> Vec<Arc<str>> {
    let open = || Records::new("run.jsonl".into(), disk.reader().unwrap(), disk.length().unwrap()).ok();
    let (Some(first), Some(second)) = (open(), open()) else { return Vec::new() };
    let mut keys: Vec<_> = second.without(first.forgotten()).map_while(Result::ok).map(|record| record.key).collect();
    keys.sort();
    keys
}

/// Checks the records after a crash, and updates the states of forget lines that were not synced.
fn check(found: &BTreeMap<Arc<str>, &Record>, written: &mut Written) -> Result<(), String> {
    for (key, record) in found {
        let Some(known) = written.get(key) else { return Err(format!("{key} was never written")) };
        if serde_json::to_string(record).unwrap() + "\n" != known.line {
            return Err(format!("{key} differs from what was written"));
        }
    }
    for (key, known) in written {
        let is_found = found.contains_key(key);
        match (known.forgotten, is_found) {
            (Some(ForgetState::Synced), true) => return Err(format!("{key} was forgotten, but is still recorded")),
            (Some(ForgetState::Written), true) => known.forgotten = None,
            (Some(_), false) => known.forgotten = Some(ForgetState::Synced),
            (None, false) if known.is_acknowledged => return Err(format!("{key} was acknowledged, but is lost")),
            (None, _) => {}
        }
    }
    Ok(())
}

/// Chooses an acknowledged record, if there is one, and returns its key and a line that forgets it.
fn forget(written: &mut Written, rng: &mut Rng) -> Option<(Arc<str>, Vec<u8>)> {
    let mut acknowledged: Vec<_> =
        written.iter_mut().filter(|(_, known)| known.is_acknowledged && known.forgotten.is_none()).collect();
    let place = rng.below(acknowledged.len().max(1));
    let (key, known) = acknowledged.get_mut(place)?;
    known.forgotten = Some(ForgetState::Written);
    let line = ForgetLine { forget: vec![Arc::clone(key)], time: jiff::Timestamp::UNIX_EPOCH };
    Some((Arc::clone(key), [&serde_json::to_vec(&line).unwrap()[..], b"\n"].concat()))
}

/// Loses the power eight times, each at a random operation; returns the first violated claim.
fn crash_often(seed: u64, without: Option<Sync>) -> Result<(), String> {
    let mut rng = Rng(0x9E37_79B9_7F4A_7C15 ^ (seed << 20 | seed << 3 | 1));
    let mut file = File { versions: vec![Vec::new()], is_named: false };
    let (mut written, mut next) = (Written::new(), 0);
    for _ in 0..8 {
        let mut disk = SimulatedDisk::new(file.clone(), rng.below(16), without);
        process(&mut disk, &mut written, &mut next, &mut rng)?;
        file = crashed(&disk.file.lock().unwrap(), &mut rng);
    }
    let mut disk = SimulatedDisk::new(file, usize::MAX, None);
    process(&mut disk, &mut written, &mut next, &mut rng)
}

#[test]
fn acknowledged_records_survive_any_crash_and_the_file_can_always_be_opened() {
    for seed in 0..1_000 {
        assert_eq!(crash_often(seed, None), Ok(()), "seed {seed}");
    }
}

#[test]
fn each_sync_is_necessary() {
    for without in [Sync::Header, Sync::Name, Sync::Truncate, Sync::Lines] {
        let is_detected = (0..4_000).any(|seed| crash_often(seed, Some(without)).is_err());
        assert!(is_detected, "the sync of {without:?} is unnecessary or untested");
    }
}
