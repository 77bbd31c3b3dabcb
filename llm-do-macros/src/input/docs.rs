//! Doc comments as descriptions for models.

use llm_do_worker_file::without_item_links;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, parse_quote};

use super::{Function, Kind};
use crate::args::Text;
use crate::errors::Errors;

/// Returns the description of the item: `given`, otherwise its doc comment.
pub(super) fn description(kind: Kind, given: Option<Text>, function: &Function, errors: &mut Errors) -> TokenStream {
    let text = given.map_or_else(|| expression(&attributes(&function.attrs)), |text| text.0);
    if kind != Kind::Entry && is_blank(&text) {
        errors.push(
            &function.signature.ident,
            format!("missing doc comment: {kind} needs one, which the model reads as its description"),
        );
    }
    text.into_token_stream()
}

/// Returns the doc comments among the attributes.
pub(super) fn attributes(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect()
}

/// Returns the doc comments as one `&'static str` expression, without links to items, which models cannot follow.
fn expression(docs: &[Attribute]) -> Expr {
    let lines: Vec<_> = docs.iter().filter_map(line).collect();
    if let Some(text) = lines.iter().map(|line| literal(line)).collect::<Option<Vec<_>>>() {
        let text = text.join("\n").lines().map(unindented).collect::<Vec<_>>().join("\n");
        let text = without_item_links(text.trim());
        return parse_quote!(#text);
    }
    // Only the compiler can evaluate a line such as `#[doc = include_str!(..)]`, so its links are kept.
    parse_quote!(::core::concat!(#(#lines, "\n"),*))
}

/// Returns the text of the doc comments.
pub(super) fn text(attrs: &[Attribute]) -> TokenStream {
    expression(&attributes(attrs)).into_token_stream()
}

/// Returns the text of the doc comments, unless it is blank.
pub(super) fn non_blank_text(attrs: &[Attribute]) -> Option<TokenStream> {
    let text = expression(&attributes(attrs));
    (!is_blank(&text)).then(|| text.into_token_stream())
}

fn line(doc: &Attribute) -> Option<&Expr> {
    match &doc.meta {
        Meta::NameValue(meta) => Some(&meta.value),
        // For example, `#[doc(hidden)]`.
        Meta::Path(_) | Meta::List(_) => None,
    }
}

fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn unindented(line: &str) -> &str {
    line.strip_prefix(' ').unwrap_or(line)
}

fn is_blank(text: &Expr) -> bool {
    literal(text).is_some_and(|text| text.trim().is_empty())
}
