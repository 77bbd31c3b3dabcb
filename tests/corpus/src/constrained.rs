//! Types with schema constraints beyond their Rust types.

use std::collections::BTreeMap;

use llm_do::data;
use proptest::prelude::*;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::json;

use crate::arbitrary;

/// Numbers with bounds.
#[data]
#[derive(Debug)]
pub(crate) struct Ranges {
    #[schemars(range(min = 1, max = 6))]
    die: u8,
    #[schemars(range(min = -90.0, max = 90.0))]
    latitude: f64,
    #[schemars(extend("multipleOf" = 5))]
    minutes: u16,
}
arbitrary!(
    Ranges = (1..=6_u8, -90.0..=90.0, 0..12_u16).prop_map(|(die, latitude, fives)| Ranges {
        die,
        latitude,
        minutes: fives * 5
    })
);

/// Values with length limits.
#[data]
#[derive(Debug)]
pub(crate) struct Lengths {
    #[schemars(length(min = 1, max = 8))]
    name: String,
    #[schemars(length(min = 1, max = 3))]
    items: Vec<i32>,
    #[schemars(length(equal = 2))]
    two: Vec<bool>,
    #[schemars(inner(length(max = 4)))]
    words: Vec<String>,
}
arbitrary!(
    Lengths = (
        "[a-zä]{1,8}",
        prop::collection::vec(any::<i32>(), 1..=3),
        prop::collection::vec(any::<bool>(), 2),
        prop::collection::vec("[a-z]{0,4}", 0..3)
    )
        .prop_map(|(name, items, two, words)| Lengths { name, items, two, words })
);

/// Strings with patterns and formats.
#[data]
#[derive(Debug)]
pub(crate) struct Patterns {
    #[schemars(regex(pattern = r"^[A-Z]{2}-\d{3}$"))]
    code: String,
    #[schemars(email)]
    mail: String,
    #[schemars(url)]
    site: String,
}
arbitrary!(
    Patterns = ("[A-Z]{2}-[0-9]{3}", "[a-z]{1,8}@[a-z]{1,8}\\.org", "https://[a-z]{1,8}\\.org/[a-z]{0,8}")
        .prop_map(|(code, mail, site)| Patterns { code, mail, site })
);

/// Values with examples and other annotations.
#[data]
#[derive(Debug)]
#[schemars(extend("x-note" = "for people"))]
pub(crate) struct Shown {
    /// The city.
    #[schemars(example = &"Paris", example = &"Rome")]
    city: String,
    #[schemars(extend("examples" = [3, 5]))]
    days: u8,
    /// Deprecated.
    #[deprecated]
    #[serde(default)]
    unit: Option<String>,
}
arbitrary!(
    Shown = any::<(String, u8, Option<String>)>().prop_map(
        #[expect(deprecated, reason = "the schema marks the field as deprecated")]
        |(city, days, unit)| Shown { city, days, unit }
    )
);

/// Fields with the schema of the type that serde writes.
#[data]
#[derive(Debug)]
pub(crate) struct With {
    #[serde(with = "as_text")]
    #[schemars(with = "String", regex(pattern = "^(0|[1-9][0-9]{0,3})$"))]
    number: u16,
    #[schemars(schema_with = "one_or_two")]
    choice: u8,
}
arbitrary!(With = (0..10_000_u16, 1..=2_u8).prop_map(|(number, choice)| With { number, choice }));

fn one_or_two(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "enum": [1, 2] })
}

mod as_text {
    use super::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
    pub(super) fn serialize<S: Serializer>(number: &u16, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A map with a maximum number of entries.
#[data]
#[derive(Debug)]
pub(crate) struct Limited {
    #[schemars(extend("maxProperties" = 2, "default" = json!({})))]
    #[serde(default)]
    settings: BTreeMap<String, bool>,
}
arbitrary!(
    Limited =
        prop::collection::btree_map(any::<String>(), any::<bool>(), 0..=2).prop_map(|settings| Limited { settings })
);
