//! What is emitted beside errors, so that they raise no others.

use proc_macro2::TokenStream;
use quote::quote;

/// Returns the errors, and the item as far as it is sound.
pub(crate) fn expand(item: &TokenStream, error: &syn::Error) -> TokenStream {
    let errors = error.to_compile_error();
    quote!(#errors #item)
}
