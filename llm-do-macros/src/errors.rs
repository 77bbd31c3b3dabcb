//! The accumulator that lets one compilation report every fault of an item.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// The faults found so far, in the order they were found.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes that `message` holds at `tokens`, and goes on.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.combine(syn::Error::new_spanned(tokens, message));
    }

    /// Notes that `message` holds at `span`, and goes on.
    pub(crate) fn push_at(&mut self, span: Span, message: impl Display) {
        self.combine(syn::Error::new(span, message));
    }

    /// Notes an error that `syn` returned, and goes on.
    pub(crate) fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value, or notes the error and goes on without one.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.combine(error)).ok()
    }

    /// Hands over `value` if nothing was noted.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}
