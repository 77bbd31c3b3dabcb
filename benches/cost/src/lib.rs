//! What llm-do costs beside a model, in CPU time and memory, against the same exchanges written by hand.
//!
//! The server is a process of its own, so that the time of a client is the client's alone; it answers from memory, over
//! connections that are kept. Each measurement is a fresh process too, warmed up first. Rounds of all ways alternate, and
//! medians are shown.

pub mod command;
pub mod compare;
pub mod events;
pub mod figures;
pub mod http;
pub mod load;
