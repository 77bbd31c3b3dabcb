//! Renames properties with names that a provider refuses, and restores the names in the arguments of a call.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::note;
use super::pointer::pointed;

/// The maximum length of a property name.
const LONGEST: usize = 64;
/// The maximum number of schemas that are considered for one value of the arguments.
const MOST_TOGETHER: usize = 64;

/// The replacement names of properties, by the refused name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// Returns names for the properties of a schema whose names are not `^[a-zA-Z0-9_.-]{1,64}$`.
    pub(crate) fn for_schema(schema: &Value) -> Self {
        let mut all = BTreeSet::new();
        collect(schema, &mut all);
        let mut taken: BTreeSet<String> =
            all.iter().filter(|name| is_plain(name)).map(|name| (*name).to_owned()).collect();
        let mut names = BTreeMap::new();
        for name in all.into_iter().filter(|name| !is_plain(name)) {
            let base = plain(name);
            let numbered = (2_usize..).map(|number| {
                let ending = format!("_{number}");
                let kept: String = base.chars().take(LONGEST - ending.len()).collect();
                kept + &ending
            });
            let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
            let free = free.unwrap_or_default();
            taken.insert(free.clone());
            names.insert(name.to_owned(), free);
        }
        Self(names)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lists the refused names, each with its replacement.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(refused, name)| (refused.as_str(), name.as_str()))
    }

    fn of_property<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.get(name).map_or(name, String::as_str)
    }

    /// Renames the properties of a schema; the description of each states its original name.
    pub(crate) fn rename(&self, schema: &mut Value) {
        match schema {
            Value::Array(parts) => parts.iter_mut().for_each(|part| self.rename(part)),
            Value::Object(keywords) => {
                for (key, value) in keywords.iter_mut() {
                    self.rename_keyword(key, value);
                }
            }
            _ => {}
        }
    }

    fn rename_keyword(&self, key: &str, value: &mut Value) {
        match (key, value) {
            ("const" | "default" | "enum" | "examples", _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, mut schema) in std::mem::take(properties) {
                    self.rename(&mut schema);
                    if let Some(other) = self.0.get(&name) {
                        named(&mut schema, &name);
                        properties.insert(other.clone(), schema);
                    } else {
                        properties.insert(name, schema);
                    }
                }
            }
            ("dependentRequired", Value::Object(needed)) => {
                for (name, mut names) in std::mem::take(needed) {
                    self.rename_listed(&mut names);
                    needed.insert(self.of_property(&name).to_owned(), names);
                }
            }
            ("dependentSchemas", Value::Object(schemas)) => {
                for (name, mut schema) in std::mem::take(schemas) {
                    self.rename(&mut schema);
                    schemas.insert(self.of_property(&name).to_owned(), schema);
                }
            }
            ("required", names) => self.rename_listed(names),
            ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| self.rename(schema));
            }
            (_, other) => self.rename(other),
        }
    }

    fn rename_listed(&self, names: &mut Value) {
        for name in names.as_array_mut().into_iter().flatten() {
            if let Some(other) = name.as_str().and_then(|name| self.0.get(name)) {
                *name = Value::String(other.clone());
            }
        }
    }

    /// Restores the names of properties in a value of `schema`, which has the original names.
    pub(crate) fn restore(&self, value: &mut Value, schema: &Value) {
        if !self.is_empty() {
            Restorer { names: self, root: schema }.restore(value, vec![schema]);
        }
    }
}

struct Restorer<'n> {
    names: &'n Names,
    root: &'n Value,
}

