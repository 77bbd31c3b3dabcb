//! The name under which an item is registered.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Ident, LitStr};

use crate::errors::Errors;

/// The longest name that every provider accepts.
const MAX_LEN: usize = 64;

/// Returns the given name, or the item's.
pub(super) fn read(ident: &Ident, given: Option<&LitStr>, errors: &mut Errors) -> String {
    let (name, span) = given.map_or_else(|| of(ident), |name| (name.value(), name.span()));
    if !is_valid(&name) {
        let rule = "models accept names of 1 to 64 letters `A-Z`, `a-z`, digits, `_` and `-` only";
        let hint = if given.is_some() { "" } else { "; give one: `name = \"..\"`" };
        errors.push_at(span, format!("{rule}{hint}"));
    }
    name
}

fn of(ident: &Ident) -> (String, Span) {
    (ident.unraw().to_string(), ident.span())
}

fn is_valid(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_LEN).contains(&name.len()) && name.bytes().all(is_allowed)
}
