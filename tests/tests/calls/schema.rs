//! The schemas of tools, tested with a corpus of argument types.

mod built_once;
mod gaps;
mod mutation;
mod shape;
mod validation;
mod values;

use llm_do::{CallError, Runtime};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

/// Returns a test runner with the same values in every run.
fn runner(cases: u32) -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// A runtime for calls from synchronous code.
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

/// Whether the arguments passed the schema but could not be decoded.
fn failed_only_to_decode(error: &CallError) -> bool {
    match error {
        CallError::InvalidArguments { message, .. } => message.to_string().starts_with("cannot be decoded"),
        error => panic!("unexpected error of a tool of the corpus: {error}"),
    }
}
