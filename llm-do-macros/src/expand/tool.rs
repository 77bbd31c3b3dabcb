//! `#[tool]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::arguments;
use super::function::{self, Way};
use crate::args::tool::Effect;
use crate::input::{Callable, Injected, Parameter, Tool};

/// Traits and registration of a tool.
pub(super) fn registration(tool: &Tool) -> TokenStream {
    let way = match tool {
        Tool { callable, .. } if callable.is_async => Way::Future,
        Tool { inline: true, .. } => Way::Inline,
        Tool { .. } => Way::Blocking,
    };
    let effect = tool.effect.map(effect);
    let owner = tool.callable.owner.as_ref().map(|owner| quote!(.method_of::<#owner>()));
    let composite = composite(&tool.callable);
    function::registration(&tool.callable, way, &format_ident!("tool"), &quote!(#effect #owner #composite))
}

/// Everything of a method that is a tool but the method.
pub(super) fn definition(tool: &Tool) -> TokenStream {
    let arguments = arguments::definition(&tool.callable);
    let registration = registration(tool);
    quote!(#arguments #registration)
}

/// A tool that may make calls is no single step to a journal: its calls are the steps.
fn composite(callable: &Callable) -> Option<TokenStream> {
    let may_call = callable.parameters.iter().filter_map(Parameter::injected).any(Injected::may_call);
    may_call.then(|| quote!(.composite()))
}

fn effect(effect: Effect) -> TokenStream {
    let variant = match effect {
        Effect::ReadOnly => quote!(ReadOnly),
        Effect::Idempotent => quote!(Idempotent),
        Effect::Destructive => quote!(Destructive),
    };
    quote!(.effect(__llm_do::Effect::#variant))
}
