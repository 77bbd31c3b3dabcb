//! Duplicate names: in two crates, in a declaration that is resolved at run time, and in arguments.

use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::testing::ScriptedModel;
use llm_do::{Effect, Registry, Runtime, Value};
use serde_json::json;
use {same_name_a as _, same_name_b as _};

/// Read.
#[tool]
fn read() {}

/// Read another way.
#[tool(effect = read_only)]
fn x_read() {}

toolset! {
    /// Reads, by another name.
    reading = [prefixed("x_", read)];

    /// Reads, by the same name.
    again = [prefixed("x_", read)];

    /// Reads another way, with a name that is in use.
    otherwise = [x_read];
}

/// Names toolsets that the compiler does not see.
#[entry(toolsets = [reading, "again", "otherwise"])]
async fn start() {}

/// A place, and what else is known of it.
#[data]
struct Place {
    name: String,
    #[serde(flatten)]
    others: std::collections::BTreeMap<String, Value>,
}

/// Find.
#[tool]
fn find(#[arg(flatten)] place: Place) -> usize {
    place.name.len() + place.others.len()
}

/// A size.
#[data]
struct Size {
    width: u32,
}

/// Draw.
#[tool]
fn draw(#[arg(flatten)] size: Size, width: u32) -> u32 {
    size.width + width
}

/// Say what the weather is, by a tool that the program adds.
#[worker(toolsets = ["weather"])]
async fn forecaster(input: String) -> String;

/// Asks the forecaster.
#[entry(toolsets = [forecaster])]
async fn forecast(ctx: &CallContext<forecast>) -> Result<String> {
    Ok(ctx.call(forecaster { input: "And today?".into() }).await?)
}

fn weather() -> FunctionTool {
    let schema = json!({ "type": "object" });
    FunctionTool::new("weather", "Return the weather.", schema, Effect::ReadOnly, |_, _| async { Ok("rain") })
}

#[tokio::test]
async fn a_session_over_a_part_of_the_program_has_what_that_part_declares_and_nothing_else() {
    let model = ScriptedModel::new().call("weather", json!({})).text("It rains.");
    let builder = Runtime::builder().only(["forecast"]).tool(weather()).force_model(model.clone());
    let builder = builder.approval_mode(llm_do::approval::ApprovalMode::ApproveAll);
    let runtime = builder.build().unwrap();
    let names: Vec<_> = runtime.registry().iter().map(|item| item.name()).collect();
    assert_eq!(names, ["forecast", "forecaster", "weather"]);
    assert_eq!(runtime.run(forecast {}).await.unwrap(), "It rains.");
    assert_eq!(model.requests()[1].last_text(), "rain");
    let missing = runtime.run(read {}).await.unwrap_err();
    assert!(matches!(missing, CallError::NotFound { .. }), "{missing}");
}

#[test]
fn a_toolset_is_included_with_its_members() {
    let runtime = Runtime::builder().only(["reading"]).build().unwrap();
    assert_eq!(runtime.registry().iter().map(|item| item.name()).collect::<Vec<_>>(), ["read"]);
    let toolsets: Vec<_> = runtime.registry().toolsets().map(|(name, ..)| name).collect();
    assert_eq!(toolsets, ["reading"], "`again` has the same members, and is not named");
}

#[test]
fn what_an_added_tool_declares_is_included() {
    let runtime = Runtime::builder().only(["read"]).tool(weather().toolsets(["x_read"])).build().unwrap();
    let names: Vec<_> = runtime.registry().iter().map(|item| item.name()).collect();
    assert_eq!(names, ["read", "weather", "x_read"]);
}

#[test]
fn an_unknown_name_in_a_part_is_an_error_with_a_suggestion() {
    let error = Runtime::builder().only(["reed", "zzzzzz", "weather"]).tool(weather()).build().unwrap_err().to_string();
    assert!(error.contains("`only`: unknown tool, worker, entry or toolset `reed`; did you mean `read`?"), "{error}");
    assert!(error.contains("`zzzzzz`; link its library") && !error.contains("`weather`"), "{error}");
}

#[test]
fn a_name_that_collides_in_a_part_is_refused() {
    let error = Runtime::builder().only(["which"]).build().unwrap_err().to_string();
    assert!(error.contains("`which` is registered 2 times"), "{error}");
}

#[test]
fn a_duplicate_name_in_two_crates_is_an_error_with_both_locations() {
    let error = Registry::collect().unwrap_err();
    let fault = &error.faults()[0];
    assert!(fault.contains("`which` is registered 2 times"), "{fault}");
    assert!(fault.contains("same_name_a/src/lib.rs:4"), "{fault}");
    assert!(fault.contains("same_name_b/src/lib.rs:4"), "{fault}");
}

#[test]
fn a_runtime_with_a_duplicate_name_is_not_built() {
    let error = Runtime::builder().build().unwrap_err();
    assert!(error.to_string().contains("`which`"), "{error}");
}

#[test]
fn a_declaration_with_two_tools_of_one_name_is_rejected() {
    let error = Registry::collect().unwrap_err();
    let faults: Vec<_> = error.faults().iter().filter(|fault| fault.contains("`start`")).collect();
    let [fault] = faults[..] else { panic!("one fault of `start`, not {faults:?}") };
    assert!(fault.ends_with("declares two tools with the name `x_read`: `read` and `x_read`"), "{fault}");
}

#[test]
fn a_flattened_struct_with_unknown_or_duplicate_fields_is_rejected() {
    let error = Registry::collect().unwrap_err().to_string();
    assert!(
        error.contains(
            "): `place` cannot be flattened: its type must be a struct with named fields that takes no other fields"
        ),
        "{error}"
    );
    assert!(
        error.contains("`draw` (tests/tests/registry/duplicates.rs:54): two arguments are named `width`"),
        "{error}"
    );
}
