//! A stub for an invalid item, so that its uses cause no further errors.

use proc_macro2::TokenStream;
use quote::quote;

use super::{arguments, declaration, function, in_anonymous_const};
use crate::input::{Callable, Kind};

/// The struct and its traits, from the valid parts. It declares every tool and is not registered.
pub(super) fn definition(callable: &Callable) -> TokenStream {
    let definition = arguments::definition(callable);
    let Callable { arguments: ident, cfgs, .. } = callable;
    let constructor = arguments::constructor(callable);
    let arguments = arguments::implementation(callable);
    let tool = function::tool(callable);
    let own_toolset = declaration::stub_toolset(callable);
    let history = (callable.kind == Kind::Worker).then(|| quote!(impl __llm_do::TakesHistory for #ident {}));
    let items = quote! {
        #arguments
        #constructor
        #tool
        #own_toolset
        #history
        impl __llm_do::DeclarationOf for #ident {
            type Answer<__T: __llm_do::Keyed> = __llm_do::Yes;
        }
    };
    let hidden = in_anonymous_const(cfgs, &items);
    quote!(#definition #hidden)
}
