//! Why nothing was learned, and why a file was not read.

use std::fmt;

use crate::fields::LeftOut;

/// Why nothing was learned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A setting is out of its range.
    #[error("{0}")]
    Setting(String),

    /// There are fewer cases than evidence for the bound takes.
    #[error(
        "there are {cases} cases: evidence for at most {} wrong with {} confidence takes at least {needed} answered cases, even if no answer \
         is wrong; record more, or allow more wrong answers",
        Percent(*bound), Percent(*confidence)
    )]
    TooFew {
        /// The number of cases.
        cases: u64,
        /// The least number of cases.
        needed: u64,
        /// The share of wrong answers that is allowed.
        bound: f64,
        /// The confidence that is asked for.
        confidence: f64,
    },

    /// The outputs are not choices.
    #[error("{} {reason}", Place(path))]
    NotAChoice {
        /// The part of the output, as a JSON pointer.
        path: String,
        /// What it is instead.
        reason: String,
    },

    /// All outputs are the same, so there is nothing to learn.
    #[error(
        "all {cases} cases have the output {output}, so there is nothing to learn; record cases with other outputs"
    )]
    Same {
        /// The number of cases.
        cases: u64,
        /// The output.
        output: String,
    },

    /// The inputs are the same for all outputs.
    #[error("the inputs are the same for all outputs{}", LeftOutFields(left_out))]
    NoFeatures {
        /// The fields from which nothing is learned.
        left_out: Vec<LeftOut>,
    },

    /// Too few cases are like other cases.
    #[error(
        "only {alike} of {cases} cases are like other cases, so that they could be answered, and {needed} are needed; record more cases"
    )]
    Unlike {
        /// The number of cases.
        cases: u64,
        /// Those that are like other cases.
        alike: u64,
        /// The least number.
        needed: u64,
    },

    /// The recorded outputs do not follow from the inputs, or contradict each other.
    #[error(
        "at most {} wrong is below the noise: of the {surest} cases that it is surest of, {wrong} have another recorded output ({}, and at \
         least {} with {} confidence), so these outputs contradict each other, or do not follow from the inputs{}",
        Percent(*bound), Percent(share(*wrong, *surest)), Percent(*at_least), Percent(*confidence), Hint(*lowest)
    )]
    Noise {
        /// The share of wrong answers that is allowed.
        bound: f64,
        /// The confidence that is asked for.
        confidence: f64,
        /// The number of cases that are answered with the highest confidence.
        surest: u64,
        /// How many of them have another output.
        wrong: u64,
        /// The lower bound of that share.
        at_least: f64,
        /// The lowest share of wrong answers for which the evidence would do, if any.
        lowest: Option<f64>,
    },

    /// Too few cases can be answered at the bound.
    #[error(
        "at most {} wrong does not hold for {} of the cases: of the {surest} that it is surest of, {wrong} have another recorded output, so the \
         share is only known to be at most {} with {} confidence{}; record more cases",
        Percent(*bound), Percent(*minimum_share), Percent(*at_most), Percent(*confidence), Hint(*lowest)
    )]
    NotSure {
        /// The share of wrong answers that is allowed.
        bound: f64,
        /// The confidence that is asked for.
        confidence: f64,
        /// The share of cases that is to be answered at least.
        minimum_share: f64,
        /// The number of cases that are answered with the highest confidence.
        surest: u64,
        /// How many of them have another output.
        wrong: u64,
        /// The upper bound of that share.
        at_most: f64,
        /// The lowest share of wrong answers for which the evidence would do, if any.
        lowest: Option<f64>,
    },

    /// The file would be longer than is read.
    #[error(
        "what was learned takes {bytes} bytes, and at most {max} are read; shorten the choices, or the names of fields"
    )]
    TooLarge {
        /// The length of the file.
        bytes: usize,
        /// The most bytes that are read.
        max: usize,
    },
}

/// Why a file is not one of a learned decision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a file that was learned: {0}")]
pub struct FileFault(pub(crate) String);

/// A share as it is written.
pub(crate) struct Percent(pub(crate) f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", (self.0 * 1000.0).round() / 10.0)
    }
}

struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("the output") } else { write!(f, "`{}` of the output", self.0) }
    }
}

/// The next choice of a bound.
struct Hint(Option<f64>);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(lowest) => write!(f, "; a bound of {} would have held", (lowest * 1000.0).ceil() / 1000.0),
            None => Ok(()),
        }
    }
}

struct LeftOutFields<'a>(&'a [LeftOut]);

impl fmt::Display for LeftOutFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, LeftOut { field, reason }) in self.0.iter().enumerate() {
            let before = if at == 0 { ": " } else { ", " };
            write!(f, "{before}`{field}` is left out, since {reason}")?;
        }
        Ok(())
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}
