//! `#[tool]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::function::{self, Execution};
use super::{arguments, declaration, error_span};
use crate::args::approval::Approval;
use crate::input::{Callable, Injected, Parameter, Tool};

/// Traits and registration of a tool.
pub(super) fn registration(tool: &Tool) -> TokenStream {
    let execution = match tool {
        Tool { callable, .. } if callable.is_async => Execution::Future,
        Tool { inline: true, .. } => Execution::Inline,
        Tool { .. } => Execution::Blocking,
    };
    let effect = declaration::effect_setter(tool.callable.effect);
    let owner = tool.callable.owner.as_ref().map(|owner| quote!(.method_of::<#owner>()));
    let approval = tool.approval.as_ref().map(approval);
    let summary = tool.summary.as_ref().map(|summary| quote!(.summary(#summary)));
    let preview = preview(tool);
    let composite = composite(&tool.callable);
    let setters = quote!(#effect #approval #summary #preview #owner #composite);
    function::registration(&tool.callable, execution, &format_ident!("tool"), &setters)
}

/// The argument struct, the traits and the registration of a method.
pub(super) fn definition(tool: &Tool) -> TokenStream {
    let arguments = arguments::definition(&tool.callable);
    let registration = registration(tool);
    quote!(#arguments #registration)
}

/// Marks a tool that can make calls: a journal records its calls instead of the tool.
fn composite(callable: &Callable) -> Option<TokenStream> {
    let may_call = callable.parameters.iter().filter_map(Parameter::injected).any(Injected::may_call);
    may_call.then(|| quote!(.composite()))
}

/// The function that shows the approver what a call would do, with errors at its path.
fn preview(tool: &Tool) -> Option<TokenStream> {
    let (arguments, path) = (&tool.callable.arguments, tool.preview.as_ref()?);
    let shown = quote_spanned!(error_span(path)=> __llm_do::preview::<#arguments>(__ctx, __arguments, #path));
    Some(quote!(.preview(|__ctx, __arguments| #shown)))
}

/// The approval rule of a tool or a toolset.
pub(super) fn approval(approval: &Approval) -> TokenStream {
    let rule = match approval {
        Approval::Ask => quote!(Ask),
        Approval::PreApproved => quote!(PreApproved),
        Approval::Blocked(reason) => quote!(Blocked(#reason)),
    };
    quote!(.approval(__llm_do::DeclaredRule::#rule))
}
