//! Any text is read as a script and checked: with faults, but without a panic.

#![no_main]

use llm_do::prelude::*;
use llm_do::script::ScriptTool;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(tool) = ScriptTool::parse("main", text) {
        // A fault is an answer; a panic, on any thread, ends the process.
        _ = Runtime::builder().tool(tool).build();
    }
});
