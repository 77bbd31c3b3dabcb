//! The attributes `#[serde]` and `#[schemars]` on a parameter.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident};

use crate::args::skip_past_comma;
use crate::errors::Errors;

/// Returns the valid `#[schemars]` attributes. Keys of `#[arg]` and `#[serde]` are errors.
pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("serde")).for_each(|attr| reject_serde(attr, errors));
    let schemars = attrs.iter().filter(|attr| attr.path().is_ident("schemars"));
    schemars.filter(|attr| check(attr, errors)).cloned().collect()
}

/// Adds an error for `#[serde]`: an argument is serialized and deserialized by its type only.
fn reject_serde(attr: &Attribute, errors: &mut Errors) {
    let keys = keys(attr);
    let supported: Vec<_> = keys.iter().filter_map(|key| Some((key, of_arg(&key.to_string())?))).collect();
    if supported.is_empty() {
        let way_out = "put it on a field of a struct, and take the struct with `#[arg(flatten)]`";
        errors.push(attr, format!("`#[serde]` is not supported on a parameter; {way_out}"));
    }
    for (key, form) in supported {
        errors.push(key, instead("serde", key, form));
    }
}

/// Adds errors for keys with which the schema and the deserialization would differ.
fn check(attr: &Attribute, errors: &mut Errors) -> bool {
    let keys = keys(attr);
    let faults = keys.iter().filter_map(|key| Some((key, fault(key)?)));
    faults.map(|(key, fault)| errors.push(key, fault)).count() == 0
}

fn fault(key: &Ident) -> Option<String> {
    let name = key.to_string();
    match (name.as_str(), of_arg(&name)) {
        (_, Some(form)) => Some(instead("schemars", key, form)),
        ("alias", _) => Some("an argument cannot have an alias; remove it".to_owned()),
        (name, _) if name.starts_with("skip") => {
            Some(format!("an argument cannot have `{name}`; mark a parameter that callers do not pass with `#[ctx]`"))
        }
        _ => None,
    }
}

fn instead(attribute: &str, key: &Ident, form: &str) -> String {
    format!("`{key}` is not supported in `#[{attribute}]` on a parameter; write `#[arg({form})]`")
}

/// Returns the syntax in `#[arg]` of the `key` of serde and schemars.
fn of_arg(key: &str) -> Option<&'static str> {
    match key {
        "rename" => Some("rename = \"..\""),
        "default" => Some("default = .."),
        "flatten" => Some("flatten"),
        "description" => Some("description = \"..\""),
        "example" => Some("example = .."),
        _ => None,
    }
}

/// Returns the keys of the attribute. The derive reports other errors.
fn keys(attr: &Attribute) -> Vec<Ident> {
    let words = |input: ParseStream| {
        let mut keys = Vec::new();
        while !input.is_empty() {
            keys.extend(Ident::parse_any(input));
            skip_past_comma(input);
        }
        Ok(keys)
    };
    attr.parse_args_with(words).unwrap_or_default()
}
