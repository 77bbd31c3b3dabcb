//! `on_unknown = ..`: what happens to a call with an unknown outcome.

use syn::parse::ParseStream;

use super::{Key, word};
use crate::errors::Errors;

/// A value of the key `on_unknown`.
#[derive(Clone, Copy)]
pub(crate) enum OnUnknown {
    Ask,
    Report,
    Rerun,
}

/// The arguments of an attribute with the key `on_unknown`.
pub(crate) trait HasOnUnknown: 'static {
    /// Returns the value of the key.
    fn on_unknown(&mut self) -> &mut Option<OnUnknown>;
}

/// The key `on_unknown`.
pub(crate) const fn key<A: HasOnUnknown>() -> Key<A> {
    Key::new("on_unknown = ask | report | rerun", |args, value| value.fill_with(args.on_unknown(), OnUnknown::parse))
}

impl OnUnknown {
    fn parse(input: ParseStream, _errors: &mut Errors) -> syn::Result<Self> {
        let words = [("ask", Self::Ask), ("report", Self::Report), ("rerun", Self::Rerun)];
        word(input, "value of `on_unknown`:", &words)
    }
}
