//! Where the instructions of a call go: cachegrind counts by line, and inlined code counts where it was written.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::case::Case;
use crate::counts::by_file;

/// The phases, by what the path of a file contains; the first that matches counts.
const PHASES: &[(&str, &[&str])] = &[
    ("allocate", &["/malloc", "alloc.rs", "raw_vec", "/liballoc", "rust_alloc"]),
    ("copy and compare memory", &["memcpy", "memmove", "memset", "memcmp", "/string/"]),
    (
        "read and write JSON",
        &["base/json", "/serde_json", "/serde_core", "/serde-", "/itoa", "/zmij", "/indexmap", "/ryu"],
    ),
    (
        "decode arguments",
        &["declare/argument", "declare/nesting", "registry/prepared", "declare/tool", "declare/prompt"],
    ),
    ("check the schema", &["declare/schema"]),
    ("find the tool", &["registry", "declared", "/hashbrown", "/foldhash"]),
    ("context and frame", &["plane/context", "dispatch/host", "base/cancellation", "base/mutex"]),
    ("approve", &["plane/approval", "dispatch/approve"]),
    ("limits and usage", &["base/usage"]),
    ("admit", &["dispatch/pipeline", "dispatch/find", "dispatch/limits"]),
    ("perform", &["dispatch/perform", "dispatch/instances", "plane/instance"]),
    ("start the function", &["plane/definition"]),
    ("journal", &["observe/journal", "dispatch/journal"]),
    ("events", &["observe/event", "dispatch/report", "dispatch/send", "base/clock"]),
    ("dispatch", &["plane/dispatch"]),
    ("atomics and locks", &["/sync/", "atomic.rs"]),
    ("futures and tokio", &["/tokio", "/futures", "core/src/task", "core/src/future", "/panic"]),
    ("the benchmark", &["call-cost"]),
    ("the standard library, inlined", &["/rustc/"]),
    ("system calls", &["/sysdeps/", "???"]),
];

/// Prints the instructions of each phase, most first, and the files of what is left.
pub(crate) fn show(case: Case) -> io::Result<()> {
    let files = by_file(case, by_line)?;
    let mut phases: BTreeMap<&str, f64> = BTreeMap::new();
    let mut others = Vec::new();
    for (file, count) in files {
        match phase(&file) {
            Some(phase) => *phases.entry(phase).or_default() += count,
            None => others.push((file, count)),
        }
    }
    let mut out = io::stdout().lock();
    let total: f64 = phases.values().chain(others.iter().map(|(_, count)| count)).sum();
    writeln!(out, "{total:>8.0}  all")?;
    let mut phases: Vec<_> = phases.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    phases.extend(others);
    phases.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (name, count) in phases.iter().filter(|(_, count)| *count >= 10.0) {
        writeln!(out, "{count:>8.0}  {name}")?;
    }
    Ok(())
}

fn phase(file: &str) -> Option<&'static str> {
    let contains = |parts: &[&str]| parts.iter().any(|part| file.contains(part));
    PHASES.iter().find(|(_, parts)| contains(parts)).map(|(phase, _)| *phase)
}

/// Returns the counts of each file.
fn by_line(report: &str) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    let mut file = String::new();
    for line in report.lines() {
        if let Some(name) = ["fl=", "fi=", "fe="].into_iter().find_map(|prefix| line.strip_prefix(prefix)) {
            name.clone_into(&mut file);
        } else if let Some((_, count)) = line.split_once(' ').filter(|(number, _)| number.parse::<u64>().is_ok()) {
            *counts.entry(file.clone()).or_default() += count.parse().unwrap_or(0.0);
        }
    }
    counts.into_iter().collect()
}
