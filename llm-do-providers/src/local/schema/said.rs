//! What schemas say that hold for the same value.

use serde_json::{Map, Value};

/// The keywords that say something of the values of one type.
const KEYWORDS: [(&str, &[&str]); 4] = [
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

/// The keywords that say which values there are, whatever their type.
const VALUES: [&str; 3] = ["type", "const", "enum"];

/// The keywords that say something, each once, the properties that are named, and those that must be there.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    keywords: Vec<String>,
    pub(super) named: Vec<String>,
    pub(super) required: Vec<String>,
    /// Whether an object may have properties that are not named.
    pub(super) is_open: bool,
}

impl Said {
    /// Returns what `fields` say themselves, without the schemas that they refer to or list.
    pub(super) fn by(fields: &Map<String, Value>) -> Self {
        let says = |key: &&String| VALUES.contains(&key.as_str()) || types(key).next().is_some();
        let named = fields.get("properties").and_then(Value::as_object);
        let required = fields.get("required").and_then(Value::as_array);
        let others = fields.get("additionalProperties").is_some_and(|others| *others != false);
        Self {
            keywords: fields.keys().filter(says).cloned().collect(),
            named: named.into_iter().flat_map(Map::keys).cloned().collect(),
            required: required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
            is_open: others || fields.contains_key("patternProperties"),
        }
    }

    /// Adds what others say.
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

    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        self.keywords.is_empty()
    }

    /// Whether the keyword `key` is said.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keywords.iter().any(|said| said == key)
    }

    /// Whether it is said which values there are, one by one.
    pub(super) fn lists_values(&self) -> bool {
        self.has("const") || self.has("enum")
    }

    /// Whether something is said of the values of the type `name` alone.
    pub(super) fn speaks_of(&self, name: &str) -> bool {
        let name = if name == "integer" { "number" } else { name };
        self.types().any(|spoken_of| spoken_of == name)
    }

    /// Returns the types of which something is said that is said of no other.
    pub(super) fn types(&self) -> impl Iterator<Item = &'static str> {
        let spoken_of = |keys: &[&str]| keys.iter().any(|key| self.has(key));
        KEYWORDS.into_iter().filter(move |(_, keys)| spoken_of(keys)).map(|(name, _)| name)
    }
}

/// Returns the types of whose values `key` says something.
fn types(key: &str) -> impl Iterator<Item = &'static str> {
    KEYWORDS.into_iter().filter(move |(_, keys)| keys.contains(&key)).map(|(name, _)| name)
}
