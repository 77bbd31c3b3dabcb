//! Shared by all other groups: errors, usage and limits, cancellation, and small parts without a domain.

pub mod agreement;
#[doc(hidden)]
pub mod cancellation;
#[doc(hidden)]
pub mod clip;
pub mod clock;
#[doc(hidden)]
pub mod delay;
pub mod error;
#[cfg(all(target_os = "linux", feature = "processes"))]
#[doc(hidden)]
pub mod inherited_files;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod large_stack;
#[doc(hidden)]
pub mod mend;
#[doc(hidden)]
pub mod mutex;
#[doc(hidden)]
pub mod open_file;
#[doc(hidden)]
pub mod partial_json;
#[doc(hidden)]
pub mod pauses;
#[doc(hidden)]
pub mod printable;
#[cfg(feature = "processes")]
#[doc(hidden)]
pub mod process_group;
#[doc(hidden)]
pub mod public_address;
pub mod usage;
