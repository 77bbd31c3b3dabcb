//! The members of an item's toolsets, as traits for the compiler and as names for the runtime.

mod effects;
mod forms;
mod named;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

pub(super) use self::effects::{flow_setters, setter as effect_setter};
use self::forms::Lists;
use super::error_span;
use crate::args::toolset::Member;
use crate::input::Callable;

/// Implements a toolset whose only member is the item itself.
pub(super) fn own_toolset(callable: &Callable) -> TokenStream {
    toolset_of(callable, &effects::own(callable), &effects::calls(callable))
}

/// Implements a toolset whose only member is an invalid item, with an effect that causes no further errors.
pub(super) fn stub_toolset(callable: &Callable) -> TokenStream {
    let name = &callable.name;
    let own = quote!(__llm_do::StrongestEffect::new(#name, __llm_do::Effect::ReadOnly));
    toolset_of(callable, &own, &quote!(__llm_do::NoEffects))
}

fn toolset_of(Callable { arguments, name, .. }: &Callable, own: &TokenStream, calls: &TokenStream) -> TokenStream {
    let key = hash_type(name);
    quote! {
        impl __llm_do::Toolset for #arguments {
            const MEMBERS: &'static [__llm_do::Member] = &[__llm_do::Member::new(#name)];
        }
        impl __llm_do::Keyed for #arguments {
            type Key = #key;
            type Calls<__D: __llm_do::Depth> = #calls;
            const OWN: __llm_do::StrongestEffect = #own;
        }
    }
}

/// The number of hexadecimal digits of a name's hash; each adds compile time.
const DIGITS: usize = 12;

/// The FNV-1a hash of a name as a type: the first digit, with the rest as its type argument.
pub(super) fn hash_type(name: &str) -> TokenStream {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let digits: Vec<_> = format!("{hash:016X}").chars().take(DIGITS).collect();
    digits.iter().rfold(quote!(()), |rest, digit| {
        let digit = format_ident!("Hex{digit}");
        quote!(__llm_do::#digit<#rest>)
    })
}

/// The traits of the declaration, and the constant that the registration refers to.
pub(super) fn items(callable: &Callable) -> TokenStream {
    let Some(toolsets) = &callable.toolsets else {
        return TokenStream::new();
    };
    let (item, names) = (&callable.arguments, &toolsets.names);
    let members = members(&callable.name, &toolsets.members, toolsets.span);
    let declares = answer(&quote!(__llm_do::DeclarationOf), item, &forms::included(&toolsets.members), None);
    let effects = effects::of_toolsets(callable, &toolsets.members);
    quote! {
        #declares
        #members
        #effects
        const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(__MEMBERS, &[#(#names),*]);
    }
}

/// The method call that adds the declaration to the registration.
pub(super) fn setter(callable: &Callable) -> Option<TokenStream> {
    callable.toolsets.as_ref().map(|_| quote!(.declares(&__DECLARATION)))
}

/// The trait that states the tools of the group.
pub(super) fn includes(group: &impl ToTokens, members: &[Member]) -> TokenStream {
    includes_type(group, &forms::included(members))
}

/// The trait that states the tools of the group, which are those of the type `included`.
pub(super) fn includes_type(group: &impl ToTokens, included: &TokenStream) -> TokenStream {
    let more = quote! {
        type Effects<__Kept: __llm_do::Includes, __D: __llm_do::Depth> = __Members::Effects<__Kept, __D>;
        type Inside<__I: __llm_do::NamedInstance> = __Members::Inside<__I>;
    };
    answer(&quote!(__llm_do::Includes), group, included, Some(&more))
}

/// Implements the trait `to` with the tools of the type `included`, and `more`.
fn answer(to: &TokenStream, item: &impl ToTokens, included: &TokenStream, more: Option<&TokenStream>) -> TokenStream {
    quote! {
        // A type parameter, since an associated type with the members would expose private ones.
        impl<__Members: __llm_do::Includes> #to for #item
        where
            #included: __llm_do::Alias<Of = __Members>,
        {
            type Answer<__T: __llm_do::Keyed> = __Members::Answer<__T>;
            #more
        }
    }
}

/// `__MEMBERS`, the names of all members of `item`, with an error at the list if two names are equal.
pub(super) fn members(item: &str, members: &[Member], list: Span) -> TokenStream {
    let mut lists = Lists::default();
    let listed: Vec<_> = members.iter().map(|member| lists.list_of(member)).collect();
    let constants = lists.constants();
    let list = error_span(&list);
    let unique = quote_spanned!(list=> const _: () = __llm_do::assert_unique(#item, __MEMBERS););
    let named = named::check(members);
    quote! {
        #constants
        const __MEMBERS: &[&[__llm_do::Member]] = &[#(#listed),*];
        #unique
        #named
    }
}
