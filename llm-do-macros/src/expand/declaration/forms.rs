//! Members of a list and the forms around them, as types and as constants.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, LitStr, Path};

use crate::args::toolset::{Member, Pick, text};
use crate::expand::blaming;

/// The type that tells which tools the members include.
pub(super) fn included(members: &[Member]) -> TokenStream {
    list(&members.iter().map(included_by).collect::<Vec<_>>())
}

fn included_by(member: &Member) -> TokenStream {
    match member {
        Member::Path(path) => quote!(#path),
        // The compiler goes by the tools, whatever they are called.
        Member::Prefixed { member, .. } => included_by(member),
        Member::Picked { member, pick, paths } => {
            let form = match pick {
                Pick::Only => quote!(__llm_do::Only),
                Pick::Except => quote!(__llm_do::Except),
            };
            let member = included_by(member);
            let picks = list(&paths.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>());
            quote!(#form<#member, #picks>)
        }
    }
}

/// A list of types, as pairs of halves, so that a long one is not deeper than the compiler recurses.
fn list(types: &[TokenStream]) -> TokenStream {
    match types {
        [] => quote!(()),
        [only] => only.clone(),
        _ => {
            let (left, right) = types.split_at(types.len() / 2);
            let (left, right) = (list(left), list(right));
            quote!((#left, #right))
        }
    }
}

/// The constants that the lists of members are made by, each a step.
///
/// A form refers to the list that it is made of by name, so that forms in forms do not write theirs out again and again.
#[derive(Default)]
pub(super) struct Lists {
    steps: Vec<TokenStream>,
    checks: Vec<TokenStream>,
}

impl Lists {
    /// Returns an expression for the names of a member's tools.
    pub(super) fn of(&mut self, member: &Member) -> TokenStream {
        match member {
            Member::Path(path) => members_of(path),
            Member::Prefixed { prefix, member: inner } => self.prefixed(prefix, inner),
            Member::Picked { member: inner, pick, paths } => self.picked(inner, *pick, paths),
        }
    }

    /// Returns all that the expressions refer to, and the faults that only the compiler sees.
    pub(super) fn constants(&self) -> TokenStream {
        let Self { steps, checks } = self;
        quote!(#(#steps)* #(#checks)*)
    }

    fn prefixed(&mut self, prefix: &LitStr, inner: &Member) -> TokenStream {
        let of = self.of(inner);
        let inner = self.step(&of);
        let span = blaming(prefix);
        self.checks.push(quote_spanned!(span=> const _: () = __llm_do::assert_prefixed(#prefix, #inner);));
        let list = self.step(&quote!(&__llm_do::prefixed::<{ #inner.len() }>(#prefix, #inner)));
        quote!(#list)
    }

    fn picked(&mut self, inner: &Member, pick: Pick, paths: &[Path]) -> TokenStream {
        let (words, of) = (inner.to_string(), self.of(inner));
        let inner = self.step(&of);
        for path in paths {
            let (written, picked, span) = (text(path), members_of(path), blaming(path));
            self.checks
                .push(quote_spanned!(span=> const _: () = __llm_do::assert_picked(#written, #picked, #words, #inner);));
        }
        let (picks, are_kept) = (paths.iter().map(members_of), pick == Pick::Only);
        let picks = quote!(&[#(#picks),*]);
        let count = quote!({ __llm_do::count_picked(#inner, #picks, #are_kept) });
        let list = self.step(&quote!(&__llm_do::picked::<#count>(#inner, #picks, #are_kept)));
        quote!(#list)
    }

    fn step(&mut self, value: &TokenStream) -> Ident {
        let name = format_ident!("__LIST_{}", self.steps.len(), span = Span::call_site());
        self.steps.push(quote!(const #name: &[__llm_do::Member] = #value;));
        name
    }
}

fn members_of(path: &Path) -> TokenStream {
    quote!(<#path as __llm_do::Toolset>::MEMBERS)
}
