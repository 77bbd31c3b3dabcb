//! What an item may call, as traits for the compiler and as names for the runtime.

mod forms;
mod named;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use self::forms::Lists;
use super::blaming;
use crate::args::toolset::Member;
use crate::input::Callable;

/// The item as a toolset of its own: itself.
pub(super) fn itself(callable: &Callable) -> TokenStream {
    let Callable { arguments, name, .. } = callable;
    let key = key(name);
    quote! {
        impl __llm_do::Toolset for #arguments {
            const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new(#name)];
        }
        impl __llm_do::Keyed for #arguments {
            type Key = #key;
        }
    }
}

/// How many hexadecimal digits of a name's hash tell it from others: each costs the compiler a step.
const DIGITS: usize = 12;

/// A name's hash, FNV-1a, as a type: a digit, and in it the rest.
fn key(name: &str) -> TokenStream {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let digits: Vec<_> = format!("{hash:016X}").chars().take(DIGITS).collect();
    digits.iter().rfold(quote!(()), |rest, digit| {
        let digit = format_ident!("Hex{digit}");
        quote!(__llm_do::#digit<#rest>)
    })
}

/// The traits of the declared toolsets, and the constant that the registration refers to.
pub(super) fn items(callable: &Callable) -> TokenStream {
    let Some(toolsets) = &callable.toolsets else {
        return TokenStream::new();
    };
    let (item, names) = (&callable.arguments, &toolsets.names);
    let members = members(&callable.name, &toolsets.members, toolsets.span);
    let declares = answer(&quote!(__llm_do::DeclarationOf), item, &toolsets.members);
    quote! {
        #declares
        #members
        const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(__MEMBERS, &[#(#names),*]);
    }
}

/// The call that hands the declaration to the registration.
pub(super) fn setter(callable: &Callable) -> Option<TokenStream> {
    callable.toolsets.as_ref().map(|_| quote!(.declares(&__DECLARATION)))
}

/// The group's answer to whether it includes a tool: that of its members.
pub(super) fn includes(group: &impl ToTokens, members: &[Member]) -> TokenStream {
    answer(&quote!(__llm_do::Includes), group, members)
}

/// The implementation of a trait that answers for a tool as the members do.
fn answer(to: &TokenStream, item: &impl ToTokens, members: &[Member]) -> TokenStream {
    let included = forms::included(members);
    quote! {
        // A parameter, since the members' own path would show private ones to whoever sees the item.
        impl<__Members: __llm_do::Includes> #to for #item
        where
            #included: __llm_do::Alias<Of = __Members>,
        {
            type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
        }
    }
}

/// `__MEMBERS`, the names of all members of `item`; two that are shown by one name are refused at the list.
pub(super) fn members(item: &str, members: &[Member], list: Span) -> TokenStream {
    let mut lists = Lists::default();
    let listed: Vec<_> = members.iter().map(|member| lists.of(member)).collect();
    let constants = lists.constants();
    let list = blaming(&list);
    let unique = quote_spanned!(list=> const _: () = __llm_do::assert_unique(#item, __MEMBERS););
    let named = named::check(members);
    quote! {
        #constants
        const __MEMBERS: &[&[__llm_do::Member]] = &[#(#listed),*];
        #unique
        #named
    }
}
