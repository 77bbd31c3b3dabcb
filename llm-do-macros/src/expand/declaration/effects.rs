//! The effect of an item and those of its toolsets, which the compiler compares.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::forms;
use crate::args::tool::{Effect, Reach};
use crate::args::toolset::Member;
use crate::expand::error_span;
use crate::input::{Callable, EffectSource, Flow, Kind, is_untrusted};

/// The variant of `Effect`.
fn effect(effect: Option<Effect>) -> TokenStream {
    let variant = match effect {
        Some(Effect::ReadOnly) => quote!(ReadOnly),
        Some(Effect::Idempotent) => quote!(Idempotent),
        Some(Effect::Destructive) => quote!(Destructive),
        None => quote!(Undeclared),
    };
    quote!(__llm_do::Effect::#variant)
}

/// The method call that sets the effect in the registration.
pub(in crate::expand) fn setter(declared: Option<Effect>) -> Option<TokenStream> {
    let declared = effect(Some(declared?));
    Some(quote!(.effect(#declared)))
}

/// The effect of an item without its toolsets, and what it returns and sends.
pub(super) fn own(callable: &Callable) -> TokenStream {
    let Callable { name, effect: declared, effect_source, output, flow, .. } = callable;
    let untrusted = output.as_ref().filter(|ty| is_untrusted(ty)).map(|_| quote!(.untrusted()));
    let private = flow.is_private.then(|| quote!(.private()));
    if let EffectSource::ServerSideTool(tool) = effect_source {
        return quote!(__llm_do::StrongestEffect::new(#tool, __llm_do::Effect::Undeclared).through(#name) #untrusted);
    }
    let reach = reach(callable);
    let declared = effect(*declared);
    quote!(__llm_do::StrongestEffect::new(#name, #declared) #untrusted #private #reach)
}

/// Where what an item gets may arrive, if that does not follow from its effect; a worker or an entry sends nothing itself.
fn reach(Callable { kind, effect, flow, .. }: &Callable) -> Option<TokenStream> {
    let acts = !matches!(effect, Some(Effect::ReadOnly));
    match (kind, flow.reach) {
        (Kind::Tool, Some(Reach::Outside)) if !acts => Some(quote!(.outside())),
        (Kind::Tool, Some(Reach::Own)) | (Kind::Worker | Kind::Entry, _) if acts => Some(quote!(.inside())),
        _ => None,
    }
}

/// The method calls that set in the registration what an item declares about data.
pub(in crate::expand) fn flow_setters(Flow { is_private, reach }: &Flow) -> TokenStream {
    let private = is_private.then(|| quote!(.private()));
    let reach = reach.map(|reach| match reach {
        Reach::Own => quote!(.reach(__llm_do::Reach::Own)),
        Reach::Outside => quote!(.reach(__llm_do::Reach::Outside)),
    });
    quote!(#private #reach)
}

/// The type that states the effects of the items that the model of a worker can call.
pub(super) fn calls(callable: &Callable) -> TokenStream {
    let is_compared = !matches!(callable.effect_source, EffectSource::Reason);
    match &callable.toolsets {
        Some(_) if callable.kind == Kind::Worker && is_compared => quote!(__llm_do::CallsOf<Self, __D>),
        _ => quote!(__llm_do::NoEffects),
    }
}

/// The effects of a worker's toolsets, or the checks of a tool that declares a weak effect.
pub(super) fn of_toolsets(callable: &Callable, members: &[Member]) -> Option<TokenStream> {
    match (callable.kind, callable.effect) {
        (Kind::Worker, _) => Some(calls_at(callable, members)),
        (Kind::Tool, Some(declared @ (Effect::ReadOnly | Effect::Idempotent))) => {
            Some(checks(&callable.name, declared, members))
        }
        _ => None,
    }
}

fn calls_at(Callable { arguments, .. }: &Callable, members: &[Member]) -> TokenStream {
    let included = forms::included(members);
    quote! {
        impl<__D: __llm_do::Depth> __llm_do::CallsAt<__D> for #arguments {
            const STRONGEST: __llm_do::StrongestEffect = {
                #[allow(unused_imports)]
                use __llm_do::NotToolset as _;
                <__llm_do::EffectProbe<#included, __D>>::STRONGEST
            };
        }
    }
}

/// Compares the declared effect with each member, with an error at the member.
fn checks(name: &str, declared: Effect, members: &[Member]) -> TokenStream {
    let declared = effect(Some(declared));
    let checks = members.iter().map(|member| {
        let (included, span) = (forms::included_by(member), error_span(&member.path().segments.last()));
        let found = quote!(<__llm_do::EffectProbe<#included, __llm_do::EightWorkers>>::STRONGEST);
        quote_spanned!(span=> const _: () = __llm_do::assert_effect(#name, #declared, #found);)
    });
    quote! {
        #[allow(unused_imports)]
        use __llm_do::NotToolset as _;
        #(#checks)*
    }
}
