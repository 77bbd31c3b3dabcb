//! A model gets a parameter of the name `background`.

#![allow(unused)]

use llm_do::{tool, worker};

/// Paint.
#[tool(background)]
fn paint(background: String) {}

/// Draw.
#[worker(background)]
async fn draw(#[arg(rename = "background")] color: String, size: u8) -> String;

/// Print.
#[tool]
fn print(background: String) {}

fn main() {}
