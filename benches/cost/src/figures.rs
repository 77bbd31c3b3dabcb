//! What a client took.

use std::fmt;
use std::fs;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// What a client took, written on one line for the process that compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The CPU time of one piece of work, in microseconds, user and system.
    pub cpu: f64,
    /// The most memory that the process ever had, in MiB.
    pub peak: f64,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cpu, self.peak)
    }
}

impl FromStr for Figures {
    type Err = io::Error;

    fn from_str(line: &str) -> io::Result<Self> {
        let figures = line.trim().split_once(' ').and_then(|(cpu, peak)| Some((cpu.parse().ok()?, peak.parse().ok()?)));
        let (cpu, peak) = figures.ok_or_else(|| io::Error::other(format!("`{line}` is not what a client took")))?;
        Ok(Self { cpu, peak })
    }
}

/// The CPU time that this process took so far, in all threads.
///
/// # Panics
///
/// Panics if the clock says a time before the process's start.
#[must_use]
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time since the start")
}

/// The most memory that this process ever had, in MiB; no number where there is no Linux to ask.
#[must_use]
pub fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}
