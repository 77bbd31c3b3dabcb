//! What serde and schemars are told of a parameter.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident};

use crate::args::skip_past_comma;
use crate::errors::Errors;

/// Returns what schemars is told, and notes what serde is told, and what is `#[arg]`'s to say.
pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("serde")).for_each(|attr| refuse_serde(attr, errors));
    let schemars = attrs.iter().filter(|attr| attr.path().is_ident("schemars"));
    schemars.filter(|attr| check(attr, errors)).cloned().collect()
}

/// The macro reads and writes each argument as its type does, so serde can be told something by the type only.
fn refuse_serde(attr: &Attribute, errors: &mut Errors) {
    let keys = keys(attr);
    let own: Vec<_> = keys.iter().filter_map(|key| Some((key, of_arg(&key.to_string())?))).collect();
    if own.is_empty() {
        let way_out = "put it into a type of your own, and take that type, or its fields by `#[arg(flatten)]`";
        errors.push(attr, format!("serde cannot be told of one parameter: {way_out}"));
    }
    for (key, form) in own {
        errors.push(key, format!("this is `#[arg]`'s to say: write `#[arg({form})]`"));
    }
}

/// Notes what would leave schema and decoding with different sets of arguments.
fn check(attr: &Attribute, errors: &mut Errors) -> bool {
    let keys = keys(attr);
    let faults = keys.iter().filter_map(|key| Some((key, fault(&key.to_string())?)));
    faults.map(|(key, fault)| errors.push(key, fault)).count() == 0
}

fn fault(key: &str) -> Option<String> {
    match (key, of_arg(key)) {
        (_, Some(form)) => Some(format!("this is `#[arg]`'s to say: write `#[arg({form})]`")),
        ("alias", _) => Some("an argument has one name: take `alias` away".to_owned()),
        (key, _) if key.starts_with("skip") => Some("a parameter that no caller gives is marked `#[ctx]`".to_owned()),
        _ => None,
    }
}

/// Returns how `#[arg]` says what serde and schemars say by `key`.
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

/// Returns the words that begin the attribute's arguments; what else is at fault there is the derive's to say.
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
