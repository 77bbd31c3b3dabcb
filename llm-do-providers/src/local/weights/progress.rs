//! How far a model's file has come.

use std::fmt;

/// How far a model's file has come; [`LocalModel::fetch`](crate::LocalModel::fetch) tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchProgress {
    /// Nothing arrives for a while, because of this.
    Waiting {
        /// What is waited for, in a few words.
        on: String,
    },
    /// A part of the file is there.
    Received {
        /// The file's name, without its folders.
        file: String,
        /// How much of it is there, in bytes, what an earlier attempt left behind included.
        bytes: u64,
        /// How much there is of it, in bytes.
        total: u64,
    },
}

impl FetchProgress {
    /// Returns how many hundredths are there, rounded down; 0 where nothing arrives.
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

/// A number of bytes, for a person.
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

/// Lets through as much of a progress as lines of a log may have.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// What was let through last, in steps.
    last: Option<u64>,
}

impl Steps {
    /// How much of a file is one step, in hundredths.
    const STEP: u64 = 5;

    /// Whether `progress` says enough more than what was let through before.
    pub(super) fn lets(&mut self, progress: &FetchProgress) -> bool {
        if matches!(progress, FetchProgress::Waiting { .. }) {
            return true;
        }
        let step = Some(progress.percent() / Self::STEP);
        step != std::mem::replace(&mut self.last, step)
    }
}

#[cfg(test)]
mod tests {
    use super::{FetchProgress, Steps};

    fn received(bytes: u64, total: u64) -> FetchProgress {
        FetchProgress::Received { file: "a.gguf".into(), bytes, total }
    }

    #[test]
    fn progress_is_told_in_words() {
        let text = received(45_600_000, 98_000_000).to_string();
        assert_eq!(text, "downloading `a.gguf`: 45 MB of 98 MB (46 %)");
        assert_eq!(received(0, 0).to_string(), "downloading `a.gguf`: 0 B of 0 B (0 %)");
        assert_eq!(FetchProgress::Waiting { on: "a lock".into() }.to_string(), "a lock");
    }

    #[test]
    fn a_log_has_a_line_for_each_step() {
        let mut steps = Steps::default();
        let lines = (0..=1000).filter(|bytes| steps.lets(&received(*bytes, 1000))).count();
        assert_eq!(lines, 21);
        assert!(steps.lets(&FetchProgress::Waiting { on: "a retry".into() }));
    }
}
