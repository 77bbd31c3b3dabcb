//! Runs: their journal, approvals after a resume, chats, events, limits of time and money; evaluations.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod background;
mod batches;
mod chat;
mod compaction;
mod content;
mod dry_run;
mod eval;
mod events;
mod finished_results;
mod journal;
mod money;
mod server_side;
mod sinks;
mod spent;
mod spoken;
mod sqlite;
mod threads;
mod trace;
mod typed_errors;
mod under;
mod under_policy;
mod version;
mod window;
