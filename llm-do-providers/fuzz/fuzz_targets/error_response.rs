#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm_do_providers::fuzzing::error_response(bytes));
