//! `#[worker]`

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::{blaming, declaration, function, hidden};
use crate::args::worker::Globs;
use crate::input::{Body, Callable, Worker};

/// Traits and registration of a worker.
pub(super) fn registration(worker: &Worker) -> TokenStream {
    let Callable { arguments, description, cfgs, .. } = &worker.callable;
    let tool = function::implementation(&worker.callable);
    let declares = declaration::setter(&worker.callable);
    let model = model(worker);
    let output = function::yielded(&worker.callable);
    let state = function::state(&worker.callable);
    let rendering = worker.body.as_ref().map(|body| rendering(&worker.callable, body));
    let constructor = format_ident!("{}", if rendering.is_some() { "worker_with_body" } else { "worker" });
    let items = quote! {
        #tool
        #rendering
        __llm_do::inventory::submit! {
            __llm_do::ToolDef::#constructor::<#arguments, #output>(
                #description,
                __llm_do::Location::new(::core::file!(), ::core::line!()),
                #model,
            )
            #state
            #declares
        }
    };
    hidden(cfgs, &items)
}

/// The body as a function of its own, and the call of it.
fn rendering(callable: &Callable, body: &Body) -> TokenStream {
    let Callable { arguments, ident, .. } = callable;
    let Body { inputs, block } = body;
    let injected = function::bindings(callable, &quote!(Rendering));
    let values = function::values(callable);
    let value = quote_spanned!(blaming(&block.span_close())=> __prompt);
    quote! {
        #[allow(clippy::needless_pass_by_value, clippy::unused_async)]
        async fn #ident(#inputs) -> ::core::result::Result<__llm_do::Prompt, __llm_do::BoxError> {
            let #value = #block;
            ::core::result::Result::Ok(__llm_do::IntoPrompt::into_prompt(#value))
        }
        impl __llm_do::Renders for #arguments {
            fn render(self, __ctx: &__llm_do::CallContext) -> __llm_do::Rendering {
                #injected
                __llm_do::Rendering::of(<Self as __llm_do::Tool>::NAME, async move { #ident(#(#values),*).await })
            }
        }
    }
}

/// How a model implements the worker.
fn model(worker: &Worker) -> TokenStream {
    let Worker { instructions, args, .. } = worker;
    let model = args.model.iter();
    let globs = args.compatible_models.iter().map(|Globs(globs)| quote!(.compatible_models(&[#globs])));
    let max_turns = args.max_turns.iter();
    let retries = args.retries.iter();
    quote! {
        __llm_do::WorkerDef::new(#instructions)
            #(.model(#model))*
            #(#globs)*
            #(.max_turns(#max_turns))*
            #(.retries(#retries))*
    }
}
