//! Serde and the schemas agree in both directions.

use llm_do_corpus::{Case, all};
use proptest::prelude::*;
use proptest::test_runner::TestError;
use serde_json::Value;

use crate::gaps::is_known;
use crate::mutation::{Mutation, mutations};
use crate::{Plane, passed_the_schema_only, runner};

#[test]
fn serialized_values_are_valid_and_decode_to_the_same_value() {
    let plane = Plane::new();
    for Case { name, schema, values } in all() {
        let validator = jsonschema::draft202012::options().build(&schema).unwrap();
        let property = |written: Value| {
            prop_assert!(validator.is_valid(&written), "{}", validator.validate(&written).unwrap_err());
            let back = plane.call(name, &written).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(back, written);
            Ok(())
        };
        runner(32).run(&values, property).unwrap_or_else(|fault| panic!("`{name}`: {}\n{schema:#}", describe(&fault)));
    }
}

#[test]
fn valid_values_can_be_decoded() {
    let plane = Plane::new();
    let mut faults = Vec::new();
    for Case { name, schema, values } in all() {
        let tried = runner(64).run(&(values, mutations()), |(value, mutations)| check(&plane, name, value, &mutations));
        faults.extend(tried.err().map(|fault| format!("`{name}`: {}\n{schema:#}", describe(&fault))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Checks that valid arguments are decoded, and that the decoded value is accepted again.
fn check(plane: &Plane, name: &str, mut value: Value, mutations: &[Mutation]) -> Result<(), TestCaseError> {
    for mutation in mutations {
        mutation.apply(&mut value);
    }
    match plane.call(name, &value) {
        Err(error) => {
            let is_gap = passed_the_schema_only(&error) && !is_known(name);
            prop_assert!(!is_gap, "{error} in {value}");
        }
        Ok(written) => {
            let again = plane.call(name, &written);
            prop_assert!(again.is_ok(), "{} in {written}, decoded from {value}", again.unwrap_err());
            prop_assert_eq!(again.unwrap(), written);
        }
    }
    Ok(())
}

fn describe<T: std::fmt::Debug>(fault: &TestError<T>) -> String {
    match fault {
        TestError::Abort(reason) => format!("{reason}"),
        TestError::Fail(reason, value) => format!("{reason}\nfor {value:?}"),
    }
}
