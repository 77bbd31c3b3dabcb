//! The members of a list and the forms around them, as types and as constants.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, LitStr, Path};

use crate::args::toolset::{Member, Pick, text};
use crate::expand::error_span;

/// The type that states the tools of the members.
pub(super) fn included(members: &[Member]) -> TokenStream {
    list(&members.iter().map(included_by).collect::<Vec<_>>())
}

/// The type that states the tools of the member.
pub(super) fn included_by(member: &Member) -> TokenStream {
    match member {
        Member::Path(path) => quote!(#path),
        // The compiler checks the tools, not their names in the list.
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

/// A list of types as a balanced tree of pairs, so that a long list stays within the recursion limit of the compiler.
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

/// The constants from which the lists of members are built.
///
/// A form refers to the inner list by name, so that nested forms do not repeat it.
#[derive(Default)]
pub(super) struct Lists {
    steps: Vec<TokenStream>,
    checks: Vec<TokenStream>,
}

impl Lists {
    /// Returns an expression for the names of the tools of a member.
    pub(super) fn list_of(&mut self, member: &Member) -> TokenStream {
        match member {
            Member::Path(path) => members_of(path),
            Member::Prefixed { prefix, member: inner } => self.prefixed(prefix, inner),
            Member::Picked { member: inner, pick, paths } => self.picked(inner, *pick, paths),
        }
    }

    /// Returns the constants that the expressions refer to, and the checks that the compiler evaluates.
    pub(super) fn constants(&self) -> TokenStream {
        let Self { steps, checks } = self;
        quote!(#(#steps)* #(#checks)*)
    }

    fn prefixed(&mut self, prefix: &LitStr, inner: &Member) -> TokenStream {
        let of = self.list_of(inner);
        let inner = self.step(&of);
        let span = error_span(prefix);
        self.checks.push(quote_spanned!(span=> const _: () = __llm_do::assert_prefixed(#prefix, #inner);));
        let list = self.step(&quote!(&__llm_do::prefixed::<{ #inner.len() }>(#prefix, #inner)));
        quote!(#list)
    }

    fn picked(&mut self, inner: &Member, pick: Pick, paths: &[Path]) -> TokenStream {
        let (words, of) = (inner.to_string(), self.list_of(inner));
        let inner = self.step(&of);
        for path in paths {
            let (written, picked, span) = (text(path), members_of(path), error_span(path));
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
