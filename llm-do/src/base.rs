//! What every other group uses: errors, usage and limits, cancellation, and a few parts without a domain of their own.

pub(crate) mod agreement;
pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod delay;
pub(crate) mod error;
pub(crate) mod open_file;
pub(crate) mod printable;
pub(crate) mod rare;
pub(crate) mod usage;
