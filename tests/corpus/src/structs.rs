//! Structs, and what serde's attributes make of them.

use std::collections::BTreeMap;

use llm_do::data;
use proptest::prelude::*;
use serde_json::Value;

use crate::{arbitrary, foreign, made};

/// A point of a plane.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// To the right.
    x: i32,
    /// Upwards.
    y: i32,
}
arbitrary!(Point { x, y });

/// A person, for whom much is optional.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// What they are called.
    name: String,
    /// In years.
    age: Option<u8>,
    /// Where they are at home.
    home: Point,
    /// Where else they may be.
    elsewhere: Option<Point>,
    friends: Vec<Point>,
}
arbitrary!(Person { name, age, home, elsewhere, friends });

/// Names that are not those of the fields.
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

/// Values for what is absent.
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

/// Where things begin.
#[data]
#[derive(Clone, Debug, Default)]
#[serde(default)]
pub(crate) struct Corner {
    left: f64,
    top: f64,
}
arbitrary!(Corner { left, top });

/// Fields of another struct among its own.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Flattened {
    label: String,
    #[serde(flatten)]
    at: Point,
    last: bool,
}
arbitrary!(Flattened { label, at, last });

/// Whatever else is given.
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

/// Absent where there is nothing to say.
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

/// Nothing but its fields.
#[data]
#[derive(Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    key: String,
    value: Option<i64>,
}
arbitrary!(Closed { key, value });

/// Fields named as a schema's own keywords are.
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

/// Fields in no order of the alphabet.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    zulu: u8,
    alpha: u8,
    mike: u8,
    bravo: Option<u8>,
}
arbitrary!(Ordered { zulu, alpha, mike, bravo });

/// Metres.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Metres(u16);
arbitrary!(Metres = made(|(metres,)| Metres(metres)));

/// As what it holds, also in its schema.
#[data]
#[derive(Clone, Debug)]
#[serde(transparent)]
pub(crate) struct Transparent {
    inner: Point,
}
arbitrary!(Transparent = made(|(inner,)| Transparent { inner }));

// Nothing is said of it, so that its schema is `true`.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Payload(Value);
arbitrary!(Payload = foreign::json().prop_map(Payload));

/// A name that a reference cannot have as it is.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Größe {
    width: u8,
    height: u8,
}
arbitrary!(Größe { width, height });

/// A name and how often.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Pair(String, u32);
arbitrary!(Pair = made(|(name, count)| Pair(name, count)));

/// Nothing.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Unit;
arbitrary!(Unit = Just(Unit));

/// No fields.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Empty {}
arbitrary!(Empty = Just(()).prop_map(|()| Empty {}));

/// Some of many.
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

/// A struct whose schema stands where it is used.
#[data]
#[derive(Clone, Debug)]
#[schemars(inline)]
pub(crate) struct Inline {
    width: u8,
    height: u8,
}
arbitrary!(Inline { width, height });
