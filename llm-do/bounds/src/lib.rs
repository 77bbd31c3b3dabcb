//! Confidence bounds for the evidence that llm-do collects.
//!
//! [`lower_bound`] and [`upper_bound`] are for a share that is counted once: how often a candidate agreed on cases that nothing has
//! seen. [`trials_needed`] is how many cases such a bound takes. An [`UpperSequence`] is for a stream: its bound holds for all times at
//! which it is looked at together. [`Evidence`] decides with it whether code may go on answering in place of a worker.
//!
//! This crate has no stable API: depend on `llm-do` instead.

mod beta;
mod change;
mod guarantee;
mod mixture;
mod sequence;
mod share;

pub use change::ChangeDetector;
pub use guarantee::{Evidence, Guarantee, InvalidGuarantee, Turn};
pub use sequence::UpperSequence;
pub use share::{lower_bound, trials_needed, upper_bound};
