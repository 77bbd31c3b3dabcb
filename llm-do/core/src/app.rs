//! Applications of the runtime: the command line, test support, hardening, and built-in toolsets.

pub mod check;
#[cfg(feature = "eval")]
pub mod eval;
pub mod harden;
#[cfg(any(feature = "mcp", feature = "serve"))]
#[doc(hidden)]
pub mod listen;
#[cfg(feature = "mcp-snapshots")]
pub mod mcp;
#[cfg(feature = "project")]
pub mod project;
pub mod proposed_policy;
pub mod replay;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "filesystem", feature = "http", feature = "shell", feature = "user_input", feature = "workers"))]
pub mod toolsets;
#[cfg(feature = "trace")]
pub mod trace;
