//! Shared by all other groups: errors, usage and limits, cancellation, and small parts that belong to no domain.

pub mod agreement;
pub mod cancellation;
pub mod clip;
pub mod clock;
pub mod delay;
pub mod error;
#[cfg(all(target_os = "linux", any(feature = "mcp", feature = "shell")))]
pub mod inherited_files;
pub mod json;
pub mod large_stack;
pub mod mutex;
pub mod open_file;
pub mod pauses;
pub mod printable;
#[cfg(any(feature = "mcp", feature = "shell"))]
pub mod process_group;
#[cfg(any(feature = "http", feature = "mcp"))]
pub mod public_address;
pub mod usage;
