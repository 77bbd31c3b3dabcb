//! Serde and the schemas agree, in both directions.

use llm_do_corpus::{Case, all};
use proptest::prelude::*;
use proptest::test_runner::TestError;
use serde_json::Value;

use crate::schema::gaps::is_known;
use crate::schema::mutation::{Mutation, mutations};
use crate::schema::{Plane, failed_only_to_decode, runner};

#[test]
fn serialized_arguments_are_valid_and_round_trip() {
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
fn valid_arguments_can_be_decoded() {
    let plane = Plane::new();
    let mut faults = Vec::new();
    for Case { name, schema, values } in all() {
        let result =
            runner(64).run(&(values, mutations()), |(value, mutations)| check_mutated(&plane, name, value, &mutations));
        faults.extend(result.err().map(|fault| format!("`{name}`: {}\n{schema:#}", describe(&fault))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Checks that mutated arguments are rejected by the schema, or decoded to arguments that round-trip.
fn check_mutated(plane: &Plane, name: &str, mut value: Value, mutations: &[Mutation]) -> Result<(), TestCaseError> {
    for mutation in mutations {
        mutation.apply(&mut value);
    }
    match plane.call(name, &value) {
        Err(error) => {
            let is_gap = failed_only_to_decode(&error) && !is_known(name);
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
