//! Workers: their loop, prompts, outputs, files, and workers created at run time.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod keys;
mod many;
mod model_files;
mod output_modes;
mod programs;
mod requests;
mod tool_search;
mod toolset;
mod turns;

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
