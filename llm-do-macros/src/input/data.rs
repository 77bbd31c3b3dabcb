//! `#[data]`: a type and the traits that are derived for it.

mod bounded;
mod partial;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, DeriveInput, Field, Generics, Lifetime, Path, Token, TypeReference, Visibility};

pub(crate) use self::bounded::BoundedType;
pub(crate) use self::partial::{PartialField, PartialStruct, named};
use super::{owned, state};
use crate::args;
use crate::errors::Errors;

/// A type under `#[data]`.
pub(crate) struct Data {
    /// The traits to derive, without those that are already derived; empty if the item is invalid.
    pub(crate) derived: Vec<Derived>,
    /// Its fields, if they may arrive one by one.
    pub(crate) partial: Option<PartialStruct>,
    /// The type as one that carries no text if its fields carry none; `None` if that is not known.
    pub(crate) bounded: Option<BoundedType>,
}

/// A trait that `#[data]` derives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derived {
    Serialize,
    Deserialize,
    JsonSchema,
    Debug,
}

impl Derived {
    /// The traits that are derived for each type.
    const ALL: [Self; 3] = [Self::Serialize, Self::Deserialize, Self::JsonSchema];

    fn word(self) -> &'static str {
        match self {
            Self::Debug => "Debug",
            Self::Serialize => "Serialize",
            Self::Deserialize => "Deserialize",
            Self::JsonSchema => "JsonSchema",
        }
    }
}

impl Data {
    /// Parses the attribute and the item under it.
    pub(crate) fn read(args: &TokenStream, item: &TokenStream, errors: &mut Errors) -> Self {
        let args: args::data::Data = args::parse(args.clone(), errors);
        let attrs = errors.take(attributes.parse2(item.clone()));
        let parsed = syn::parse2::<DeriveInput>(item.clone()).ok();
        let partial = parsed.as_ref().and_then(PartialStruct::read);
        let bounded = parsed.as_ref().and_then(BoundedType::read);
        if let Some(parsed) = parsed {
            check_item(parsed, errors);
        }
        let has_debug = args.debug.is_none_or(|debug| debug.value);
        let derived = attrs.map(|attrs| missing(&attrs, has_debug, errors)).unwrap_or_default();
        Self { derived, partial, bounded }
    }
}

/// Adds errors for parts that cannot be deserialized from JSON. The compiler reports an invalid item.
fn check_item(item: DeriveInput, errors: &mut Errors) {
    let fields: Vec<_> = match item.data {
        syn::Data::Struct(data) => data.fields.into_iter().collect(),
        syn::Data::Enum(data) => data.variants.into_iter().flat_map(|variant| variant.fields).collect(),
        syn::Data::Union(_) => return,
    };
    check_lifetimes(&item.generics, &fields, errors);
    check_state(&fields, errors);
}

/// Adds errors for lifetimes, since a value that is deserialized from JSON owns its data.
fn check_lifetimes(generics: &Generics, fields: &[Field], errors: &mut Errors) {
    for param in generics.lifetimes() {
        let lifetime = &param.lifetime;
        errors.push(
            param,
            format!(
                "a `#[data]` type cannot have a lifetime parameter, since its values are read from JSON; remove `{lifetime}`"
            ),
        );
    }
    let mut borrowed = Borrowed(errors);
    for field in fields {
        borrowed.visit_type(&field.ty);
    }
}

/// Finds borrowed types in the type of a field.
struct Borrowed<'a>(&'a mut Errors);

impl<'ast> Visit<'ast> for Borrowed<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") {
            return visit::visit_type(self, &reference.elem);
        }
        let instead = owned::owned(reference);
        self.0.push(reference, format!("a field of a `#[data]` type must own its data: write `{instead}` here"));
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.0.push(lifetime, "a field of a `#[data]` type must own its data: write `'static` here");
        }
    }
}

/// Adds errors for fields with shared state.
fn check_state(fields: &[Field], errors: &mut Errors) {
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

/// Returns the traits that the attributes do not derive, and adds an error for each that they do, except for `Debug`.
fn missing(attrs: &[Attribute], has_debug: bool, errors: &mut Errors) -> Vec<Derived> {
    let derives = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let paths = derives.filter_map(|attr| attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated).ok());
    let paths: Vec<Path> = paths.flatten().collect();
    let derive_of = |derived: Derived| {
        paths.iter().find(|path| path.segments.last().is_some_and(|last| last.ident == derived.word()))
    };
    let mut missing = Derived::ALL.to_vec();
    missing.retain(|derived| {
        let given = derive_of(*derived);
        if let Some(path) = given {
            errors
                .push(path, format!("`#[data]` already derives `{}`; remove it from `#[derive(..)]`", derived.word()));
        }
        given.is_none()
    });
    let debug = Some(Derived::Debug).filter(|debug| has_debug && derive_of(*debug).is_none());
    missing.into_iter().chain(debug).collect()
}
