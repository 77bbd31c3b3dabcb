//! The fields of a struct under `#[data]`, as they arrive.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::input::{PartialField, PartialStruct, named};
use crate::runtime;

/// Implements `PartialFields`, in a scope of its own.
pub(super) fn fields(data: &PartialStruct) -> TokenStream {
    let private = runtime::private();
    let PartialStruct { conditions, visibility, name, fields } = data;
    let declared = fields.iter().map(|PartialField { conditions, visibility, ident, ty, .. }| {
        let ty = named(ty.to_token_stream(), name);
        quote!(#(#conditions)* #[doc = "The field so far."] #visibility #ident: #private::Partial<#ty>)
    });
    let values = fields.iter().map(|PartialField { conditions, ident, name, .. }| {
        quote!(#(#conditions)* #ident: #private::Partial::field(partial, #name))
    });
    let unused = fields.is_empty().then(|| quote!(let _ = partial;));
    quote! {
        #(#conditions)*
        const _: () = {
            #[doc = "The fields as they arrive."]
            #[allow(dead_code, deprecated, non_snake_case, private_interfaces, unreachable_pub)]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
            #[derive(::core::fmt::Debug)]
            #visibility struct __PartialFields {
                #(#declared),*
            }

            #[automatically_derived]
            impl #private::PartialFields for #name {
                type Fields = __PartialFields;

                fn fields(partial: &#private::Partial<Self>) -> Self::Fields {
                    #unused
                    __PartialFields { #(#values),* }
                }
            }
        };
    }
}
