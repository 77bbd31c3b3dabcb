//! `toolset!`, and the code for every toolset with several members.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

use super::{declaration, in_anonymous_const, named_instance, tool};
use crate::args::approval::Approval;
use crate::args::on_unknown::OnUnknown;
use crate::args::toolset::Member;
use crate::input::{GroupMembers, Toolset};

/// The type of a group, its traits and its registration.
pub(super) fn registration(toolset: &Toolset) -> TokenStream {
    let Toolset { attrs, cfgs, vis, ident, name, description, approval, on_unknown, members } = toolset;
    let rules = rules(approval.as_ref(), *on_unknown);
    let items = match members {
        GroupMembers::Listed { span, members } => items(ident, name, description, &rules, members, *span),
        GroupMembers::OfInstance(ty) => named_instance::items(ident, name, description, &rules, ty),
    };
    let hidden = in_anonymous_const(cfgs, &items);
    quote! {
        #(#attrs)*
        #[allow(non_camel_case_types, missing_debug_implementations, clippy::all, clippy::pedantic)]
        #vis enum #ident {}
        #hidden
    }
}

/// The method calls that set the rules of the members.
pub(super) fn rules(approval: Option<&Approval>, on_unknown: Option<OnUnknown>) -> TokenStream {
    let (approval, on_unknown) = (approval.map(tool::approval), on_unknown.map(tool::on_unknown));
    quote!(#approval #on_unknown)
}

/// Makes the type `ty` a toolset of `members`, and registers it with its `rules`.
pub(super) fn items(
    ty: &impl ToTokens,
    name: &str,
    description: &TokenStream,
    rules: &TokenStream,
    members: &[Member],
    list: Span,
) -> TokenStream {
    let listed = declaration::members(name, members, list);
    let includes = declaration::includes(ty, members);
    let registration = definition(ty, name, description, rules);
    quote! {
        #listed
        impl __llm_do::Toolset for #ty {
            const MEMBERS: &'static [__llm_do::Member] = &__llm_do::concat::<{ __llm_do::count(__MEMBERS) }>(__MEMBERS);
        }
        #includes
        #registration
    }
}

/// Registers the toolset `ty` with its `rules`.
pub(super) fn definition(
    ty: &impl ToTokens,
    name: &str,
    description: &TokenStream,
    rules: &TokenStream,
) -> TokenStream {
    quote! {
        __llm_do::inventory::submit! {
            __llm_do::ToolsetDef::new(
                #name,
                #description,
                <#ty as __llm_do::Toolset>::MEMBERS,
                __llm_do::Location::new(::core::file!(), ::core::line!()),
            )
            #rules
        }
    }
}
