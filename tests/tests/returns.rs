//! What a tool may return, and what becomes of it.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::fmt;

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::{Registry, Value, json};

/// An error with nothing but a text.
struct Spoken(&'static str);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

type Fallible<T> = std::result::Result<T, Spoken>;
type Kept = std::result::Result<(), std::num::ParseIntError>;

/// Fail with a text behind an alias.
#[tool]
fn speak() -> Fallible<u8> {
    Err(Spoken("no luck"))
}

/// Fail with a source.
#[tool]
async fn parse(text: String) -> Kept {
    text.parse::<u8>().map(drop)
}

/// Return what has no name.
#[tool]
fn squares(up_to: u32) -> impl Serialize + use<> {
    (1..=up_to).map(|number| number * number).collect::<Vec<_>>()
}

/// Return what has no name, or fail.
#[tool]
async fn roots(of: f64) -> Result<impl Serialize + use<>, Spoken> {
    if of < 0.0 { Err(Spoken("negative")) } else { Ok([of.sqrt(), -of.sqrt()]) }
}

/// Return what only the runtime reads.
#[tool]
fn noted(text: &str) -> Result<ToolReturn> {
    Ok(ToolReturn::json(&json!({ "text": text }))?.note("read from the cache"))
}

/// Return a text that lasts.
#[tool]
fn motto() -> &'static str {
    "simple"
}

fn runtime() -> Runtime {
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

#[tokio::test]
async fn an_error_needs_no_more_than_a_text() {
    let error = runtime().run(speak {}).await.unwrap_err();
    assert_eq!(chain(&error), "`speak` failed: no luck");
}

#[tokio::test]
async fn an_error_that_is_a_source_stays_one() {
    let error = runtime().run(parse { text: "x".into() }).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.is::<std::num::ParseIntError>(), "{source:?}");
}

#[tokio::test]
async fn what_has_no_name_is_read_as_json() {
    let squares: Value = runtime().run(squares { up_to: 3 }).await.unwrap();
    assert_eq!(squares, json!([1, 4, 9]));
    let roots: Value = runtime().run(roots { of: 4.0 }).await.unwrap();
    assert_eq!(roots, json!([2.0, -2.0]));
    let error = runtime().run(crate::roots { of: -4.0 }).await.unwrap_err();
    assert_eq!(chain(&error), "`roots` failed: negative");
}

#[tokio::test]
async fn a_tool_return_comes_back_to_code_whole() {
    let returned = runtime().run(noted { text: "a".into() }).await.unwrap();
    assert_eq!(returned, ToolReturn::json(&json!({ "text": "a" })).unwrap().note("read from the cache"));
}

#[tokio::test]
async fn by_name_a_tool_return_is_its_value() {
    assert_eq!(runtime().run_named("noted", json!({ "text": "a" })).await.unwrap(), json!({ "text": "a" }));
    assert_eq!(runtime().run_named("motto", Value::Null).await.unwrap(), "simple");
}

#[test]
fn an_output_schema_is_known_where_the_type_has_one() {
    let registry = Registry::collect().unwrap();
    let output = |name: &str| registry.get(name).unwrap().output();
    assert_eq!(output("motto").unwrap()["type"], "string");
    assert_eq!(output("speak").unwrap()["format"], "uint8");
    assert_eq!((output("squares"), output("noted")), (None, None));
}
