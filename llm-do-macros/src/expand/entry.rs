//! `#[entry]`

use proc_macro2::TokenStream;
use quote::format_ident;

use super::function::{self, Way};
use crate::input::Entry;

/// Traits and registration of an entry.
pub(super) fn registration(entry: &Entry) -> TokenStream {
    let way = if entry.callable.is_async { Way::Future } else { Way::Blocking };
    function::registration(&entry.callable, way, &format_ident!("entry"), &TokenStream::new())
}
