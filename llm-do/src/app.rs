//! What stands on the runtime: the command line, test support, hardening, and toolsets that come with the crate.

pub(crate) mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod harden;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "workers")]
pub mod toolsets;
