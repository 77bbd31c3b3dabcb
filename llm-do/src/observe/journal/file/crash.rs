//! Crashes of a simulated disk, at every operation: what was synced is there again, and nothing that was never written is.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::disk::Disk;
use super::open::prepare;
use super::records::{Forgotten, Records};
use super::writer::join;
use crate::observe::journal::{Record, StepKind, StepSpec};

/// What a disk writes as a whole, or not at all.
const SECTOR: usize = 512;

/// Numbers that are the same in every run of the test.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// A sync that a test leaves out, to see that another test would notice.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sync {
    Header,
    Name,
    CutOff,
    Lines,
}

/// A file, with all that it has been since the last sync.
#[derive(Clone, Debug)]
struct File {
    /// The first is what is on the disk for sure, the last is what a reader sees.
    versions: Vec<Vec<u8>>,
    is_named: bool,
}

#[derive(Clone)]
struct SimulatedDisk {
    file: Arc<Mutex<File>>,
    /// How many operations are left before the power is lost.
    left: Arc<Mutex<usize>>,
    /// The syncs that do nothing: by what was written last.
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
        // Lost in the middle of a write, any part of it may be on the disk.
        self.operate()
    }

    fn cut_off(&mut self, length: u64) -> io::Result<()> {
        self.change(|file| file.truncate(usize::try_from(length).unwrap()));
        self.last = Some(Sync::CutOff);
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

/// Returns what is on the disk after a loss of power: of each sector, and of the length, any version since the last sync.
fn crashed(file: &File, chance: &mut Chance) -> File {
    let empty = File { versions: vec![Vec::new()], is_named: false };
    if !file.is_named && chance.below(2) == 0 {
        return empty;
    }
    let length = file.versions[chance.below(file.versions.len())].len();
    let mut bytes = vec![0; length];
    for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
        let version = &file.versions[chance.below(file.versions.len())];
        let written = version.get(number * SECTOR..).unwrap_or_default();
        let common = written.len().min(sector.len());
        sector[..common].copy_from_slice(&written[..common]);
    }
    File { versions: vec![bytes], is_named: file.is_named }
}

/// What was written in all processes so far, by key.
type Written = BTreeMap<Arc<str>, Known>;