impl<'n> Restorer<'n> {
    fn restore(&self, value: &mut Value, schemas: Vec<&'n Value>) {
        let schemas = self.with_subschemas(schemas);
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let of_item = |schema: &&'n Value| {
                        let fixed = schema.get("prefixItems").and_then(|items| items.get(index));
                        fixed.or_else(|| schema.get("items"))
                    };
                    self.restore(item, schemas.iter().filter_map(of_item).collect());
                }
            }
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    let own = self.own_name(&name, &schemas).unwrap_or(name);
                    self.restore(&mut field, schemas.iter().filter_map(|schema| of_field(schema, &own)).collect());
                    fields.insert(own, field);
                }
            }
            _ => {}
        }
    }

    /// Returns the original name of the property that was sent as `sent`.
    fn own_name(&self, sent: &str, schemas: &[&Value]) -> Option<String> {
        let (own, _) = self.names.iter().find(|(_, name)| *name == sent)?;
        schemas.iter().any(|schema| schema["properties"].get(own).is_some()).then(|| own.to_owned())
    }

    /// Adds the schemas that may apply to the same value.
    fn with_subschemas(&self, mut schemas: Vec<&'n Value>) -> Vec<&'n Value> {
        let mut next = 0;
        while let Some(&schema) = schemas.get(next).filter(|_| schemas.len() < MOST_TOGETHER) {
            next += 1;
            let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
            let single = ["if", "then", "else"].into_iter().filter_map(|key| schema.get(key));
            let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
            let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| pointed(self.root, to));
            let added: Vec<_> = lists.chain(single).chain(dependent).chain(target).take(MOST_TOGETHER).collect();
            for schema in added {
                if !schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
                    schemas.push(schema);
                }
            }
        }
        schemas
    }
}

fn of_field<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let own = schema.get("properties").and_then(|properties| properties.get(name));
    own.or_else(|| schema.get("additionalProperties"))
}

fn collect<'s>(schema: &'s Value, names: &mut BTreeSet<&'s str>) {
    match schema {
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, names)),
        Value::Object(keywords) => {
            for (key, value) in keywords {
                match (key.as_str(), value) {
                    ("const" | "default" | "enum" | "examples", _) => {}
                    ("properties", Value::Object(properties)) => {
                        names.extend(properties.keys().map(String::as_str));
                        properties.values().for_each(|schema| collect(schema, names));
                    }
                    ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(schemas)) => {
                        schemas.values().for_each(|schema| collect(schema, names));
                    }
                    (_, other) => collect(other, names),
                }
            }
        }
        _ => {}
    }
}

fn is_plain(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain_char)
}

fn is_plain_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_.-".contains(character)
}

fn plain(name: &str) -> String {
    let name: String = name.chars().take(LONGEST).map(|c| if is_plain_char(c) { c } else { '_' }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Adds the original name of a property to its description.
fn named(schema: &mut Value, name: &str) {
    if let Value::Object(keywords) = schema {
        let own = keywords.shift_remove("description");
        note::describe(keywords, own.as_ref(), &[format!("The name of this property is `{name}`.")]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Names, is_plain};

    #[test]
    fn names_are_plain_different_and_named_back_at_any_depth() {
        let long = "x".repeat(70);
        let inner =
            json!({"type": "object", "properties": {"größe": {}, "gr__e": {"type": "integer"}}, "required": ["größe"]});
        let mut schema = json!({
            "type": "object", "required": ["$filter", "a b"],
            "properties": {
                "$filter": {"type": "string", "description": "Which"}, "_filter": {}, "a b": {"type": "array", "items": {"$ref": "#/$defs/Inner"}},
                "": {}, &long: {}, "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Inner"}},
            },
            "$defs": {"Inner": inner},
        });
        let own = schema.clone();
        let names = Names::for_schema(&schema);
        names.rename(&mut schema);
        let sent: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert!(sent.len() == 6 && sent.iter().all(|name| is_plain(name)), "{sent:?}");
        assert_eq!(schema["required"], json!(["_filter_2", "a_b"]));
        assert_eq!(schema["properties"]["_filter_2"]["description"], "Which. The name of this property is `$filter`.");
        let mut arguments = json!({
            "_filter": 1, "_filter_2": "x", "a_b": [{"gr__e": 1, "gr__e_2": 2}],
            "map": {"a_b": {"gr__e_2": 3}}, "other": {"a_b": 1},
        });
        names.restore(&mut arguments, &own);
        let expected: Value = json!({
            "_filter": 1, "$filter": "x", "a b": [{"gr__e": 1, "größe": 2}], "map": {"a_b": {"größe": 3}}, "other": {"a_b": 1},
        });
        assert_eq!(arguments, expected);
    }

    #[test]
    fn plain_names_stay() {
        let schema = json!({"type": "object", "properties": {"a.b-c_1": {}}, "required": ["a.b-c_1"]});
        assert!(Names::for_schema(&schema).is_empty());
    }
}
