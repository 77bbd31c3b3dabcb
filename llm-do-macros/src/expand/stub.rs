//! What stands for an item at fault, so that those who name it raise no errors of their own.

use proc_macro2::TokenStream;
use quote::quote;

use super::{arguments, declaration, function, hidden};
use crate::input::{Callable, Kind};

/// The struct and its traits, of what is sound; it declares every tool and is registered nowhere.
pub(super) fn definition(callable: &Callable) -> TokenStream {
    let definition = arguments::definition(callable);
    let Callable { arguments: ident, cfgs, .. } = callable;
    let arguments = arguments::implementation(callable);
    let tool = function::tool(callable);
    let itself = declaration::itself(callable);
    let history = (callable.kind == Kind::Worker).then(|| quote!(impl __llm_do::TakesHistory for #ident {}));
    let items = quote! {
        #arguments
        #tool
        #itself
        #history
        impl __llm_do::DeclarationOf for #ident {
            type Answer<__T: __llm_do::Keyed> = __llm_do::Yes;
        }
    };
    let hidden = hidden(cfgs, &items);
    quote!(#definition #hidden)
}
