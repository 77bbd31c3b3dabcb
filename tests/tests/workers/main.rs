//! Workers: their loop, prompts, outputs and files, workers created at run time, and workers that become code.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod broken_streams;
mod concurrent;
mod created_scope;
mod deep;
mod effects;
mod guarantee;
mod harden;
mod hardening_worker;
mod hybrid;
mod keys;
mod llama_cpp;
mod long_results;
mod many;
mod mended;
mod model_files;
mod output_modes;
mod programs;
mod refine;
mod requests;
mod streamed;
mod tool_search;
mod toolset;
mod turns;
mod worker_file_corpus;
mod worker_store;

use llm_do::prelude::*;

/// Look around.
#[tool(effect = read_only, inline)]
fn look() -> u32 {
    7
}

/// Listen.
#[tool(effect = read_only, inline)]
fn listen() -> u32 {
    8
}

toolset! {
    /// What perceives.
    senses = [look, listen];
}

/// The module that worker files of the corpus name.
mod ears {
    pub(crate) use crate::listen;
}
