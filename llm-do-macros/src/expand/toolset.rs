//! `toolset!`

use proc_macro2::TokenStream;
use quote::quote;

use super::{declaration, hidden};
use crate::input::Toolset;

/// The type that stands for a group, its traits and its registration.
pub(super) fn registration(toolset: &Toolset) -> TokenStream {
    let Toolset { attrs, cfgs, vis, ident, name, description, span, members } = toolset;
    let listed = declaration::members(name, members, *span);
    let includes = declaration::includes(ident, members);
    let items = quote! {
        #listed
        impl __llm_do::Toolset for #ident {
            const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<{ __llm_do::count(__MEMBERS) }>(__MEMBERS);
        }
        #includes
        __llm_do::inventory::submit! {
            __llm_do::ToolsetDef::new(
                #name,
                #description,
                <#ident as __llm_do::Toolset>::MEMBERS,
                __llm_do::Location::new(::core::file!(), ::core::line!()),
            )
        }
    };
    let hidden = hidden(cfgs, &items);
    quote! {
        #(#attrs)*
        #[allow(non_camel_case_types, missing_debug_implementations, clippy::all, clippy::pedantic)]
        #vis enum #ident {}
        #hidden
    }
}
