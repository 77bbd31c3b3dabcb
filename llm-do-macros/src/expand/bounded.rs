//! A type under `#[data]` as one that carries no text.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericParam, Lifetime, LifetimeParam, parse_quote};

use crate::input::BoundedType;
use crate::runtime;

/// Implements `Bounded`, which holds if it holds for all fields.
pub(super) fn implementation(BoundedType { conditions, name, generics, fields }: &BoundedType) -> TokenStream {
    let private = runtime::private();
    let (_, arguments, _) = generics.split_for_impl();
    let mut bounds = generics.clone();
    let lifetime: Lifetime = parse_quote!('__bounded);
    if !fields.is_empty() {
        bounds.params.insert(0, GenericParam::Lifetime(LifetimeParam::new(lifetime.clone())));
        let holds = fields
            .iter()
            .map(|ty| -> syn::WherePredicate { parse_quote!(#private::FieldType<#lifetime, #ty>: #private::Bounded) });
        bounds.make_where_clause().predicates.extend(holds);
    }
    let (parameters, _, predicates) = bounds.split_for_impl();
    quote! {
        #(#conditions)*
        const _: () = {
            #[automatically_derived]
            #[allow(deprecated, private_bounds, private_interfaces, single_use_lifetimes)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
            impl #parameters #private::Bounded for #name #arguments #predicates {}
        };
    }
}
