//! Items that need state. A runtime needs the state of all its items, so each module takes only its own.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod allocations;
mod approval_resumed;
mod begun;
mod busy_threads;
mod composite;
mod cut;
mod dispatch;
mod instructions;
mod journal_runs;
mod named_instances;
mod own_items;
mod own_journal;
mod per_run;
mod plane_properties;
mod prompts;
// What the interpreter and the checker cost is paid with the feature only: 115 crates.
#[cfg(feature = "script")]
mod script;
mod shadow;
mod stateful;
mod time;
mod unknown;

use self::own_items::own_builder;
// The function that `propose` writes names them so.
#[cfg(feature = "script")]
use self::script::{Parcel, size_of};
