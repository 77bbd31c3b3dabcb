//! The compiler error for a plain function in a list of tools.
//!
//! A tool is listed as the struct beside its function. So a plain function would be "expected type, found function",
//! and the compiler checks no trait of a type that does not exist. Therefore each name is imported under an alias, and
//! resolved as a type and as a value, or as a stand-in. A value whose type is the stand-in is a function, a constant or
//! a static.

mod attributes;
mod paths;

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Path;

use crate::args::toolset::Member;
use crate::runtime;

/// A check of the members. An unknown name passes, since the compiler reports it.
pub(super) fn check(members: &[Member]) -> Option<TokenStream> {
    let mut known = HashSet::new();
    let paths = members.iter().flat_map(paths).filter(|path| known.insert(path.to_token_stream().to_string()));
    let members: Vec<_> = paths.collect();
    let names: Vec<_> = members.iter().filter_map(|path| path.get_ident()).collect();
    let checks: Vec<_> = check_names(&names).into_iter().chain(members.into_iter().filter_map(paths::check)).collect();
    (!checks.is_empty()).then(|| {
        quote! {
            #[allow(dead_code, non_camel_case_types, non_upper_case_globals, unused_imports, unused_macros)]
            const _: () = { #(#checks)* };
        }
    })
}

/// A check of members that are single names.
fn check_names(names: &[&Ident]) -> Option<TokenStream> {
    let aliases: Vec<_> = (0..names.len()).map(alias).collect();
    let macros: Vec<_> = names.iter().map(|name| attributes::stand_in(name)).collect();
    let stand_ins = stand_ins(names);
    (!names.is_empty()).then(|| {
        quote! {
            #stand_ins
            #(
                #macros
                use #names as #aliases;
            )*
            const _: () = {
                #(use #aliases as #names;)*
                use __stand_ins::*;
                #(__llm_do::assert_listed::<#names, _>(&#names);)*
            };
        }
    })
}

/// A module with a type and a value of each name.
fn stand_ins(names: &[&Ident]) -> TokenStream {
    let private = runtime::private();
    quote! {
        mod __stand_ins {
            #(
                pub type #names = #private::NoType;
                pub const #names: #private::NoValue = #private::NoValue;
            )*
        }
    }
}

fn alias(place: usize) -> Ident {
    format_ident!("__member_{place}", span = Span::call_site())
}

/// Lists the paths of a member, including those inside a form.
fn paths(member: &Member) -> Vec<&Path> {
    match member {
        Member::Path(path) => vec![path],
        Member::Prefixed { member, .. } => paths(member),
        Member::Picked { member, paths: picked, .. } => paths(member).into_iter().chain(picked).collect(),
    }
}
