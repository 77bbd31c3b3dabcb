//! Confidence bounds for the evidence that llm-do collects.
//!
//! [`lower_bound`] and [`upper_bound`] are for a share that is counted once: how often a candidate agreed on cases that nothing has
//! seen. [`trials_needed`] is how many cases such a bound takes.
//!
//! This crate has no stable API: depend on `llm-do` instead.

mod beta;
mod share;

pub use share::{lower_bound, trials_needed, upper_bound};
