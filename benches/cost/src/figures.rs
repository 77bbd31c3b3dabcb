//! The resource usage of a client process.

use std::fmt;
use std::fs;
use std::io;
use std::str::FromStr;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The resource usage of a client, formatted as one line for the comparing process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// User and system CPU time of one operation, in microseconds.
    pub cpu: f64,
    /// Peak memory of the process, in MiB.
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
        let (cpu, peak) =
            figures.ok_or_else(|| io::Error::other(format!("invalid figures `{line}`: expected two numbers")))?;
        Ok(Self { cpu, peak })
    }
}

/// Returns the CPU time of this process so far, in all threads.
///
/// # Panics
///
/// Panics if the clock returns a negative time.
#[must_use]
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time since the start")
}

/// Returns the peak memory of this process, in MiB; NaN on systems other than Linux.
#[must_use]
pub fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}
