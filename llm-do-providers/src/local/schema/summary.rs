//! A summary of the schemas that apply to one value.

use serde_json::{Map, Value};

/// The keywords that constrain values of one type.
const TYPE_KEYWORDS: [(&str, &[&str]); 4] = [
    ("string", &["minLength", "maxLength", "pattern", "format"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]),
    (
        "object",
        &[
            "properties",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
        ],
    ),
];

/// The keywords that constrain values of any type.
const ANY_TYPE: [&str; 3] = ["type", "const", "enum"];

/// The constraining keywords, without duplicates, and the named and required properties.
#[derive(Clone, Debug, Default)]
pub(super) struct SchemaSummary {
    keywords: Vec<String>,
    pub(super) named: Vec<String>,
    pub(super) required: Vec<String>,
    /// Whether an object may have properties that are not named.
    pub(super) is_open: bool,
}

impl SchemaSummary {
    /// Summarizes the keywords of `fields`, without references and applicators.
    pub(super) fn from_fields(fields: &Map<String, Value>) -> Self {
        let is_constraint = |key: &&String| ANY_TYPE.contains(&key.as_str()) || types_of(key).next().is_some();
        let named = fields.get("properties").and_then(Value::as_object);
        let required = fields.get("required").and_then(Value::as_array);
        let allows_others = fields.get("additionalProperties").is_some_and(|allows_others| *allows_others != false);
        Self {
            keywords: fields.keys().filter(is_constraint).cloned().collect(),
            named: named.into_iter().flat_map(Map::keys).cloned().collect(),
            required: required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            is_open: allows_others || fields.contains_key("patternProperties"),
        }
    }

    /// Adds another summary.
    pub(super) fn extend(&mut self, other: &Self) {
        self.is_open |= other.is_open;
        let lists = [
            (&mut self.keywords, &other.keywords),
            (&mut self.named, &other.named),
            (&mut self.required, &other.required),
        ];
        for (list, more) in lists {
            for word in more {
                if !list.contains(word) {
                    list.push(word.clone());
                }
            }
        }
    }

    /// Returns whether there is no constraint.
    pub(super) fn is_empty(&self) -> bool {
        self.keywords.is_empty()
    }

    /// Returns whether the keyword `key` is present.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keywords.iter().any(|keyword| keyword == key)
    }

    /// Returns whether `const` or `enum` lists the values.
    pub(super) fn enumerates_values(&self) -> bool {
        self.has("const") || self.has("enum")
    }

    /// Returns whether a keyword constrains the values of the type `name` specifically.
    pub(super) fn constrains(&self, name: &str) -> bool {
        let name = if name == "integer" { "number" } else { name };
        self.constrained_types().any(|constrained| constrained == name)
    }

    /// Returns the types that have a specific constraint.
    pub(super) fn constrained_types(&self) -> impl Iterator<Item = &'static str> {
        let is_constrained = |keys: &[&str]| keys.iter().any(|key| self.has(key));
        TYPE_KEYWORDS.into_iter().filter(move |(_, keys)| is_constrained(keys)).map(|(name, _)| name)
    }
}

/// Returns the types that the keyword `key` constrains.
fn types_of(key: &str) -> impl Iterator<Item = &'static str> {
    TYPE_KEYWORDS.into_iter().filter(move |(_, keys)| keys.contains(&key)).map(|(name, _)| name)
}
