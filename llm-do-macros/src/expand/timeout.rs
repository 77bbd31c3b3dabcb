//! The maximum duration of a call, as a constant.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::error_span;
use crate::input::Callable;

/// The constant that the registration refers to, with errors at its expression.
pub(super) fn item(callable: &Callable) -> Option<TokenStream> {
    callable.timeout.as_ref().map(|timeout| {
        let check = quote_spanned!(error_span(timeout)=> const _: () = __llm_do::assert_timeout(__TIMEOUT););
        quote!(const __TIMEOUT: ::core::time::Duration = #timeout; #check)
    })
}

/// The method call that adds the timeout to the registration.
pub(super) fn setter(callable: &Callable) -> Option<TokenStream> {
    callable.timeout.as_ref().map(|_| quote!(.timeout(__TIMEOUT)))
}
