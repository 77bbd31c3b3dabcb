//! The argument struct, its conversion from and to JSON, and its schema.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, Ident, Lit, Token};

use super::error_span;
use crate::args::parameter::Default;
use crate::input::{Argument, Callable, Derived};
use crate::runtime;

/// The struct, with the visibility of the function.
pub(super) fn definition(callable: &Callable) -> TokenStream {
    let Callable { vis, arguments, cfgs, .. } = callable;
    let docs = docs(callable);
    let fields = callable.fields().map(field);
    // The compiler and editors show the function as the source of the struct.
    let keyword = Token![struct](arguments.span());
    let mut fields = Group::new(Delimiter::Brace, quote!(#(#fields,)*));
    fields.set_span(arguments.span());
    quote! {
        #(#cfgs)*
        #docs
        #[allow(non_camel_case_types, non_snake_case, missing_debug_implementations, missing_docs, unreachable_pub)]
        #[allow(clippy::all, clippy::pedantic)]
        #vis #keyword #arguments #fields
    }
}

/// The doc comment of the struct: a summary, and the doc comment of the function.
fn docs(callable: &Callable) -> TokenStream {
    let docs = &callable.docs;
    let summary = format!("Arguments of the {} `{}`.", callable.kind.word(), callable.name);
    quote! {
        #[doc = #summary]
        #[doc = ""]
        #(#docs)*
    }
}

fn field(argument: &Argument) -> TokenStream {
    let Argument { ident, ty, docs, .. } = argument;
    quote! {
        #(#docs)*
        pub #ident: #ty
    }
}

/// The traits of the struct, with `Default` if every argument is optional.
pub(super) fn implementation(callable: &Callable) -> TokenStream {
    let arguments = &callable.arguments;
    let is_alone = callable.fields().count() == 1;
    let parameters = callable.fields().enumerate().map(|(place, argument)| parameter(place, argument, is_alone));
    let default = default(callable);
    let trait_of_macro = arguments_trait(callable);
    let foreign = serde_and_schemars_traits(arguments);
    quote! {
        #(#parameters)*
        #trait_of_macro
        #foreign
        #default
    }
}

/// The description of an argument, and the functions that it refers to: a static, since several functions refer to it.
fn parameter(place: usize, argument: &Argument, is_alone: bool) -> TokenStream {
    let Argument { ty, description, is_flat, schemars, .. } = argument;
    let (constant, name) = (constant_of(place), argument.name());
    let default = default_of(place, argument);
    let example = argument.example.as_ref().map(|example| function(&format_ident!("__example_{place}"), ty, example));
    let described = (!schemars.is_empty()).then(|| schema_struct(place, argument));
    let setters = [
        description.as_ref().map(|text| quote!(.description(#text))),
        default.as_ref().map(|(name, _)| quote!(.default(#name))),
        example.as_ref().map(|(name, _)| quote!(.example(#name))),
        described.as_ref().map(|(name, _)| {
            quote! {
                .described_by({
                    #[allow(unused_imports)]
                    use __llm_do::NoField as _;
                    <__llm_do::FieldProbe<#name>>::SCHEMA
                })
            }
        }),
        is_flat.then(|| quote!(.flat())),
        is_alone.then(|| quote!(.alone())),
    ];
    let setters = setters.into_iter().flatten();
    let items = [default, example, described].into_iter().flatten().map(|(_, item)| item);
    quote! {
        #(#items)*
        static #constant: __llm_do::Parameter<#ty> =
            __llm_do::parameter::<#ty>(#name) #(#setters)*;
    }
}

/// A function that returns a value of the argument's type.
fn function(name: &Ident, ty: &impl ToTokens, value: &Expr) -> (Ident, TokenStream) {
    let value = owned(value);
    let item = quote! {
        fn #name() -> #ty {
            #value
        }
    };
    (name.clone(), item)
}

fn default_of(place: usize, argument: &Argument) -> Option<(Ident, TokenStream)> {
    let name = default_function(place);
    let ty = &argument.ty;
    match argument.default.as_ref()? {
        Default::Value(value) => Some(function(&name, ty, value)),
        Default::OfType(key) => {
            let value = quote_spanned!(error_span(key)=> <#ty as ::core::default::Default>::default());
            Some((name.clone(), quote!(fn #name() -> #ty { #value })))
        }
    }
}

/// A struct with one field for the schema of the argument: schemars supports its attributes on fields only.
fn schema_struct(place: usize, argument: &Argument) -> (Ident, TokenStream) {
    let Argument { ty, schemars, .. } = argument;
    let name = format_ident!("__Described{place}");
    let private = runtime::private();
    let path = path_text(&private, "schemars");
    let item = quote! {
        // The derive calls `into`, which is not in scope in a crate without a prelude.
        #[allow(unused_imports)]
        use ::core::convert::Into as _;
        #[derive(#private::schemars::JsonSchema)]
        #[schemars(crate = #path)]
        #[allow(dead_code)]
        struct #name {
            #(#schemars)*
            value: #ty,
        }
    };
    (name, item)
}

fn arguments_trait(callable: &Callable) -> TokenStream {
    let arguments = &callable.arguments;
    let fields = || callable.fields().enumerate().map(|(place, argument)| (constant_of(place), &argument.ident));
    let constants = fields().map(|(constant, _)| quote!(&#constant));
    let read = fields().map(|(constant, field)| quote!(#field: #constant.read(__fields)?));
    let read_text = fields().map(|(constant, field)| quote!(#field: #constant.read_text(__fields)?));
    let write = callable.fields().enumerate().map(|(place, argument)| written(&constant_of(place), argument));
    quote! {
        impl __llm_do::Arguments for #arguments {
            const PARAMETERS: &'static [&'static dyn __llm_do::Described] = &[#(#constants),*];
            #[allow(unused_variables)]
            fn read(
                __fields: &mut __llm_do::Fields,
            ) -> ::core::result::Result<Self, __llm_do::Fault> {
                ::core::result::Result::Ok(Self { #(#read,)* })
            }
            #[allow(unused_variables)]
            fn read_text(
                __fields: &mut __llm_do::TextFields<'_>,
            ) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self { #(#read_text,)* })
            }
            #[allow(unused_variables)]
            fn write(
                &self,
                __fields: &mut __llm_do::Fields,
            ) -> ::core::result::Result<(), __llm_do::Fault> {
                #(#write)*
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// The statement that encodes one argument.
fn written(constant: &Ident, Argument { ident, skips_none, .. }: &Argument) -> TokenStream {
    let write = quote!(#constant.write(&self.#ident, __fields)?;);
    if *skips_none { quote!(if ::core::option::Option::is_some(&self.#ident) { #write }) } else { write }
}

/// The traits of serde and schemars, implemented with the trait above.
fn serde_and_schemars_traits(arguments: &Ident) -> TokenStream {
    let name = arguments.unraw().to_string();
    quote! {
        impl __llm_do::serde::Serialize for #arguments {
            fn serialize<__S: __llm_do::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                __llm_do::serialize(self, __serializer)
            }
        }
        impl<'de> __llm_do::serde::Deserialize<'de> for #arguments {
            fn deserialize<__D: __llm_do::serde::Deserializer<'de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                __llm_do::deserialize(__deserializer)
            }
        }
        impl __llm_do::schemars::JsonSchema for #arguments {
            fn schema_name() -> __llm_do::Cow<'static, str> {
                __llm_do::Cow::Borrowed(#name)
            }
            fn schema_id() -> __llm_do::Cow<'static, str> {
                __llm_do::Cow::Borrowed(::core::concat!(::core::module_path!(), "::", #name))
            }
            fn json_schema(__generator: &mut __llm_do::schemars::SchemaGenerator) -> __llm_do::schemars::Schema {
                __llm_do::describe::<Self>(__generator)
            }
        }
    }
}

/// The function `new`, which takes the required arguments. It calls the functions of the defaults, so it is generated
/// beside them.
pub(super) fn constructor(callable: &Callable) -> TokenStream {
    let arguments = &callable.arguments;
    let values = callable.fields().enumerate().map(|(place, argument)| {
        let ident = &argument.ident;
        default_value(place, argument).unwrap_or_else(|| ident.to_token_stream())
    });
    let required = callable.fields().filter(|argument| !argument.may_be_absent());
    let required = required.map(|Argument { ident, ty, .. }| quote!(#ident: #ty));
    quote! {
        #[allow(dead_code, non_snake_case, private_interfaces, unreachable_pub)]
        #[allow(clippy::missing_const_for_fn)]
        impl #arguments {
            /// Returns a call with these arguments, and the defaults of all other arguments.
            #[must_use]
            pub fn new(#(#required),*) -> Self {
                Self { #(#values,)* }
            }
        }
    }
}

fn default(callable: &Callable) -> Option<TokenStream> {
    let arguments = &callable.arguments;
    let values = callable.fields().enumerate().map(|(place, argument)| default_value(place, argument));
    let values = values.collect::<Option<Vec<_>>>()?;
    Some(quote! {
        impl ::core::default::Default for #arguments {
            fn default() -> Self {
                Self { #(#values,)* }
            }
        }
    })
}

fn default_value(place: usize, argument: &Argument) -> Option<TokenStream> {
    let ident = &argument.ident;
    if argument.default.is_some() {
        let name = default_function(place);
        return Some(quote!(#ident: #name()));
    }
    argument.is_option().then(|| quote!(#ident: ::core::option::Option::None))
}

/// Converts a string literal to the type of the field, such as `String` or `PathBuf`.
fn owned(value: &Expr) -> TokenStream {
    match value {
        Expr::Group(group) => owned(&group.expr),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote_spanned!(error_span(text)=> __llm_do::FromText::from_text(#text))
        }
        _ => value.to_token_stream(),
    }
}

fn default_function(place: usize) -> Ident {
    format_ident!("__default_{place}")
}

fn constant_of(place: usize) -> Ident {
    format_ident!("__ARGUMENT_{place}")
}

/// The derives of serde and schemars, from the runtime's dependencies, and `Debug`.
pub(super) fn derives(derived: &[Derived]) -> TokenStream {
    if derived.is_empty() {
        return TokenStream::new();
    }
    let private = runtime::private();
    let [serde, schemars] = ["serde", "schemars"].map(|name| path_text(&private, name));
    let paths = derived.iter().map(|derived| match derived {
        Derived::Serialize => quote!(#private::serde::Serialize),
        Derived::Deserialize => quote!(#private::serde::Deserialize),
        Derived::JsonSchema => quote!(#private::schemars::JsonSchema),
        Derived::Debug => quote!(::core::fmt::Debug),
    });
    // Without its derive here, the attribute would apply to a derive that the user wrote.
    let by_schemars = derived.contains(&Derived::JsonSchema);
    let by_serde = derived.contains(&Derived::Serialize) || derived.contains(&Derived::Deserialize);
    let serde = by_serde.then(|| quote!(#[serde(crate = #serde)]));
    let schemars = by_schemars.then(|| quote!(#[schemars(crate = #schemars)]));
    quote! {
        #[derive(#(#paths),*)]
        #serde
        #schemars
    }
}

fn path_text(private: &TokenStream, name: &str) -> String {
    format!("{private}::{name}").replace(' ', "")
}
