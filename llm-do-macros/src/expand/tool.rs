//! `#[tool]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::function::{self, Way};
use crate::args::tool::Effect;
use crate::input::Tool;

/// Traits and registration of a tool.
pub(super) fn registration(tool: &Tool) -> TokenStream {
    let way = match tool {
        Tool { callable, .. } if callable.is_async => Way::Future,
        Tool { inline: true, .. } => Way::Inline,
        Tool { .. } => Way::Blocking,
    };
    let effect = tool.effect.map(effect).unwrap_or_default();
    function::registration(&tool.callable, way, &format_ident!("tool"), &effect)
}

fn effect(effect: Effect) -> TokenStream {
    let variant = match effect {
        Effect::ReadOnly => quote!(ReadOnly),
        Effect::Idempotent => quote!(Idempotent),
        Effect::Destructive => quote!(Destructive),
    };
    quote!(.effect(__llm_do::Effect::#variant))
}
