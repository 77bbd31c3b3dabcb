//! `on_unknown = ..`: what is done about a call whose outcome is not known.

use syn::Ident;
use syn::parse::ParseStream;

use super::{Key, did_you_mean};
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
    const ALL: [Self; 3] = [Self::Ask, Self::Report, Self::Rerun];

    /// Returns its name in the attribute.
    fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Report => "report",
            Self::Rerun => "rerun",
        }
    }

    fn parse(input: ParseStream, _errors: &mut Errors) -> syn::Result<Self> {
        let expected = "expected `ask`, `report` or `rerun`";
        let ident: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), expected))?;
        let word = ident.to_string();
        Self::ALL.into_iter().find(|setting| setting.word() == word).ok_or_else(|| {
            let hint = did_you_mean(&word, Self::ALL.into_iter().map(Self::word));
            syn::Error::new_spanned(ident, format!("unknown value of `on_unknown`: `{word}`{hint}\n{expected}"))
        })
    }
}
