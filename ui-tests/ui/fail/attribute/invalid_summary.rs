//! `summary` is one line that refers to existing arguments.

#![allow(unused)]

use llm_do::{CallContext, data, tool};

const SUMMARY: &str = "write";

/// Which lines.
#[data]
struct Lines {
    from: u32,
}

/// Write.
#[tool(summary = "write to {pth}")]
fn write(path: String, text: String) {}

/// Append.
#[tool(summary = "append to {charset} for {ctx}, {text.len()} bytes and {}")]
fn append(ctx: &CallContext, text: String, #[arg(rename = "charset")] encoding: String) {}

/// Read.
#[tool(summary = "read {lines}")]
fn read(#[arg(flatten)] lines: Lines) {}

/// Open.
#[tool(summary = "open {path")]
fn open(path: String) {}

/// Close.
#[tool(summary = "close } and {{ all }}")]
fn close() {}

/// Shut.
#[tool(summary = " ")]
fn shut() {}

/// Seal.
#[tool(summary = "seal {path}\nand be happy")]
fn seal(path: String) {}

/// Hide.
#[tool(summary = SUMMARY)]
fn hide() {}

/// Show.
#[tool(summary = "a", summary = "b")]
fn show() {}

/// An invalid parameter is not reported as an unknown one.
#[tool(summary = "pair {a}")]
fn pair((a, b): (u8, u8)) {}

/// List.
#[tool(summary = "list {folder}")]
fn list() {}

fn main() {}
