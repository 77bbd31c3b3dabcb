//! Structs with serde attributes.

use std::collections::BTreeMap;

use llm_do::data;
use proptest::prelude::*;
use serde_json::Value;

use crate::{arbitrary, foreign, made};

/// A point in the plane.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Distance to the right.
    x: i32,
    /// Distance upwards.
    y: i32,
}
arbitrary!(Point { x, y });

/// A person, with optional fields.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// The name.
    name: String,
    /// Age in years.
    age: Option<u8>,
    /// The home.
    home: Point,
    /// Other places.
    elsewhere: Option<Point>,
    friends: Vec<Point>,
}
arbitrary!(Person { name, age, home, elsewhere, friends });

/// Renamed fields.
#[data]
#[derive(Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Renamed {
    first_name: String,
    #[serde(rename = "surname", alias = "lastName")]
    last_name: String,
    year_of_birth: i16,
}
arbitrary!(Renamed { first_name, last_name, year_of_birth });

/// Fields with defaults.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    #[serde(default)]
    count: u32,
    #[serde(default = "five")]
    limit: u8,
    #[serde(default)]
    corner: Corner,
    #[serde(default)]
    tags: Vec<String>,
}
arbitrary!(Defaults { count, limit, corner, tags });

fn five() -> u8 {
    5
}

/// The upper left corner.
#[data]
#[derive(Clone, Debug, Default)]
#[serde(default)]
pub(crate) struct Corner {
    left: f64,
    top: f64,
}
arbitrary!(Corner { left, top });

/// A flattened struct.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Flattened {
    label: String,
    #[serde(flatten)]
    at: Point,
    last: bool,
}
arbitrary!(Flattened { label, at, last });

/// A flattened map of other fields.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Catching {
    id: u16,
    #[serde(flatten)]
    rest: BTreeMap<String, bool>,
}
arbitrary!(Catching = (any::<u16>(), other_names()).prop_map(|(id, rest)| Catching { id, rest }));

fn other_names() -> impl Strategy<Value = BTreeMap<String, bool>> {
    prop::collection::btree_map("[a-h]{1,4}", any::<bool>(), 0..4)
}

/// Fields that are skipped if they are empty.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Skipping {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<u32>,
    #[serde(skip)]
    _seen: bool,
}
arbitrary!(Skipping = made(|(note, lines)| Skipping { note, lines, _seen: false }));

/// A struct that denies unknown fields.
#[data]
#[derive(Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    key: String,
    value: Option<i64>,
}
arbitrary!(Closed { key, value });

/// Fields named like keywords of JSON Schema.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Keywords {
    title: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "$schema")]
    schema: String,
    #[serde(rename = "$ref")]
    reference: String,
    properties: Option<Point>,
    required: bool,
    default: u8,
}
arbitrary!(Keywords { title, kind, schema, reference, properties, required, default });

/// Fields that are not in alphabetical order.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    zulu: u8,
    alpha: u8,
    mike: u8,
    bravo: Option<u8>,
}
arbitrary!(Ordered { zulu, alpha, mike, bravo });

/// A length in metres.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Metres(u16);
arbitrary!(Metres = made(|(metres,)| Metres(metres)));

/// A transparent wrapper, also in its schema.
#[data]
#[derive(Clone, Debug)]
#[serde(transparent)]
pub(crate) struct Transparent {
    inner: Point,
}
arbitrary!(Transparent = made(|(inner,)| Transparent { inner }));

// Has no description, so that its schema is `true`.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Payload(Value);
arbitrary!(Payload = foreign::json().prop_map(Payload));

/// A schema name that a reference must escape.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Größe {
    width: u8,
    height: u8,
}
arbitrary!(Größe { width, height });

/// A name and a count.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Pair(String, u32);
arbitrary!(Pair = made(|(name, count)| Pair(name, count)));

/// A unit struct.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Unit;
arbitrary!(Unit = Just(Unit));

/// A struct without fields.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Empty {}
arbitrary!(Empty = Just(()).prop_map(|()| Empty {}));

/// A generic struct.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Page<T> {
    items: Vec<T>,
    next: Option<u64>,
}

impl<T: Arbitrary + 'static> Arbitrary for Page<T> {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        made(|(items, next)| Page { items, next })
    }
}

/// A struct whose schema is inlined.
#[data]
#[derive(Clone, Debug)]
#[schemars(inline)]
pub(crate) struct Inline {
    width: u8,
    height: u8,
}
arbitrary!(Inline { width, height });
