//! Derives types from the keywords of a schema.

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Map, Value};
use syn::{Type, parse_quote};

use crate::runtime;

/// Keywords that do not change the set of valid values.
const ANNOTATIONS: [&str; 10] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Returns the type of any JSON value.
pub(super) fn any() -> Type {
    let private = runtime::private();
    parse_quote!(#private::Value)
}

/// Returns the type of a value that may be absent or `null`.
pub(super) fn optional(ty: &Type, is_optional: bool) -> Type {
    if is_optional && !is_option(ty) { parse_quote!(::core::option::Option<#ty>) } else { ty.clone() }
}

fn is_option(ty: &Type) -> bool {
    crate::input::last_segment(ty).is_some_and(|segment| segment.ident == "Option")
}

/// Returns the type of the values of a simple type.
pub(super) fn simple(name: &str) -> Option<TokenStream> {
    match name {
        "string" => Some(quote!(::std::string::String)),
        "integer" => Some(quote!(::core::primitive::i64)),
        "number" => Some(quote!(::core::primitive::f64)),
        "boolean" => Some(quote!(::core::primitive::bool)),
        _ => None,
    }
}

/// Returns the only type in `type` besides `null`, and whether `null` is listed; infers `object` and `array`.
pub(super) fn single_type(schema: &Map<String, Value>) -> Option<(&str, bool)> {
    let listed = match schema.get("type") {
        Some(Value::String(name)) => return Some((name, false)),
        Some(Value::Array(listed)) => listed,
        _ if schema.contains_key("properties") => return Some(("object", false)),
        _ if schema.contains_key("items") => return Some(("array", false)),
        _ => return None,
    };
    let names: Vec<_> = listed.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
    let [name] = names[..] else { return None };
    Some((name, listed.len() > 1))
}

/// Returns the strings that the schema lists as its values, and whether it lists `null`; `None` for other schemas.
pub(super) fn strings(schema: &Value) -> Option<(Vec<String>, bool)> {
    let schema = schema.as_object()?;
    if let Some(alternatives) = alternatives(schema).filter(|_| has_only(schema, &COMBINED)) {
        let parts = alternatives.iter().map(|part| if is_null(part) { Some((vec![], true)) } else { strings(part) });
        let (texts, nulls): (Vec<_>, Vec<_>) = parts.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        return named((distinct(texts.concat()), nulls.contains(&true)));
    }
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.as_slice(),
        (None, Some(value)) => std::slice::from_ref(value),
        _ => return None,
    };
    let texts = values.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let has_null = values.iter().any(Value::is_null);
    let is_complete = texts.len() + values.iter().filter(|value| value.is_null()).count() == values.len();
    is_complete.then_some((distinct(texts), has_null)).and_then(named)
}

fn named(found: (Vec<String>, bool)) -> Option<(Vec<String>, bool)> {
    (!found.0.is_empty()).then_some(found)
}

fn distinct(mut texts: Vec<String>) -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    texts.retain(|text| known.insert(text.clone()));
    texts
}

/// Returns the only schema that a combination contains besides `null`, and whether it contains `null`.
pub(super) fn single_part(schema: &Map<String, Value>) -> Option<(&Value, bool)> {
    if !has_only(schema, &COMBINED) {
        return None;
    }
    let parts = alternatives(schema).or_else(|| schema.get("allOf")?.as_array())?;
    let others: Vec<_> = parts.iter().filter(|part| !is_null(part)).collect();
    let [part] = others[..] else { return None };
    Some((part, parts.len() > 1))
}

/// Returns the schemas of `anyOf` or `oneOf`, if it is the only combination.
fn alternatives(schema: &Map<String, Value>) -> Option<&Vec<Value>> {
    let combined = COMBINED.iter().filter_map(|keyword| Some((*keyword, schema.get(*keyword)?)));
    match combined.collect::<Vec<_>>()[..] {
        [("anyOf" | "oneOf", alternatives)] => alternatives.as_array(),
        _ => None,
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null") || schema.get("const").is_some_and(Value::is_null)
}

/// Returns whether the schema has only these keywords and annotations.
pub(super) fn has_only(schema: &Map<String, Value>, keywords: &[&str]) -> bool {
    let is_known = |key: &String| {
        let key = key.as_str();
        keywords.contains(&key) || ANNOTATIONS.contains(&key) || matches!(key, "$defs" | "definitions")
    };
    schema.keys().all(is_known)
}

/// Returns whether the schema restricts the fields of an object only by its properties.
pub(super) fn is_struct(schema: &Map<String, Value>) -> bool {
    let has_properties = schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    let is_map = schema.get("additionalProperties").is_some_and(Value::is_object);
    let names_fields = |part: &Value| ["$ref", "properties"].iter().any(|keyword| part.get(keyword).is_some());
    let parts = COMBINED.iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
    let has_more = parts.into_iter().any(names_fields) || schema.contains_key("patternProperties");
    has_properties && !is_map && !has_more
}
