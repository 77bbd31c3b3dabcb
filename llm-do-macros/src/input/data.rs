//! `#[data]`: a type and the traits that are derived for it.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Path, Token, Visibility};

use super::state;
use crate::errors::Errors;

/// A type under `#[data]`.
pub(crate) struct Data {
    /// The traits to derive, without those that are derived already; empty if the item is invalid.
    pub(crate) derived: Vec<Derived>,
}

/// A trait that `#[data]` derives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derived {
    Serialize,
    Deserialize,
    JsonSchema,
}

impl Derived {
    const ALL: [Self; 3] = [Self::Serialize, Self::Deserialize, Self::JsonSchema];

    fn word(self) -> &'static str {
        match self {
            Self::Serialize => "Serialize",
            Self::Deserialize => "Deserialize",
            Self::JsonSchema => "JsonSchema",
        }
    }
}

impl Data {
    /// Reads the attribute and the item under it.
    pub(crate) fn read(args: &TokenStream, item: &TokenStream, errors: &mut Errors) -> Self {
        if !args.is_empty() {
            errors.push(args, "`#[data]` takes no arguments; write `#[data]`");
        }
        let attrs = errors.take(attributes.parse2(item.clone()));
        check_state(item, errors);
        let derived = attrs.map(|attrs| missing(&attrs, errors)).unwrap_or_default();
        Self { derived }
    }
}

/// Adds errors for fields with shared state. The compiler reports an invalid item.
fn check_state(item: &TokenStream, errors: &mut Errors) {
    let Ok(item) = syn::parse2::<DeriveInput>(item.clone()) else { return };
    let fields: Vec<_> = match item.data {
        syn::Data::Struct(data) => data.fields.into_iter().collect(),
        syn::Data::Enum(data) => data.variants.into_iter().flat_map(|variant| variant.fields).collect(),
        syn::Data::Union(_) => return,
    };
    for ty in fields.iter().filter_map(|field| state::find(&field.ty)) {
        let way_out = "inject the state as a `State<..>` parameter, or use the type inside";
        errors.push(
            ty,
            format!("a `#[data]` type cannot contain shared state, since models write its values; {way_out}"),
        );
    }
}

/// Returns the attributes of a struct or an enum.
fn attributes(input: ParseStream) -> syn::Result<Vec<Attribute>> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    if !input.peek(Token![struct]) && !input.peek(Token![enum]) {
        return Err(input.error("`#[data]` can be applied only to a struct or an enum"));
    }
    // The derives parse the rest.
    while input.parse::<TokenTree>().is_ok() {}
    Ok(attrs)
}

/// Returns the traits that the attributes do not derive, and adds an error for each that they do.
fn missing(attrs: &[Attribute], errors: &mut Errors) -> Vec<Derived> {
    let derives = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let paths = derives.filter_map(|attr| attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    let paths: Vec<Path> = paths.flatten().collect();
    let mut missing = Derived::ALL.to_vec();
    missing.retain(|derived| {
        let given = paths.iter().find(|path| path.segments.last().is_some_and(|last| last.ident == derived.word()));
        if let Some(path) = given {
            errors
                .push(path, format!("`#[data]` already derives `{}`; remove it from `#[derive(..)]`", derived.word()));
        }
        given.is_none()
    });
    missing
}
