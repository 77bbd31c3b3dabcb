//! Limits of JSON Schema: arguments that pass a schema but cannot be decoded.

use serde_json::{Value, json};

use crate::{Plane, passed_the_schema_only};

/// Returns tools, each with an argument that its schema allows but its type does not, and why the schema cannot express it.
fn gaps() -> Vec<(&'static str, Value, &'static str)> {
    let unknown_fields = "schemars does not declare that serde rejects unknown fields here";
    vec![
        ("a_range", json!({ "start": 0, "end": 1, "x": 0 }), unknown_fields),
        ("a_duration", json!({ "secs": 1, "nanos": 0, "x": 0 }), unknown_fields),
        ("a_duration", json!({ "secs": u64::MAX, "nanos": 1_000_000_000 }), "the sum of both is too much"),
        ("a_system_time", json!({ "secs_since_epoch": 1, "nanos_since_epoch": 0, "x": 0 }), unknown_fields),
        ("a_system_time", json!({ "secs_since_epoch": u64::MAX, "nanos_since_epoch": 0 }), "the clock ends before"),
        ("a_result", json!({ "Ok": 1, "x": 0 }), unknown_fields),
        ("a_socket", json!("no-address"), "there is no format for an address with a port"),
        ("a_url", json!("https://"), "an address is more than its scheme"),
        ("a_chrono_delta", json!([i64::MAX, 0]), "schemars bounds the seconds by `i64`, chrono by milliseconds in it"),
        ("a_jiff_time", json!("9999-12-31T23:59:59Z"), "jiff ends a day before, for the sake of offsets"),
        ("a_jiff_local", json!("2024-02-29T12:00:00.1234567890"), "RFC 3339 allows any precision"),
        ("a_jiff_clock", json!("12:00:00.1234567890"), "RFC 3339 allows any precision"),
        ("a_jiff_duration", json!("P1Y"), "the format knows years, and their length depends on the calendar"),
        ("a_map_by_signed", json!({ "99999999999": "" }), "the pattern of the keys has no bounds"),
        ("a_map_by_unsigned", json!({ "256": true }), "the pattern of the keys has no bounds"),
    ]
}

/// Returns whether arguments of the tool may pass the schema but not be decoded.
pub(crate) fn is_known(tool: &str) -> bool {
    gaps().iter().any(|(name, _, _)| *name == tool)
}

#[test]
fn every_known_gap_still_exists() {
    let plane = Plane::new();
    for (tool, value, why) in gaps() {
        let error = plane.call(tool, &json!({ "value": value })).expect_err(tool);
        assert!(passed_the_schema_only(&error), "`{tool}` ({why}): {error}");
    }
}
