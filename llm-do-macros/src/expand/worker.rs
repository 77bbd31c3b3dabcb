//! `#[worker]`

use proc_macro2::TokenStream;
use quote::quote;

use super::{declaration, function, hidden};
use crate::args::worker::Globs;
use crate::input::{Callable, Worker};

/// Traits and registration of a worker.
pub(super) fn registration(worker: &Worker) -> TokenStream {
    let Callable { arguments, description, cfgs, .. } = &worker.callable;
    let tool = function::implementation(&worker.callable);
    let declares = declaration::setter(&worker.callable);
    let model = model(worker);
    let output = function::yielded(&worker.callable);
    let items = quote! {
        #tool
        __llm_do::inventory::submit! {
            __llm_do::ToolDef::worker::<#arguments, #output>(
                #description,
                __llm_do::Location::new(::core::file!(), ::core::line!()),
                #model,
            )
            #declares
        }
    };
    hidden(cfgs, &items)
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
