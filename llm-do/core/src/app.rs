//! Applications of the runtime: the command line, test support, hardening, and built-in toolsets.

pub mod check;
pub mod harden;
pub mod proposed_policy;
pub mod replay;
#[cfg(feature = "mcp-snapshots")]
pub mod snapshot;
#[cfg(feature = "testing")]
pub mod testing;
