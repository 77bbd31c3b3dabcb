//! `#[tool]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Expr;

use super::function::{self, Execution};
use super::{arguments, declaration, error_span, in_anonymous_const};
use crate::args::approval::Approval;
use crate::args::on_unknown::OnUnknown;
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
    let on_unknown = tool.on_unknown.map(on_unknown);
    let reconcile = reconcile(tool);
    let checks = reconcile_checks(tool);
    let summary = tool.summary.as_ref().map(|summary| quote!(.summary(#summary)));
    let preview = preview(tool);
    let max_result = tool.max_result.as_ref().map(max_result);
    let composite = composite(&tool.callable);
    let flow = declaration::flow_setters(&tool.callable.flow);
    let background = tool.background.then(|| quote!(.background()));
    let rules = quote!(#effect #approval #on_unknown #reconcile #summary #preview #max_result #flow #background);
    let setters = quote!(#rules #owner #composite);
    let registration = function::registration(&tool.callable, execution, &format_ident!("tool"), &setters);
    quote!(#registration #checks)
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

/// The function whose text shows the effect of a call to the approver, with errors at its path.
fn preview(tool: &Tool) -> Option<TokenStream> {
    let (arguments, path) = (&tool.callable.arguments, tool.preview.as_ref()?);
    let shown = quote_spanned!(error_span(path)=> __llm_do::preview::<#arguments>(__ctx, __arguments, #path));
    Some(quote!(.preview(|__ctx, __arguments| #shown)))
}

/// The name of the tool that finds out whether a call has happened.
fn reconcile(tool: &Tool) -> Option<TokenStream> {
    let path = tool.reconcile.as_ref()?;
    Some(quote_spanned!(error_span(path)=> .reconcile(<#path as __llm_do::Tool>::NAME)))
}

/// Checks that the tool of `reconcile` only reads, has the same arguments, and returns an `Option` of the result, with errors at its path.
fn reconcile_checks(tool: &Tool) -> Option<TokenStream> {
    let path = tool.reconcile.as_ref()?;
    let Callable { arguments, cfgs, .. } = &tool.callable;
    let fields: Vec<_> = tool.callable.fields().map(|field| &field.ident).collect();
    let checks = quote_spanned! {error_span(path)=>
        const _: fn(#arguments) -> #path = |#arguments { #(#fields),* }| #path { #(#fields),* };
        const _: fn() = || {
            fn returns<__T: __llm_do::Tool, __R: __llm_do::Tool<Output = ::core::option::Option<__T::Output>>>() {}
            returns::<#arguments, #path>();
        };
        const _: () = __llm_do::assert_reads(<#path as __llm_do::Keyed>::OWN);
    };
    Some(in_anonymous_const(cfgs, &checks))
}

/// What happens to a call with an unknown outcome, of a tool or the members of a toolset.
pub(super) fn on_unknown(setting: OnUnknown) -> TokenStream {
    let variant = match setting {
        OnUnknown::Ask => quote!(Ask),
        OnUnknown::Report => quote!(Report),
        OnUnknown::Rerun => quote!(Rerun),
    };
    quote!(.on_unknown(__llm_do::OnUnknown::#variant))
}

/// How many bytes a model gets of a result, with errors at the expression.
pub(super) fn max_result(bytes: &Expr) -> TokenStream {
    let check = quote_spanned!(error_span(bytes)=> const _: () = __llm_do::assert_max_result(__MAX_RESULT););
    quote!(.max_result({ const __MAX_RESULT: ::core::primitive::u64 = #bytes; #check __MAX_RESULT }))
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
