//! What serde and schemars are told of a field, by attributes on the parameter.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident};

use super::Kind;
use crate::args::skip_past_comma;
use crate::errors::Errors;

/// Returns the attributes for the field, without those that say what a tool's schema has no place for.
pub(super) fn read(kind: Kind, attrs: &[Attribute], errors: &mut Errors) -> Vec<Attribute> {
    attrs.iter().filter(|attr| is_for_field(attr) && check(kind, attr, errors)).cloned().collect()
}

fn is_for_field(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// Notes what would leave the schema, the derives and the check for distinct names with different sets of arguments.
fn check(kind: Kind, attr: &Attribute, errors: &mut Errors) -> bool {
    let keys = keys(attr);
    let faults = keys.iter().filter_map(|key| fault(kind, key).map(|fault| (key, fault)));
    faults.map(|(key, fault)| errors.push(key, fault)).count() == 0
}

fn fault(kind: Kind, key: &Ident) -> Option<String> {
    let rule = format!("{kind} has a closed set of arguments, each of one name");
    match key.to_string().as_str() {
        "rename" => Some("an argument's name is `#[arg]`'s to give: write `#[arg(rename = \"..\")]`".to_owned()),
        "flatten" => Some(format!("{rule}: take the struct as one argument, without `flatten`")),
        "alias" => Some(format!("{rule}: take `alias` away")),
        _ => None,
    }
}

/// Returns the words that begin the attribute's arguments; what else is at fault there is the derives' to say.
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
