//! Return types of tools.

use std::fmt;

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::{Registry, Value, json};

/// An error that implements `Display` only.
struct DisplayOnly(&'static str);

impl fmt::Display for DisplayOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

type Fallible<T> = std::result::Result<T, DisplayOnly>;
type ParseResult = std::result::Result<(), std::num::ParseIntError>;

/// Fail with a text, behind an alias of `Result`.
#[tool]
fn fail() -> Fallible<u8> {
    Err(DisplayOnly("no luck"))
}

/// Fail with an error that becomes the source.
#[tool]
async fn parse(text: String) -> ParseResult {
    text.parse::<u8>().map(drop)
}

/// Return an `impl Serialize`.
#[tool]
fn squares(up_to: u32) -> impl Serialize + use<> {
    (1..=up_to).map(|number| number * number).collect::<Vec<_>>()
}

/// Return an `impl Serialize`, or fail.
#[tool]
async fn roots(of: f64) -> Result<impl Serialize + use<>, DisplayOnly> {
    if of < 0.0 { Err(DisplayOnly("negative")) } else { Ok([of.sqrt(), -of.sqrt()]) }
}

/// Return a value with a note for the operator.
#[tool]
fn annotated(text: &str) -> Result<ToolReturn> {
    Ok(ToolReturn::json(&json!({ "text": text }))?.note("read from the cache"))
}

/// Return a static text.
#[tool]
fn motto() -> &'static str {
    "simple"
}

fn runtime() -> Runtime {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

#[tokio::test]
async fn an_error_type_needs_only_display() {
    let error = runtime().run(fail {}).await.unwrap_err();
    assert_eq!(chain(&error), "`fail` failed: no luck");
}

#[tokio::test]
async fn an_error_is_kept_as_the_source() {
    let error = runtime().run(parse { text: "x".into() }).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<std::num::ParseIntError>(), "{source:?}");
}

#[tokio::test]
async fn an_impl_serialize_is_returned_as_json() {
    let squares: Value = runtime().run(squares { up_to: 3 }).await.unwrap();
    assert_eq!(squares, json!([1, 4, 9]));
    let roots: Value = runtime().run(roots { of: 4.0 }).await.unwrap();
    assert_eq!(roots, json!([2.0, -2.0]));
    let error = runtime().run(super::returns::roots { of: -4.0 }).await.unwrap_err();
    assert_eq!(chain(&error), "`roots` failed: negative");
}

#[tokio::test]
async fn a_typed_call_returns_the_whole_tool_return() {
    let returned = runtime().run(annotated { text: "a".into() }).await.unwrap();
    assert_eq!(returned, ToolReturn::json(&json!({ "text": "a" })).unwrap().note("read from the cache"));
}

#[tokio::test]
async fn a_call_by_name_returns_the_value_of_a_tool_return() {
    assert_eq!(runtime().run_named("annotated", json!({ "text": "a" })).await.unwrap(), json!({ "text": "a" }));
    assert_eq!(runtime().run_named("motto", Value::Null).await.unwrap(), "simple");
}

#[test]
fn an_output_schema_exists_if_the_type_implements_json_schema() {
    let registry = Registry::collect().unwrap();
    let output = |name: &str| registry.get(name).unwrap().output();
    assert_eq!(output("motto").unwrap()["type"], "string");
    assert_eq!(output("fail").unwrap()["format"], "uint8");
    assert_eq!((output("squares"), output("annotated")), (None, None));
}

/// Return numbers that JSON does not have.
#[tool(effect = read_only)]
fn without_json() -> (f64, Option<f32>, Vec<f64>) {
    (f64::NAN, Some(f32::NEG_INFINITY), vec![f64::INFINITY, 1.5])
}

#[tokio::test]
async fn numbers_that_json_does_not_have_are_returned_by_name() {
    let runtime = Runtime::builder().only(["without_json"]).build().unwrap();
    let returned = runtime.run_named("without_json", json!({})).await.unwrap();
    assert_eq!(returned, json!(["NaN", "-Infinity", ["Infinity", 1.5]]));
    let error = runtime.run(without_json {}).await.unwrap_err();
    let error = llm_do::error::chain(&error);
    assert!(error.contains("invalid type: string, expected f64"), "{error}");
}
