//! The option that sends requests to batch APIs.

use clap::Args;

use crate::config::Set;

#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct BatchOption {
    /// Send requests to the batch API of the models' provider: they cost half, and are answered within a day.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    batch: Option<bool>,
}

impl BatchOption {
    /// Returns the setting, if the option is given.
    pub(crate) fn setting(self) -> Set<bool> {
        Set::option(self.batch, "--batch")
    }
}
