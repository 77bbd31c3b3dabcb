//! Two model providers with the same prefix are reported with both locations when the runtime is built.
//! This is a program of its own, since every runtime of it is refused.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::sync::Arc;

use llm_do::model::model_provider;
use llm_do::testing::TestModel;
use llm_do::{Registry, Runtime};

model_provider!("lab", |model| Ok(Arc::new(TestModel::new().named(model))));

mod other {
    use super::{Arc, TestModel, model_provider};

    model_provider!("lab", |model| Ok(Arc::new(TestModel::new().named(model))));
    model_provider!("alone", |model| Ok(Arc::new(TestModel::new().named(model))));
}

const EXPECTED: &str = "2 model providers have the prefix `lab`: tests/tests/same_provider.rs:11, \
                        tests/tests/same_provider.rs:16; rename or remove one";

#[test]
fn two_providers_with_the_same_prefix_fail_the_build_with_both_locations() {
    let error = Runtime::builder().build().unwrap_err().to_string();
    assert_eq!(error, format!("invalid registry:\n  {EXPECTED}"));
    assert_eq!(Registry::collect().unwrap_err().faults(), [EXPECTED]);
}

#[test]
fn check_reports_two_providers_with_the_same_prefix() {
    let payload = std::panic::catch_unwind(|| llm_do::check!()).unwrap_err();
    assert!(payload.downcast_ref::<String>().unwrap().contains(EXPECTED));
}
