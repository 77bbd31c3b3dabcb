//! Benchmarks of the CPU time and memory that llm-do adds to a model, compared with hand-written code.
//!
//! The server runs in a separate process, so that the CPU time of a client is its own; it responds from memory, with
//! keep-alive connections. Each measurement also runs in a new process, after a warm-up. The order of the variants
//! alternates between rounds, and the table shows medians.

pub mod command;
pub mod compare;
pub mod events;
pub mod figures;
pub mod http;
pub mod load;
pub mod valgrind;
