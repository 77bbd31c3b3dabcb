//! The argument struct: its fields, their defaults, and what serde and schemars are told.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Token};

use super::blaming;
use crate::input::{Argument, Callable};
use crate::runtime;

/// The struct, beside the function and of its visibility.
pub(super) fn definition(callable: &Callable) -> TokenStream {
    let Callable { vis, arguments, cfgs, .. } = callable;
    let docs = docs(callable);
    let derives = derives(Some(quote!(deny_unknown_fields)));
    let fields = callable.fields().map(|argument| field(arguments, argument));
    // Who asks where the struct comes from is shown the function.
    let keyword = Token![struct](arguments.span());
    quote! {
        #(#cfgs)*
        #docs
        #[allow(non_camel_case_types, missing_debug_implementations, missing_docs, unreachable_pub)]
        #[allow(clippy::all, clippy::pedantic)]
        #derives
        #vis #keyword #arguments {
            #(#fields,)*
        }
    }
}

/// The doc comment of the struct: what it is, then the function's.
fn docs(callable: &Callable) -> TokenStream {
    let docs = &callable.docs;
    let summary = format!("Arguments of the {} `{}`.", callable.kind.word(), callable.name);
    quote! {
        #[doc = #summary]
        #[doc = ""]
        #(#docs)*
    }
}

/// The derives of serde and schemars, by the runtime's own copies; `serde` says more to serde.
pub(super) fn derives(serde: Option<TokenStream>) -> TokenStream {
    let private = runtime::private();
    let [serde_path, schemars_path] = ["serde", "schemars"].map(|name| format!("{private}::{name}").replace(' ', ""));
    let serde = serde.into_iter();
    quote! {
        #[derive(#private::serde::Serialize, #private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde_path #(, #serde)*)]
        #[schemars(crate = #schemars_path)]
    }
}

fn field(arguments: &Ident, argument: &Argument) -> TokenStream {
    let Argument { ident, ty, attrs, .. } = argument;
    let docs = field_docs(argument);
    let rename = argument.rename.iter().map(|name| quote!(#[serde(rename = #name)]));
    let default = argument.default.iter().map(|default| {
        let path = LitStr::new(&format!("{arguments}::{}", default_of(argument)), default.span());
        quote!(#[serde(default = #path)])
    });
    quote! {
        #docs
        #(#rename)*
        #(#default)*
        #(#attrs)*
        pub #ident: #ty
    }
}

fn field_docs(argument: &Argument) -> TokenStream {
    if let Some(description) = &argument.description {
        return quote!(#[doc = #description]);
    }
    argument.docs.iter().map(ToTokens::to_token_stream).collect()
}

/// The functions behind `#[arg(default)]`, and `Default` where every field has a default.
pub(super) fn defaults(callable: &Callable) -> TokenStream {
    let arguments = &callable.arguments;
    let functions: Vec<_> = callable.fields().filter_map(default_function).collect();
    let functions = (!functions.is_empty()).then(|| quote!(impl #arguments { #(#functions)* }));
    let values = callable.fields().map(default_value).collect::<Option<Vec<_>>>();
    let implementation = values.map(|values| {
        quote! {
            impl ::core::default::Default for #arguments {
                fn default() -> Self {
                    Self { #(#values,)* }
                }
            }
        }
    });
    quote!(#functions #implementation)
}

fn default_function(argument: &Argument) -> Option<TokenStream> {
    let default = argument.default.as_ref()?;
    let (name, ty) = (default_of(argument), &argument.ty);
    let value = owned(default);
    Some(quote! {
        #[doc(hidden)]
        fn #name() -> #ty {
            #value
        }
    })
}

fn default_value(argument: &Argument) -> Option<TokenStream> {
    let ident = &argument.ident;
    if argument.default.is_some() {
        let name = default_of(argument);
        return Some(quote!(#ident: Self::#name()));
    }
    argument.is_option().then(|| quote!(#ident: ::core::option::Option::None))
}

/// Turns a text into what holds one: a field is `String` or `PathBuf`, and no literal is.
fn owned(default: &Expr) -> TokenStream {
    match default {
        Expr::Group(group) => owned(&group.expr),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote_spanned!(blaming(text)=> __llm_do::FromText::from_text(#text))
        }
        _ => default.to_token_stream(),
    }
}

fn default_of(argument: &Argument) -> Ident {
    format_ident!("__default_{}", argument.ident.unraw())
}
