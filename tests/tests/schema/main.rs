//! The schemas of tools, over a corpus of argument types.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod built_once;
mod checked;
mod gaps;
mod mutation;
mod shape;
mod values;

use llm_do::{CallError, Runtime};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

/// Returns a runner of property tests that uses the same values in every run.
fn runner(cases: u32) -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The tool plane, callable from synchronous code.
struct Plane {
    runtime: Runtime,
    executor: tokio::runtime::Runtime,
}

impl Plane {
    fn new() -> Self {
        let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { runtime: Runtime::builder().build().unwrap(), executor }
    }

    fn call(&self, name: &str, arguments: &Value) -> Result<Value, CallError> {
        self.executor.block_on(self.runtime.run_named(name, arguments.clone()))
    }
}

/// Returns whether the arguments passed the schema but could not be decoded.
fn passed_the_schema_only(error: &CallError) -> bool {
    match error {
        CallError::InvalidArguments { message, .. } => message.to_string().starts_with("cannot be decoded"),
        error => panic!("unexpected error of a tool of the corpus: {error}"),
    }
}
