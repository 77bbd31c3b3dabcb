//! A reason goes with an effect, and is not blank.

#![allow(unused)]

use llm_do::worker;

/// Look.
#[worker(effect_reason = "it only reads")]
async fn look(input: String) -> String;

/// Listen.
#[worker(effect = read_only, effect_reason = " ")]
async fn listen(input: String) -> String;

/// Read.
#[worker(effect = readonly)]
async fn read(input: String) -> String;

fn main() {}
