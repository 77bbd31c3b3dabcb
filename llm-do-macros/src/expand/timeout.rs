//! How long a call may take, as a constant.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::blaming;
use crate::input::Callable;

/// The constant that the registration refers to, blamed on its expression.
pub(super) fn item(callable: &Callable) -> Option<TokenStream> {
    callable.timeout.as_ref().map(|timeout| {
        let check = quote_spanned!(blaming(timeout)=> const _: () = __llm_do::assert_timeout(__TIMEOUT););
        quote!(const __TIMEOUT: ::core::time::Duration = #timeout; #check)
    })
}

/// The call that hands the time to the registration.
pub(super) fn setter(callable: &Callable) -> Option<TokenStream> {
    callable.timeout.as_ref().map(|_| quote!(.timeout(__TIMEOUT)))
}
