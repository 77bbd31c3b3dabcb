//! The progress of a download.

use std::fmt;

/// The progress of a download, reported by [`LocalModel::fetch`](crate::LocalModel::fetch).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchProgress {
    /// The download waits.
    Waiting {
        /// What it waits for, in a few words.
        on: String,
    },
    /// A part of the file was received.
    Received {
        /// The file name without directories.
        file: String,
        /// The number of bytes received, including earlier attempts.
        bytes: u64,
        /// The size of the file in bytes.
        total: u64,
    },
}

impl FetchProgress {
    /// Returns the percentage, rounded down; 0 while waiting.
    fn percent(&self) -> u64 {
        match self {
            Self::Waiting { .. } => 0,
            Self::Received { bytes, total, .. } => {
                u64::try_from(u128::from(*bytes) * 100 / u128::from(*total).max(1)).unwrap_or(100)
            }
        }
    }
}

impl fmt::Display for FetchProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { on } => f.write_str(on),
            Self::Received { file, bytes, total } => {
                let percent = self.percent();
                write!(f, "downloading `{file}`: {} of {} ({percent} %)", Size(*bytes), Size(*total))
            }
        }
    }
}

/// Displays a number of bytes with a unit.
pub(super) struct Size(pub(super) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes @ ..1_000 => write!(f, "{bytes} B"),
            bytes @ ..1_000_000 => write!(f, "{} kB", bytes / 1_000),
            bytes => write!(f, "{} MB", bytes / 1_000_000),
        }
    }
}

/// Reduces progress reports to a number suitable for a log.
#[derive(Debug, Default)]
pub(super) struct ProgressFilter {
    /// The last accepted step.
    last: Option<u64>,
}

impl ProgressFilter {
    /// The size of a step in percent.
    const STEP: u64 = 5;

    /// Returns whether `progress` is a new step or a wait.
    pub(super) fn accepts(&mut self, progress: &FetchProgress) -> bool {
        if matches!(progress, FetchProgress::Waiting { .. }) {
            return true;
        }
        let step = Some(progress.percent() / Self::STEP);
        step != std::mem::replace(&mut self.last, step)
    }
}

#[cfg(test)]
mod tests {
    use super::{FetchProgress, ProgressFilter};

    fn received(bytes: u64, total: u64) -> FetchProgress {
        FetchProgress::Received { file: "a.gguf".into(), bytes, total }
    }

    #[test]
    fn progress_is_displayed_with_units() {
        let text = received(45_600_000, 98_000_000).to_string();
        assert_eq!(text, "downloading `a.gguf`: 45 MB of 98 MB (46 %)");
        assert_eq!(received(0, 0).to_string(), "downloading `a.gguf`: 0 B of 0 B (0 %)");
        assert_eq!(FetchProgress::Waiting { on: "a lock".into() }.to_string(), "a lock");
    }

    #[test]
    fn each_step_is_accepted_once() {
        let mut filter = ProgressFilter::default();
        let lines = (0..=1000).filter(|bytes| filter.accepts(&received(*bytes, 1000))).count();
        assert_eq!(lines, 21);
        assert!(filter.accepts(&FetchProgress::Waiting { on: "a retry".into() }));
    }
}
