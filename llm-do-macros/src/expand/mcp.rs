//! The module with the tools of an MCP server.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Path;

use super::{arguments, declaration, in_anonymous_const};
use crate::args::toolset::{ALL, Member};
use crate::input::{Derived, McpField, McpTool, McpToolset, McpType, TypeKind};

/// The module: a struct for each tool, the types of arguments and results, and the type of all tools together.
pub(super) fn registration(toolset: &McpToolset) -> TokenStream {
    let McpToolset { attrs, vis, ident, tools, types, .. } = toolset;
    let summary = format!("The tools of the MCP server `{}`, as in `{}`.", toolset.server, toolset.file.value());
    let all = format_ident!("{ALL}", span = ident.span());
    let types = types.iter().map(definition);
    let tools = tools.iter().map(tool);
    let hidden = in_anonymous_const(&[], &items(toolset));
    quote! {
        #(#attrs)*
        #[doc = ""]
        #[doc = #summary]
        #[allow(missing_docs, missing_debug_implementations, non_camel_case_types, non_snake_case, unreachable_pub)]
        #[allow(dead_code, missing_copy_implementations, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]
        #vis mod #ident {
            // The derive of schemars calls methods of traits that are not in scope in a crate without a prelude.
            #[allow(unused_imports)]
            use ::std::prelude::v1::*;
            #(#types)*
            #(#tools)*
            #[doc(hidden)]
            pub enum #all {}
            #hidden
        }
    }
}

/// The type of all tools as a toolset, and the definition of the snapshot.
fn items(toolset: &McpToolset) -> TokenStream {
    let McpToolset { ident, server, tools, path, .. } = toolset;
    let all = format_ident!("{ALL}", span = ident.span());
    let names: Vec<_> = tools.iter().map(|tool| &tool.callable.name).collect();
    let members: Vec<_> = tools.iter().map(|tool| Member::Path(Path::from(tool.callable.ident.clone()))).collect();
    let includes = declaration::includes(&all, &members);
    // The compiler tracks the file that it includes.
    let record = path.iter().map(|path| {
        quote! {
            __llm_do::inventory::submit! {
                __llm_do::snapshot_definition(
                    #server,
                    <#all as __llm_do::Toolset>::MEMBERS,
                    ::core::include_str!(#path),
                    __llm_do::Location::new(::core::file!(), ::core::line!()),
                )
            }
        }
    });
    quote! {
        impl __llm_do::Toolset for #all {
            const MEMBERS: &'static [__llm_do::Member] = &[#(__llm_do::Member::new(#names)),*];
        }
        #includes
        #(#record)*
    }
}

/// The argument struct of a tool and its traits; the tool itself is registered at run time.
fn tool(tool: &McpTool) -> TokenStream {
    let McpTool { callable, output, fields } = tool;
    let definition = arguments::definition(callable);
    let constructor = constructor(&callable.arguments, fields);
    let implementation = arguments::implementation(callable);
    let own_toolset = declaration::own_toolset(callable);
    let (ident, name) = (&callable.arguments, &callable.name);
    let hidden = in_anonymous_const(
        &[],
        &quote! {
            #implementation
            #own_toolset
            impl __llm_do::Tool for #ident {
                const NAME: &'static str = #name;
                type Output = #output;
            }
        },
    );
    quote!(#definition #constructor #hidden)
}

/// A function that takes the required fields.
fn constructor(ident: &syn::Ident, fields: &[McpField]) -> TokenStream {
    let (required, optional): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.is_required);
    let (names, types): (Vec<_>, Vec<_>) = required.iter().map(|field| (&field.ident, &field.ty)).unzip();
    let others = optional.iter().map(|field| &field.ident);
    quote! {
        impl #ident {
            /// Returns a value without the optional fields.
            #[must_use]
            pub fn new(#(#names: #types),*) -> Self {
                Self { #(#names,)* #(#others: ::core::option::Option::None,)* }
            }
        }
    }
}

/// A struct or enum, with the traits of serde and schemars.
fn definition(ty: &McpType) -> TokenStream {
    let McpType { ident, docs, kind } = ty;
    let derives = arguments::derives(&[Derived::Serialize, Derived::Deserialize, Derived::JsonSchema]);
    match kind {
        TypeKind::Struct(fields) => {
            // Without required or without optional fields, a literal is as short.
            let is_long = fields.iter().any(|field| field.is_required) && fields.iter().any(|field| !field.is_required);
            let constructor = is_long.then(|| constructor(ident, fields));
            let is_default = fields.iter().all(|field| !field.is_required);
            let default = is_default.then(|| quote!(#[derive(::core::default::Default)]));
            let fields = fields.iter().map(field);
            quote! {
                #(#docs)*
                #derives
                #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
                #default
                pub struct #ident { #(#fields,)* }
                #constructor
            }
        }
        TypeKind::Enum(variants) => {
            let (idents, texts): (Vec<_>, Vec<_>) = variants.iter().map(|(ident, text)| (ident, text)).unzip();
            quote! {
                #(#docs)*
                #derives
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                #[derive(::core::cmp::PartialEq, ::core::cmp::Eq, ::core::hash::Hash)]
                pub enum #ident { #(#[serde(rename = #texts)] #idents,)* }
            }
        }
    }
}

fn field(field: &McpField) -> TokenStream {
    let McpField { ident, name, ty, docs, is_required, .. } = field;
    let absent =
        (!is_required).then(|| quote!(#[serde(default, skip_serializing_if = "::core::option::Option::is_none")]));
    quote! {
        #(#docs)*
        #[serde(rename = #name)]
        #absent
        pub #ident: #ty
    }
}
