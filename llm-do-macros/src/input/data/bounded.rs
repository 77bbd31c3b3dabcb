//! The types of the fields of a type under `#[data]`, which decide whether it carries text.

use syn::{Attribute, DeriveInput, Field, Generics, Ident, Type};

use super::partial::conditions;

/// A type that is bounded if all its fields are.
pub(crate) struct BoundedType {
    /// Its conditions: `#[cfg(..)]`.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    /// The types of all fields, also those of variants.
    pub(crate) fields: Vec<Type>,
}

impl BoundedType {
    /// Reads a struct or an enum; `None` for a type whose fields depend on conditions.
    pub(super) fn read(item: &DeriveInput) -> Option<Self> {
        let (variants, fields) = match &item.data {
            syn::Data::Struct(data) => (Vec::new(), data.fields.iter().collect::<Vec<_>>()),
            syn::Data::Enum(data) => {
                let fields = data.variants.iter().flat_map(|variant| &variant.fields);
                (data.variants.iter().map(|variant| &variant.attrs).collect(), fields.collect())
            }
            syn::Data::Union(_) => return None,
        };
        let of_fields = fields.iter().map(|field| &field.attrs);
        if variants.into_iter().chain(of_fields).any(|attrs| is_conditional(attrs)) {
            return None;
        }
        Some(Self {
            conditions: conditions(&item.attrs),
            name: item.ident.clone(),
            generics: item.generics.clone(),
            fields: fields.into_iter().map(|Field { ty, .. }| ty.clone()).collect(),
        })
    }
}

fn is_conditional(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| ["cfg", "cfg_attr"].iter().any(|name| attr.path().is_ident(name)))
}
