//! Shared by all other groups: errors, usage and limits, cancellation, and small parts that belong to no domain.

pub(crate) mod agreement;
pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod delay;
pub(crate) mod error;
pub(crate) mod mutex;
pub(crate) mod open_file;
pub(crate) mod printable;
pub(crate) mod usage;
