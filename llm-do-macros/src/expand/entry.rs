//! `#[entry]`

use proc_macro2::TokenStream;
use quote::format_ident;

use super::function::{self, Execution};
use crate::input::Entry;

/// Traits and registration of an entry.
pub(super) fn registration(entry: &Entry) -> TokenStream {
    let execution = if entry.callable.is_async { Execution::Future } else { Execution::Blocking };
    function::registration(&entry.callable, execution, &format_ident!("entry"), &TokenStream::new())
}
