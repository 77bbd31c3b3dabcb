//! What the registry and `check!` refuse: invalid names, effects, schemas, workers, models and snapshots. Each module takes only its own items.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod check;
mod duplicates;
mod effects;
mod mcp_snapshots;
mod model_names;
mod no_model;
mod worker_files;
mod worker_outputs;
