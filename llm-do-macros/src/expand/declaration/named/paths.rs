//! The check of a member such as `files::helper`.
//!
//! An import of an unknown path would be a second error. So the name is resolved through a glob import of its module,
//! or as a stand-in of the enclosing block, and the module under an alias, or as an empty module. In longer paths, an
//! unknown module has no such stand-in, since an import that could refer to both is ambiguous; the compiler's own error
//! is sufficient.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Path, PathSegment};

use super::{attributes, stand_ins};

/// A check of a name with one module before it. Items of a type cannot be imported.
pub(super) fn check(path: &Path) -> Option<TokenStream> {
    let names: Vec<_> = path.segments.iter().map(plain).collect::<Option<_>>()?;
    let [module, name] = names[..] else {
        return None;
    };
    if path.leading_colon.is_some() || is_type(module) {
        return None;
    }
    let check = if is_keyword(module) { found_in(module, name) } else { found_in_name(module, name) };
    Some(quote!(const _: () = { #check };))
}

/// The check of a name in a module that may be unknown.
fn found_in_name(module: &Ident, name: &Ident) -> TokenStream {
    let alias = format_ident!("__module", span = Span::call_site());
    let check = found_in(&alias, name);
    let stand_in = attributes::stand_in(module);
    quote! {
        mod #alias {}
        #stand_in
        const _: () = {
            use #module as #alias;
            #check
        };
    }
}

fn found_in(module: &impl ToTokens, name: &Ident) -> TokenStream {
    let stand_ins = stand_ins(&[name]);
    quote! {
        #stand_ins
        use __stand_ins::*;
        const _: () = {
            use #module::*;
            __llm_do::assert_listed::<#name, _>(&#name);
        };
    }
}

fn plain(segment: &PathSegment) -> Option<&Ident> {
    segment.arguments.is_none().then_some(&segment.ident)
}

fn is_keyword(name: &Ident) -> bool {
    ["crate", "self", "super"].iter().any(|keyword| name == keyword)
}

/// Returns whether a name is a type's, by convention.
fn is_type(name: &Ident) -> bool {
    name == "Self" || name.to_string().starts_with(char::is_uppercase)
}
