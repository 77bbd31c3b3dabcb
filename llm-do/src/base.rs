//! Shared by all other groups: errors, usage and limits, cancellation, and small parts without a domain.

pub(crate) mod agreement;
pub(crate) mod cancellation;
pub(crate) mod clip;
pub(crate) mod clock;
pub(crate) mod delay;
pub(crate) mod error;
#[cfg(all(target_os = "linux", any(feature = "mcp", feature = "shell")))]
pub(crate) mod inherited_files;
pub(crate) mod json;
pub(crate) mod large_stack;
pub(crate) mod mutex;
pub(crate) mod open_file;
pub(crate) mod pauses;
pub(crate) mod printable;
#[cfg(any(feature = "mcp", feature = "shell"))]
pub(crate) mod process_group;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod public_address;
pub(crate) mod usage;
