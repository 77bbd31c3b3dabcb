//! Names in schemas as identifiers of Rust.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::Ident;
use syn::ext::IdentExt;

use crate::args::toolset::ALL;
use crate::input::name::PRIMITIVES;

/// The names of one module or one struct, each of which is unique.
pub(super) struct Names {
    taken: HashSet<String>,
    span: Span,
}

impl Names {
    /// Creates the names of fields or variants.
    pub(super) fn new(span: Span) -> Self {
        Self { taken: HashSet::new(), span }
    }

    /// Creates the names of types.
    pub(super) fn of_types(span: Span) -> Self {
        Self { taken: HashSet::from([ALL.to_owned()]), span }
    }

    /// Returns the identifier `wanted`, with a number if it exists, such as `name_2`.
    pub(super) fn unique(&mut self, wanted: &str) -> Ident {
        let candidates = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.to_owned()).chain(candidates).find(|name| !self.taken.contains(name));
        let mut ident = identifier(&free.unwrap_or_default());
        ident.set_span(self.span);
        self.taken.insert(ident.unraw().to_string());
        ident
    }

    pub(super) fn span(&self) -> Span {
        self.span
    }
}

/// Returns the name as an identifier: raw if it is a keyword, with `_` if it cannot be raw or would shadow a primitive
/// type.
fn identifier(name: &str) -> Ident {
    if PRIMITIVES.contains(&name) {
        return quote::format_ident!("{name}_");
    }
    // `gen` is a keyword since the edition 2024, which syn does not know.
    let plain =
        syn::parse_str(if name == "gen" { "r#gen" } else { name }).or_else(|_| syn::parse_str(&format!("r#{name}")));
    plain.unwrap_or_else(|_| quote::format_ident!("{name}_"))
}

/// Returns the name in snake case, or `otherwise` if it has no letters or digits.
pub(super) fn snake(name: &str, otherwise: &str) -> String {
    let words: Vec<_> = words(name).iter().map(|word| word.to_lowercase()).collect();
    beginning_with_letter(&words.join("_"), otherwise, "_")
}

/// Returns the name in upper camel case, or `otherwise` if it has no letters or digits.
pub(super) fn camel(name: &str, otherwise: &str) -> String {
    let word = |word: &String| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters.flat_map(char::to_lowercase)).collect::<String>()
    };
    beginning_with_letter(&words(name).iter().map(word).collect::<String>(), otherwise, "")
}

/// Returns the name, after `otherwise` if it does not begin with a letter.
fn beginning_with_letter(name: &str, otherwise: &str, separator: &str) -> String {
    match name.chars().next() {
        None => otherwise.to_owned(),
        Some(first) if first.is_alphabetic() => name.to_owned(),
        Some(_) => format!("{otherwise}{separator}{name}"),
    }
}

/// Splits a name into its words, such as `getHTTPUrl` into `get`, `HTTP` and `Url`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (place, &letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).map_or(' ', |place| letters[place]);
        let is_last_of_capitals =
            before.is_uppercase() && letters.get(place + 1).is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && (before.is_lowercase() || before.is_numeric() || is_last_of_capitals);
        if begins || !is_part(letter) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| is_part(letter)) {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether a letter can be part of an identifier of Rust.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() && syn::parse_str::<Ident>(&format!("_{letter}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_case_and_at_other_characters() {
        let cases = [
            ("create_issue", "create_issue", "CreateIssue"),
            ("perPage", "per_page", "PerPage"),
            ("getHTTPUrl", "get_http_url", "GetHttpUrl"),
            ("files.read-all", "files_read_all", "FilesReadAll"),
            ("v2Beta", "v2_beta", "V2Beta"),
            ("größe", "größe", "Größe"),
            ("+1", "field_1", "Field1"),
            ("$", "field", "Field"),
        ];
        for (name, in_snake, in_camel) in cases {
            assert_eq!((&*snake(name, "field"), &*camel(name, "Field")), (in_snake, in_camel), "{name}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_a_keyword_is_raw() {
        let mut names = Names::new(Span::call_site());
        let given = ["a", "a", "a_2", "type", "self", "gen", "str"].map(|name| names.unique(name).to_string());
        assert_eq!(given, ["a", "a_2", "a_2_2", "r#type", "self_", "r#gen", "str_"]);
    }
}
