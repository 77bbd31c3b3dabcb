//! `approval = ..`: whether calls need approval.

use proc_macro2::Group;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, token};

use super::{Key, did_you_mean};
use crate::errors::Errors;

const EXPECTED: &str = "expected `ask`, `pre_approved` or `blocked(\"reason\")`";

/// A value of the key `approval`.
pub(crate) enum Approval {
    Ask,
    PreApproved,
    /// Blocked for this reason.
    Blocked(LitStr),
}

/// The arguments of an attribute with the key `approval`.
pub(crate) trait HasApproval: 'static {
    /// Returns the value of the key.
    fn approval(&mut self) -> &mut Option<Approval>;
}

/// The key `approval`.
pub(crate) const fn key<A: HasApproval>() -> Key<A> {
    Key::new("approval = ask | pre_approved | blocked(\"reason\")", |args, value| {
        value.fill_with(args.approval(), Approval::parse)
    })
}

impl Approval {
    fn parse(input: ParseStream, errors: &mut Errors) -> syn::Result<Self> {
        let ident = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), EXPECTED))?;
        let reason: Option<Group> = if input.peek(token::Paren) { Some(input.parse()?) } else { None };
        match (ident.to_string().as_str(), reason) {
            ("ask", None) => Ok(Self::Ask),
            ("pre_approved", None) => Ok(Self::PreApproved),
            ("blocked", Some(reason)) => blocked(&reason, errors),
            ("blocked", None) => Err(syn::Error::new_spanned(
                ident,
                "`blocked` needs a reason, which callers see: write `blocked(\"reason\")`",
            )),
            (word @ ("ask" | "pre_approved"), Some(value)) => {
                Err(syn::Error::new(value.span(), format!("`{word}` takes no value")))
            }
            (word, _) => {
                let hint = did_you_mean(word, ["ask", "pre_approved", "blocked"]);
                Err(syn::Error::new_spanned(ident, format!("unknown approval rule `{word}`{hint}\n{EXPECTED}")))
            }
        }
    }
}

/// Parses the parentheses of `blocked`.
fn blocked(reason: &Group, errors: &mut Errors) -> syn::Result<Approval> {
    let form = "the reason must be a string literal: write `blocked(\"reason\")`";
    let text: LitStr = syn::parse2(reason.stream()).map_err(|_| syn::Error::new(reason.span(), form))?;
    if text.value().trim().is_empty() {
        errors.push(&text, "blank reason; callers see it, so write why calls are blocked");
    }
    Ok(Approval::Blocked(text))
}
