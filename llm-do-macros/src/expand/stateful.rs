//! `#[tool]` on an `impl`

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Path;

use super::function::{bindings_of, by_kind, state_of, values_of};
use super::{error_span, in_anonymous_const, tool, toolset};
use crate::args::toolset::Member as Listed;
use crate::input::{Block, Close, Member, Open, Stateful, without_attribute};

/// The block as written, without the attributes of the macros.
pub(super) fn emitted(mut block: Block) -> Block {
    let members = std::mem::take(&mut block.members).into_iter().map(|member| match member {
        Member::Function(function) => Member::Function(Box::new(without_attribute(*function))),
        other @ Member::Other(_) => other,
    });
    block.members = members.collect();
    block
}

/// The argument structs and registrations of the tools, and the type as a toolset.
pub(super) fn registration(stateful: &Stateful) -> TokenStream {
    let tools = stateful.tools.iter().map(tool::definition);
    let hidden = in_anonymous_const(&stateful.cfgs, &items(stateful));
    quote!(#(#tools)* #hidden)
}

fn items(stateful: &Stateful) -> TokenStream {
    let Stateful { ty, name, description, approval, on_unknown, tools, .. } = stateful;
    let members: Vec<_> = tools.iter().map(|tool| Listed::Path(Path::from(tool.callable.arguments.clone()))).collect();
    let rules = toolset::rules(approval.as_ref(), *on_unknown);
    let as_toolset = toolset::items(ty, name, description, &rules, &members, Span::call_site());
    let instances = instances(stateful);
    quote!(#as_toolset #instances)
}

/// The functions that create and close an instance.
fn instances(stateful: &Stateful) -> TokenStream {
    let Stateful { ty, name, open, close, .. } = stateful;
    let state = open.as_ref().and_then(|open| state_of(open.injected()));
    let state = state.map(|state| quote!(const STATE: &'static [fn() -> __llm_do::StateKey] = #state;));
    let open = open.as_ref().map_or_else(|| open_by_default(ty), |open| opening(ty, open));
    let close = close.as_ref().map_or_else(|| quote!(__llm_do::Closing::dropping(self)), |close| closing(ty, close));
    quote! {
        impl __llm_do::Stateful for #ty {
            const NAME: &'static str = #name;
            #state
            fn open(__ctx: &__llm_do::CallContext) -> __llm_do::Opening<Self> {
                #open
            }
            fn close(self) -> __llm_do::Closing {
                #close
            }
        }
    }
}

fn open_by_default(ty: &syn::Type) -> TokenStream {
    let made = quote::quote_spanned!(error_span(ty)=> <#ty as __llm_do::OpenByDefault>::open_by_default());
    quote!(__llm_do::Opening::blocking(move || ::core::result::Result::Ok(#made)))
}

fn opening(ty: &syn::Type, open: &Open) -> TokenStream {
    let Open { ident, is_async, parameters } = open;
    let injected = bindings_of(open.injected(), &quote!(Opening));
    let values = values_of(parameters);
    let call = quote!(<#ty>::#ident(#(#values),*));
    let opened = run_call(&call, *is_async, ident.span());
    quote!(#injected __llm_do::Opening::#opened)
}

fn closing(ty: &syn::Type, close: &Close) -> TokenStream {
    let Close { ident, is_async } = close;
    let closed = run_call(&quote!(<#ty>::#ident(self)), *is_async, ident.span());
    quote!(__llm_do::Closing::#closed)
}

/// The constructor that awaits `call`, or runs it on a blocking thread.
fn run_call(call: &TokenStream, is_async: bool, span: Span) -> TokenStream {
    let constructor = format_ident!("{}", if is_async { "future" } else { "blocking" });
    let call = if is_async { quote!(#call.await) } else { call.clone() };
    let value = by_kind(&call, "value", Span::call_site().located_at(span));
    if is_async { quote!(#constructor(async move { #value })) } else { quote!(#constructor(move || #value)) }
}
