//! The names under which items are registered.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Ident, LitStr};

use crate::errors::Errors;

/// The maximum length of a name that every provider accepts.
const MAX_LEN: usize = 64;

/// The rule for a name, for an error.
pub(super) const RULE: &str = "expected 1 to 64 ASCII letters, digits, `_` or `-`";

/// The rule for the name of an argument, for an error.
pub(super) const ARGUMENT_RULE: &str = "expected 1 to 64 ASCII letters, digits, `_`, `-` or `.`";

/// The primitive types, which a type with the same name shadows.
pub(super) const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

/// The name of the tool with which a model returns the output of a worker.
const RESERVED: &str = "final_result";

/// Returns the given name of an item, otherwise its own name.
pub(super) fn item_name(ident: &Ident, given: Option<&LitStr>, errors: &mut Errors) -> String {
    let (name, span) = given.map_or_else(|| own_name(ident), |name| (name.value(), name.span()));
    let way_out = if given.is_some() { "" } else { "; set another with `name = \"..\"`" };
    if name == RESERVED {
        let way_out = if given.is_some() { "; choose another" } else { way_out };
        errors.push_at(span, format!("the name `{RESERVED}` is reserved for the output of workers{way_out}"));
    }
    check(&name, span, way_out, errors);
    name
}

/// Returns the name of a toolset.
pub(super) fn toolset_name(ident: &Ident, errors: &mut Errors) -> String {
    let (name, span) = own_name(ident);
    check(&name, span, "", errors);
    name
}

fn check(name: &str, span: Span, way_out: &str, errors: &mut Errors) {
    if !is_valid(name) {
        errors.push_at(span, format!("invalid name `{name}`: {RULE}{way_out}"));
    }
}

fn own_name(ident: &Ident) -> (String, Span) {
    (ident.unraw().to_string(), ident.span())
}

/// Returns whether a name is valid for an argument.
pub(super) fn is_valid_argument(name: &str) -> bool {
    is_valid(&name.replace('.', "_"))
}

/// Returns whether every provider accepts the name.
pub(super) fn is_valid(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_LEN).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// Returns whether a type can have the name, and adds an error if it would shadow a primitive type.
pub(super) fn check_type(ident: &Ident, what: &str, way_out: &str, errors: &mut Errors) -> bool {
    let name = ident.unraw().to_string();
    let is_primitive = PRIMITIVES.contains(&name.as_str());
    if is_primitive {
        errors.push(ident, format!("{what} `{name}` would shadow the primitive type `{name}`; {way_out}"));
    }
    !is_primitive
}
