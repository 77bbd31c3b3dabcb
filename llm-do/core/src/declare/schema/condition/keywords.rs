//! The keywords of JSON Schema, and the types of values to which they apply.

use std::fmt;

use serde_json::Value;

/// The keywords of draft 2020-12, and those of earlier drafts that conversion does not change.
pub(super) const KEYWORDS: [&str; 56] = [
    "$comment",
    "$defs",
    "$dynamicRef",
    "$ref",
    "$vocabulary",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
    "$recursiveRef",
    "nullable",
];

/// The names of types, each with its bits; an integer is also a number.
const NAMES: [(&str, u8); 7] = [
    ("null", 1),
    ("boolean", 1 << 1),
    ("string", 1 << 2),
    ("integer", INTEGER),
    ("number", NUMBER),
    ("array", ARRAY),
    ("object", OBJECT),
];
const STRING: u8 = 1 << 2;
const INTEGER: u8 = 1 << 3;
const NUMBER: u8 = INTEGER | 1 << 4;
const ARRAY: u8 = 1 << 5;
const OBJECT: u8 = 1 << 6;

/// A set of types of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);

    /// Returns the types in the value of the keyword `type`.
    pub(super) fn named(names: &Value) -> Option<Self> {
        let of = |name: &Value| NAMES.iter().find(|(known, _)| name == known).map(|(_, bits)| Self(*bits));
        match names {
            Value::Array(names) => names.iter().try_fold(Self::NONE, |kinds, name| Some(kinds.or(of(name)?))),
            name => of(name),
        }
    }

    /// Returns the types of values.
    pub(super) fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let bits = |value: &Value| match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::String(_) => STRING,
            Value::Number(_) => NUMBER,
            Value::Array(_) => ARRAY,
            Value::Object(_) => OBJECT,
        };
        Self(values.into_iter().fold(0, |kinds, value| kinds | bits(value)))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether a value can have a type of both.
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_contained = |bits: u8| self.0 & bits == bits;
        let names = NAMES.iter().filter(|(name, bits)| {
            let is_number_too = *name == "integer" && is_contained(NUMBER);
            is_contained(*bits) && !is_number_too
        });
        let names: Vec<_> = names.map(|(name, _)| format!("`{name}`")).collect();
        write!(f, "of type {}", names.join(" or "))
    }
}

/// Returns the types of the values to which a keyword applies; it holds for all other values.
pub(super) fn kinds_of_keyword(key: &str) -> Option<Kinds> {
    let bits = match key {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => NUMBER,
        "minLength" | "maxLength" | "pattern" => STRING,
        "contains" | "items" | "maxContains" | "maxItems" | "minContains" | "minItems" | "prefixItems"
        | "unevaluatedItems" | "uniqueItems" => ARRAY,
        "additionalProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "properties"
        | "propertyNames"
        | "required"
        | "unevaluatedProperties" => OBJECT,
        _ => return None,
    };
    Some(Kinds(bits))
}
