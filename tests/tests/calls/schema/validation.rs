//! Validation of arguments, beyond the keywords of their schemas.

use llm_do::{CallError, Registry};
use serde_json::{Value, json};

use crate::schema::Plane;

fn error_message(tool: &str, value: &Value) -> String {
    match Plane::new().call(tool, &json!({ "value": value })).unwrap_err() {
        CallError::InvalidArguments { message, .. } => message.to_string(),
        error => panic!("{error}"),
    }
}

#[test]
fn a_number_out_of_range_is_rejected_with_its_path() {
    let wide = json!(3_000_000_000_i64);
    assert_eq!(error_message("an_i32", &wide), "value is greater than the maximum of 2147483647 at `/value`");
    let message = error_message("a_point", &json!({ "x": wide, "y": -3_000_000_000_i64 }));
    assert!(
        message.contains("`/value/x`") && message.contains("`/value/y`"),
        "not both errors are reported: {message}"
    );
    assert!(error_message("an_f32", &json!(1e300)).contains("maximum"));
    assert!(error_message("a_u128", &json!(1e30)).contains("maximum"));
}

#[test]
fn bounds_implied_by_a_format_are_not_in_the_schema() {
    let registry = Registry::collect().unwrap();
    let schema = &registry.get("an_i64").unwrap().parameters()["properties"]["value"];
    assert_eq!(*schema, json!({ "type": "integer", "format": "int64" }));
}

#[test]
fn a_string_in_a_wrong_format_is_rejected_with_its_path() {
    for tool in ["a_uuid", "an_ip", "a_url", "a_chrono_time", "a_chrono_local", "a_jiff_clock", "a_jiff_duration"] {
        let message = error_message(tool, &json!("my secret"));
        assert!(message.ends_with("at `/value`") && !message.contains("secret"), "`{tool}`: {message}");
    }
}

#[test]
fn an_integer_may_be_written_as_a_float() {
    let plane = Plane::new();
    let point = json!({ "value": { "x": 1.0, "y": -2e3 } });
    assert_eq!(plane.call("a_point", &point).unwrap(), json!({ "value": { "x": 1, "y": -2000 } }));
    assert!(error_message("a_point", &json!({ "x": 1.5, "y": 0 })).ends_with("at `/value/x`"));
}

#[test]
fn a_whole_number_stays_a_float_in_a_float_argument() {
    let plane = Plane::new();
    let answer = plane.call("an_f64", &json!({ "value": 1.0 })).unwrap();
    assert!(answer["value"].is_f64(), "{answer}");
    let answer = plane.call("any_json", &json!({ "value": [1.0] })).unwrap();
    assert!(answer["value"][0].is_f64(), "{answer}");
}
