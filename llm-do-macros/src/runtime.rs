//! The path of the runtime in generated code.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// Returns the absolute path of `llm_do::__private`, under the name that the user's Cargo.toml gives the crate.
pub(crate) fn private() -> TokenStream {
    let name = match crate_name("llm-do") {
        Ok(FoundCrate::Name(name)) => format_ident!("{name}"),
        Ok(FoundCrate::Itself) | Err(_) => format_ident!("llm_do"),
    };
    quote!(::#name::__private)
}
