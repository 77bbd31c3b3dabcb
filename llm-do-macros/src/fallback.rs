//! Code that is emitted together with errors, so that they cause no further errors.

use proc_macro2::TokenStream;
use quote::quote;

/// Returns the errors and the valid part of the item.
pub(crate) fn expand(item: &TokenStream, error: &syn::Error) -> TokenStream {
    let errors = error.to_compile_error();
    quote!(#errors #item)
}
