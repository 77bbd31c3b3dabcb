//! What an item may call, as traits for the compiler and as names for the runtime.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, Path};

use super::blaming;
use crate::input::Callable;

/// The item as a toolset of its own: itself.
pub(super) fn itself(callable: &Callable) -> TokenStream {
    let Callable { arguments, name, .. } = callable;
    quote! {
        impl __llm_do::Toolset for #arguments {
            const NAMES: &'static [&'static str] = &[#name];
        }
        impl __llm_do::Includes<#arguments, __llm_do::Here> for #arguments {}
    }
}

/// The traits of the declared toolsets, and the constant that the registration refers to.
pub(super) fn items(callable: &Callable) -> TokenStream {
    let Some(toolsets) = &callable.toolsets else {
        return TokenStream::new();
    };
    let (paths, names) = (&toolsets.paths, &toolsets.names);
    let members = members(&callable.arguments, &quote!(__llm_do::Declares), paths);
    let unique = unique(&callable.name, toolsets.span);
    let listed = names_of(paths);
    quote! {
        #members
        const __MEMBERS: &[&[&str]] = #listed;
        #unique
        const __DECLARATION: __llm_do::Declaration = __llm_do::Declaration::new(__MEMBERS, &[#(#names),*]);
    }
}

/// The call that hands the declaration to the registration.
pub(super) fn setter(callable: &Callable) -> Option<TokenStream> {
    callable.toolsets.as_ref().map(|_| quote!(.declares(&__DECLARATION)))
}

/// How many implementations keep the compiler from taking one for the only answer.
const CHOICES: usize = 2;

/// `trait_path` for every tool that one of the members includes, each member at an index of its own.
///
/// A single implementation would decide which tool a call must be of, and any other would be a mismatch of types.
pub(super) fn members(item: &Ident, trait_path: &TokenStream, members: &[Path]) -> TokenStream {
    let implementations = members.iter().enumerate().map(|(index, member)| {
        quote! {
            // A call outside the declaration is told in the declaration's words, not in this member's.
            #[diagnostic::do_not_recommend]
            impl<__T, __I> #trait_path<__T, __llm_do::In<#index, __I>> for #item
            where
                #member: __llm_do::Includes<__T, __I>,
            {
            }
        }
    });
    let others = (members.len()..CHOICES).map(|index| {
        quote! {
            #[diagnostic::do_not_recommend]
            impl #trait_path<__llm_do::Nothing, __llm_do::In<#index, __llm_do::Here>> for #item {}
        }
    });
    quote!(#(#implementations)* #(#others)*)
}

/// The names of all members, as `&[&[&str]]`.
pub(super) fn names_of(members: &[Path]) -> TokenStream {
    quote!(&[#(<#members as __llm_do::Toolset>::NAMES),*])
}

/// Refuses two tools of one name in `__MEMBERS`, at the list.
pub(super) fn unique(item: &str, list: Span) -> TokenStream {
    let list = blaming(&list);
    quote_spanned!(list=> const _: () = __llm_do::assert_unique(#item, __MEMBERS);)
}
