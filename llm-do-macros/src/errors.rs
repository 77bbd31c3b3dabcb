//! Collects errors, so that one compilation reports all errors of an item.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// The errors found so far, in order.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds the error `message` at `tokens`.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.combine(syn::Error::new_spanned(tokens, message));
    }

    /// Adds the error `message` at `span`.
    pub(crate) fn push_at(&mut self, span: Span, message: impl Display) {
        self.combine(syn::Error::new(span, message));
    }

    /// Adds an error that `syn` returned.
    pub(crate) fn combine(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value, or adds the error and returns `None`.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.combine(error)).ok()
    }

    /// Returns `value`, or all errors combined into one.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}
