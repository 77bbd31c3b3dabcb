//! Without the feature `json-schema`, only the schemas of Rust types are validated, by rules.

use std::convert::Infallible;

use serde_json::Value;

/// A validator of any schema, which cannot be built.
#[derive(Debug)]
pub(super) struct Validator(Infallible);

impl Validator {
    pub(super) fn of(_: Value, _: bool) -> Option<Self> {
        None
    }

    pub(super) fn holds(&self, _: &Value) -> bool {
        match self.0 {}
    }

    pub(super) fn faults(&self, _: &Value, _: usize, _: &dyn Fn() -> bool) -> (Vec<String>, usize) {
        match self.0 {}
    }

    pub(super) fn first_fault(&self, _: &Value) -> Option<String> {
        match self.0 {}
    }
}

/// Returns `None`: the registry reports invalid schemas of Rust types.
pub(crate) fn schema_fault(_: &Value) -> Option<String> {
    None
}

/// Returns the error that schemas which do not come from a Rust type require the feature.
#[must_use]
pub fn untrusted_schema_fault(_: &Value) -> Option<String> {
    Some("does not come from a Rust type; turn on the feature `json-schema` of `llm-do` to use it".to_owned())
}
