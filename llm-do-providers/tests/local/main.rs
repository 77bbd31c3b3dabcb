//! The embedded model: tiny files of every family, files of the hub, and the small model with its weights.
#![cfg(feature = "local")]

mod families;
#[cfg(feature = "local-download")]
mod hub;
mod weights;
