//! The types of settings.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use llm_do_core::observe::event::Verbosity;
use llm_do_core::plane::approval::{ApprovalMode, FlowMode};
use llm_do_project::expanded;
use llm_do_providers::Money;
use llm_do_worker_file::parse_duration;
use serde_json::{Value, json};

use super::source::{Given, Parsed};
use crate::output::Format;

/// The approval modes, from the least strict to the strictest.
const MODES: [(&str, ApprovalMode); 3] = [
    ("approve_all", ApprovalMode::ApproveAll),
    ("prompt", ApprovalMode::Prompt),
    ("reject_all", ApprovalMode::RejectAll),
];

impl Parsed for String {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        given.text("text").map(str::to_owned)
    }

    fn to_json(&self) -> Value {
        json!(self)
    }
}

impl Parsed for ApprovalMode {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        approval_mode(given.text(MODE)?)
    }

    fn to_json(&self) -> Value {
        json!(MODES[strictness(*self)].0)
    }

    fn is_stricter(&self, other: &Self) -> bool {
        strictness(*self) > strictness(*other)
    }
}

const MODE: &str = "`prompt`, `approve_all` or `reject_all`";

/// Parses an approval mode.
pub(crate) fn approval_mode(text: &str) -> Result<ApprovalMode, String> {
    let mode = MODES.into_iter().find(|(name, _)| *name == text).map(|(_, mode)| mode);
    mode.ok_or_else(|| format!("expected {MODE}, found `{text}`"))
}

fn strictness(mode: ApprovalMode) -> usize {
    MODES.iter().position(|(_, known)| *known == mode).unwrap_or_default()
}

impl Parsed for FlowMode {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        flow_mode(given.text(FLOW)?)
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn is_stricter(&self, other: &Self) -> bool {
        self > other
    }
}

const FLOW: &str = "`strict`, `lenient` or `off`";

/// Parses a mode of the rule about where values came from.
pub(crate) fn flow_mode(text: &str) -> Result<FlowMode, String> {
    let mode = FlowMode::ALL.into_iter().find(|mode| mode.word() == text);
    mode.ok_or_else(|| format!("expected {FLOW}, found `{text}`"))
}

impl Parsed for bool {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        let expected = "`true` or `false`";
        let text = given.text(expected)?;
        text.parse().map_err(|_| format!("expected {expected}, found `{text}`"))
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    /// Only permissions are flags.
    fn is_stricter(&self, other: &Self) -> bool {
        !*self && *other
    }
}

/// Whether a denied call ends the run, which is stricter than continuing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndsRun(pub(crate) bool);

impl Parsed for EndsRun {
    fn parse(given: &Given, folder: &Path) -> Result<Self, String> {
        bool::parse(given, folder).map(Self)
    }

    fn to_json(&self) -> Value {
        self.0.to_json()
    }

    fn is_stricter(&self, other: &Self) -> bool {
        self.0 && !other.0
    }
}

/// A whole number of at least `min` and at most `max`.
fn count<T: std::str::FromStr>(given: &Given, min: u8, max: impl std::fmt::Display) -> Result<T, String> {
    let expected = format!("a whole number from {min} to {max}");
    let text = given.text(&expected)?;
    text.parse().map_err(|_| format!("expected {expected}, found `{text}`"))
}

macro_rules! whole_number {
    ($($number:ty)*) => {$(
        impl Parsed for $number {
            fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
                count(given, 0, Self::MAX)
            }

            fn to_json(&self) -> Value {
                json!(self)
            }

            fn is_stricter(&self, other: &Self) -> bool {
                self < other
            }
        }
    )*};
}

whole_number! { u32 u64 }

impl Parsed for NonZeroUsize {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        count(given, 1, Self::MAX)
    }

    fn to_json(&self) -> Value {
        json!(self)
    }

    fn is_stricter(&self, other: &Self) -> bool {
        self < other
    }
}

impl Parsed for Money {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        given
            .text("US dollars, such as `0.25`")?
            .parse()
            .map_err(|error: llm_do_providers::MoneyError| error.to_string())
    }

    fn to_json(&self) -> Value {
        json!(self.to_string())
    }

    fn is_stricter(&self, other: &Self) -> bool {
        self < other
    }
}

/// A positive time.
impl Parsed for Duration {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        seconds(given.text(TIME)?)
    }

    fn to_json(&self) -> Value {
        json!(format!("{self:?}"))
    }

    fn is_stricter(&self, other: &Self) -> bool {
        self < other
    }
}

const TIME: &str = "a positive number of seconds, such as 90 or 0.5, or a duration such as `2m`";

/// Parses a time: a number of seconds, or numbers with units.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().map(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = number.unwrap_or_else(|| parse_duration(text).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| format!("expected {TIME}, found `{text}`"))
}

impl Parsed for Verbosity {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        match given.text(LEVEL)? {
            "0" => Ok(Self::Quiet),
            "1" => Ok(Self::Calls),
            "2" => Ok(Self::Stream),
            other => Err(format!("expected {LEVEL}, found `{other}`")),
        }
    }

    fn to_json(&self) -> Value {
        json!(*self as u8)
    }
}

const LEVEL: &str = "0, 1 or 2";

impl Parsed for Format {
    fn parse(given: &Given, _folder: &Path) -> Result<Self, String> {
        let expected = "`text`, `json` or `jsonl`";
        let text = given.text(expected)?;
        Self::from_str(text, false).map_err(|_| format!("expected {expected}, found `{text}`"))
    }

    fn to_json(&self) -> Value {
        json!(self.to_possible_value().map(|value| value.get_name().to_owned()))
    }
}

impl Parsed for PathBuf {
    fn parse(given: &Given, folder: &Path) -> Result<Self, String> {
        given.text("a path").map(|path| absolute(Path::new(path), folder))
    }

    fn to_json(&self) -> Value {
        json!(self.to_string_lossy())
    }
}

impl Parsed for Vec<PathBuf> {
    fn parse(given: &Given, folder: &Path) -> Result<Self, String> {
        Ok(match given {
            Given::Text(paths) => std::env::split_paths(paths).map(|path| absolute(&path, folder)).collect(),
            Given::List(paths) => paths.iter().map(|path| absolute(Path::new(path), folder)).collect(),
        })
    }

    fn to_json(&self) -> Value {
        self.iter().map(PathBuf::to_json).collect()
    }
}

/// Returns the path below the folder, with the user's home folder for `~`.
fn absolute(path: &Path, folder: &Path) -> PathBuf {
    folder.join(expanded(path))
}
