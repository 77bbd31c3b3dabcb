//! `#[tool]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::arguments;
use super::function::{self, Way};
use crate::args::approval::Approval;
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
    let approval = tool.approval.as_ref().map(approval);
    let summary = tool.summary.as_ref().map(|summary| quote!(.summary(#summary)));
    let composite = composite(&tool.callable);
    let setters = quote!(#effect #approval #summary #owner #composite);
    function::registration(&tool.callable, way, &format_ident!("tool"), &setters)
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

/// What a tool or a toolset says of approval.
pub(super) fn approval(approval: &Approval) -> TokenStream {
    let rule = match approval {
        Approval::Ask => quote!(Ask),
        Approval::PreApproved => quote!(PreApproved),
        Approval::Blocked(reason) => quote!(Blocked(#reason)),
    };
    quote!(.approval(__llm_do::DeclaredRule::#rule))
}