/// What is known of one key.
struct Known {
    line: String,
    /// Whether its effect was seen to end.
    has_ended: bool,
    /// Whether a line forgets it; that line may be lost until it is known to be on the disk.
    is_forgotten: Option<Forgetting>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Forgetting {
    Asked,
    Done,
}

/// Returns a line of a length of its own.
fn line(number: usize, chance: &mut Chance) -> (Arc<str>, String) {
    let step = StepSpec::new("main", 0, StepKind::Tool, "a", json!(number));
    let value = json!(format!("{number} {}", "x".repeat(chance.below(900))));
    let record = Record::new(step, value).unwrap();
    (Arc::clone(&record.key), serde_json::to_string(&record).unwrap() + "\n")
}

/// One process: opens the file, checks what is in it, and appends until the power is lost.
fn process(
    disk: &mut SimulatedDisk,
    written: &mut Written,
    next: &mut usize,
    chance: &mut Chance,
) -> Result<(), String> {
    let listed = list(disk);
    let replay = match prepare(disk, Path::new("run.jsonl")) {
        Ok(replay) => replay,
        Err(crate::journal::JournalError::Io { .. }) => return Ok(()),
        Err(error) => return Err(format!("cannot be opened: {error}")),
    };
    let found: BTreeMap<_, _> = replay.records().map(|record| (Arc::clone(&record.key), record)).collect();
    if !listed.is_empty() && !found.keys().eq(&listed) {
        return Err(format!("a listing has {listed:?}, and the journal {:?}", found.keys()));
    }
    check(&found, written)?;
    // What is not there did not end, and runs again under the same key.
    let mut lost: Vec<_> = written.keys().filter(|key| !found.contains_key(*key)).cloned().collect();
    for _ in 0..=chance.below(4) {
        let mut batch = Vec::new();
        for _ in 0..=chance.below(3) {
            let again = lost.pop().map(|key| (Arc::clone(&key), written[&key].line.clone()));
            *next += usize::from(again.is_none());
            batch.push(again.unwrap_or_else(|| line(*next, chance)));
        }
        for (key, line) in &batch {
            let known = Known { line: line.clone(), has_ended: false, is_forgotten: None };
            written.insert(Arc::clone(key), known);
        }
        let mut text = batch.iter().fold(Vec::new(), |text, (_, line)| join(text, line.as_bytes()));
        let forgotten = (chance.below(3) == 0).then(|| forget(written, chance)).flatten();
        if let Some((_, line)) = &forgotten {
            text = join(text, line);
        }
        if disk.append(&text).is_err() {
            return Ok(());
        }
        for (key, _) in batch {
            written.get_mut(&key).unwrap().has_ended = true;
        }
        if let Some((key, _)) = forgotten {
            written.get_mut(&key).unwrap().is_forgotten = Some(Forgetting::Done);
        }
    }
    Ok(())
}

/// Returns the keys that a listing of the journal shows, sorted; none if it cannot be listed.
fn list(disk: &SimulatedDisk) -> Vec<Arc<str>> {
    let open = || Records::new("run.jsonl".into(), disk.reader().unwrap(), disk.length().unwrap()).ok();
    let (Some(first), Some(second)) = (open(), open()) else { return Vec::new() };
    let mut keys: Vec<_> = second.without(first.forgotten()).map_while(Result::ok).map(|record| record.key).collect();
    keys.sort();
    keys
}

/// Checks what is there after a crash, and notes what became of what was in flight.
fn check(found: &BTreeMap<Arc<str>, &Record>, written: &mut Written) -> Result<(), String> {
    for (key, record) in found {
        let Some(known) = written.get(key) else { return Err(format!("{key} was never written")) };
        if serde_json::to_string(record).unwrap() + "\n" != known.line {
            return Err(format!("{key} is not what was written"));
        }
    }
    for (key, known) in written {
        let is_there = found.contains_key(key);
        match (known.is_forgotten, is_there) {
            (Some(Forgetting::Done), true) => return Err(format!("{key} was forgotten, and is there again")),
            (Some(Forgetting::Asked), true) => known.is_forgotten = None,
            (Some(_), false) => known.is_forgotten = Some(Forgetting::Done),
            (None, false) if known.has_ended => return Err(format!("{key} was seen to end, and is lost")),
            (None, _) => {}
        }
    }
    Ok(())
}

/// Returns a key that was seen to end, if there is any, and the line that forgets it.
fn forget(written: &mut Written, chance: &mut Chance) -> Option<(Arc<str>, Vec<u8>)> {
    let mut ended: Vec<_> =
        written.iter_mut().filter(|(_, known)| known.has_ended && known.is_forgotten.is_none()).collect();
    let place = chance.below(ended.len().max(1));
    let (key, known) = ended.get_mut(place)?;
    known.is_forgotten = Some(Forgetting::Asked);
    let line = Forgotten { forget: vec![Arc::clone(key)], time: jiff::Timestamp::UNIX_EPOCH };
    Some((Arc::clone(key), [&serde_json::to_vec(&line).unwrap()[..], b"\n"].concat()))
}

/// Loses the power again and again, at whatever operation; returns what went wrong.
fn crash_often(seed: u64, without: Option<Sync>) -> Result<(), String> {
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ (seed << 20 | seed << 3 | 1));
    let mut file = File { versions: vec![Vec::new()], is_named: false };
    let (mut written, mut next) = (Written::new(), 0);
    for _ in 0..8 {
        let mut disk = SimulatedDisk::new(file.clone(), chance.below(16), without);
        process(&mut disk, &mut written, &mut next, &mut chance)?;
        file = crashed(&disk.file.lock().unwrap(), &mut chance);
    }
    let mut disk = SimulatedDisk::new(file, usize::MAX, None);
    process(&mut disk, &mut written, &mut next, &mut chance)
}

#[test]
fn what_was_seen_to_end_is_there_after_any_crash_and_the_file_can_always_be_opened() {
    for seed in 0..1_000 {
        assert_eq!(crash_often(seed, None), Ok(()), "seed {seed}");
    }
}

#[test]
fn without_any_one_of_its_syncs_something_would_be_lost() {
    for without in [Sync::Header, Sync::Name, Sync::CutOff, Sync::Lines] {
        let is_noticed = (0..4_000).any(|seed| crash_often(seed, Some(without)).is_err());
        assert!(is_noticed, "the sync of {without:?} is not needed, or not tested");
    }
}
