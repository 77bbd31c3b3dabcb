//! Known gaps of schemas: arguments that a schema allows but that cannot be decoded.

use serde_json::{Value, json};

use crate::schema::{Plane, failed_only_to_decode};

/// Returns tools, each with an argument that its schema allows and its type does not, and the reason.
fn gaps() -> Vec<(&'static str, Value, &'static str)> {
    let extra = "serde denies unknown fields here, which the schema of schemars does not state";
    vec![
        ("a_range", json!({ "start": 0, "end": 1, "x": 0 }), extra),
        ("a_duration", json!({ "secs": 1, "nanos": 0, "x": 0 }), extra),
        ("a_duration", json!({ "secs": u64::MAX, "nanos": 1_000_000_000 }), "the sum overflows"),
        ("a_system_time", json!({ "secs_since_epoch": 1, "nanos_since_epoch": 0, "x": 0 }), extra),
        (
            "a_system_time",
            json!({ "secs_since_epoch": u64::MAX, "nanos_since_epoch": 0 }),
            "the clock has a smaller range",
        ),
        ("a_result", json!({ "Ok": 1, "x": 0 }), extra),
        ("a_socket", json!("no-address"), "JSON Schema has no format for an address with a port"),
        ("a_url", json!("https://"), "the URL has no host"),
        ("a_chrono_delta", json!([i64::MAX, 0]), "schemars limits the seconds to `i64`, chrono the milliseconds"),
        ("a_jiff_time", json!("9999-12-31T23:59:59Z"), "the maximum of jiff is a day earlier, to allow for offsets"),
        ("a_jiff_local", json!("2024-02-29T12:00:00.1234567890"), "RFC 3339 allows any precision"),
        ("a_jiff_clock", json!("12:00:00.1234567890"), "RFC 3339 allows any precision"),
        ("a_jiff_duration", json!("P1Y"), "the format allows years, whose length depends on the calendar"),
        ("a_map_by_signed", json!({ "99999999999": "" }), "the pattern of the keys has no range"),
        ("a_map_by_unsigned", json!({ "256": true }), "the pattern of the keys has no range"),
    ]
}

/// Whether the tool has a known gap.
pub(crate) fn is_known(tool: &str) -> bool {
    gaps().iter().any(|(name, _, _)| *name == tool)
}

#[test]
fn every_known_gap_still_exists() {
    let plane = Plane::new();
    for (tool, value, why) in gaps() {
        let error = plane.call(tool, &json!({ "value": value })).expect_err(tool);
        assert!(failed_only_to_decode(&error), "`{tool}` ({why}): {error}");
    }
}
