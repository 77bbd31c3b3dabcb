//! The measured cases.

use clap::ValueEnum;

use crate::{by_hand, ours};

/// A way to make the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// A lookup, serde and the function, written by hand.
    ByHand,
    /// The same with a future for each call.
    ByHandAsync,
    /// A tool that runs in line.
    Inline,
    /// An async tool.
    Async,
    /// A tool that runs in line, with events written as JSON Lines.
    JsonLines,
    /// The same call by a worker's model, with the turn that it takes.
    Turn,
}

impl Case {
    pub(crate) fn all() -> Vec<Self> {
        Self::value_variants().to_vec()
    }

    /// The name in the table and on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Makes the call a number of times.
    pub(crate) fn run(self, times: u32) {
        match self {
            Self::ByHand => by_hand::run(times),
            Self::ByHandAsync => by_hand::run_async(times),
            Self::Inline => ours::run("add42", false, times),
            Self::Async => ours::run("add_async", false, times),
            Self::JsonLines => ours::run("add42", true, times),
            Self::Turn => ours::run_turns(times),
        }
    }
}
