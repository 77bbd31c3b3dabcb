//! `check!()` over items that each have a different fault.

use std::collections::HashSet;
use std::panic;

use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use schemars::SchemaGenerator;

/// A rank whose schema is stricter than its type.
#[derive(Serialize, Deserialize)]
struct Rank(u8);

impl JsonSchema for Rank {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rank".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "maximum": 3 })
    }
}

/// A text that can be serialized but not deserialized.
#[derive(Serialize, JsonSchema)]
struct OneWay(String);

impl<'de> Deserialize<'de> for OneWay {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(serde::de::Error::custom("this way only"))
    }
}

/// A value whose schema has a dangling reference.
#[derive(Serialize, Deserialize)]
struct Dangling;

impl JsonSchema for Dangling {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dangling".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "$ref": "#/$defs/Missing" })
    }
}

/// A set whose schema does not declare it unordered.
#[derive(Serialize, Deserialize)]
struct Tags(HashSet<String>);

impl JsonSchema for Tags {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tags".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "array", "items": { "type": "string" } })
    }
}

struct Database;

/// Have a default above the maximum.
#[tool]
fn too_high(#[arg(default = Rank(9), example = Rank(2))] rank: Rank) {
    let _ = rank.0;
}

/// Have an example that cannot be deserialized.
#[tool]
fn one_way(#[arg(example = OneWay("a".to_owned()))] text: OneWay) {
    let _ = text.0;
}

/// Take a value with an invalid schema.
#[tool]
fn dangling(value: Dangling) {
    let _ = value;
}

/// Take state.
#[tool]
fn stateful(database: State<Database>) {
    let _ = database;
}

fn some() -> HashSet<String> {
    ["a", "b", "c"].map(str::to_owned).into()
}

/// Take tags.
#[tool]
fn tagged(#[arg(example = Tags(some()))] tags: Tags, #[arg(default = some())] others: HashSet<String>) {
    let _ = (tags.0, others);
}

/// A builder with the items of this module.
fn builder() -> RuntimeBuilder {
    Runtime::builder().only(["too_high", "one_way", "dangling", "stateful", "tagged"])
}

fn faults(check: impl FnOnce() + panic::UnwindSafe) -> String {
    let payload = panic::catch_unwind(check).unwrap_err();
    payload.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn all_faults_of_the_linked_items_are_reported_together() {
    let faults = faults(|| llm_do::check!(builder()));
    assert!(faults.contains("(5)"), "{faults}");
    for part in [
        "`too_high` (tests/tests/registry/check.rs:69): the default of `rank` does not follow its schema: 9 is greater",
        "`one_way` (tests/tests/registry/check.rs:75): the example of `text` cannot be decoded: this way only",
        "`dangling` (tests/tests/registry/check.rs:81): the schema of its arguments is invalid",
        "the example of `tags` is serialized in a different order each time",
        "Database` for `stateful`",
    ] {
        assert!(faults.contains(part), "no {part:?} in {faults}");
    }
}

#[test]
fn state_in_the_given_builder_is_not_reported_as_missing() {
    let faults = faults(|| llm_do::check!(builder().state(Database)));
    assert!(!faults.contains("stateful"), "{faults}");
}
