//! Generates code from the checked input. It cannot fail.

mod arguments;
mod bounded;
mod declaration;
mod entry;
mod function;
mod mcp;
mod named_instance;
mod partial;
mod stateful;
mod stub;
mod timeout;
mod tool;
mod toolset;
mod worker;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Attribute;
use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::input::{Block, Callable, Data, Entry, Function, Kind, Stateful, Tool, ToolsetItem, Worker, is_block};
use crate::{fallback, runtime};

/// Expands `#[tool]`.
pub(crate) fn tool(args: TokenStream, item: &TokenStream) -> TokenStream {
    if is_block(item) {
        return block(args, item);
    }
    attribute(item, |function, errors| {
        let tool = Tool::read(args, function, None, errors);
        let registration = tool::registration(&tool);
        (tool.callable, registration)
    })
}

/// Expands `#[tool]` on an `impl`.
fn block(args: TokenStream, item: &TokenStream) -> TokenStream {
    let block: Block = match syn::parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => return fallback::expand(item, &error),
    };
    let mut errors = Errors::default();
    let toolset = Stateful::read(args, &block, &mut errors);
    let block = stateful::emitted(block);
    match errors.finish(()) {
        Ok(()) => {
            let registration = stateful::registration(&toolset);
            quote!(#block #registration)
        }
        Err(error) => {
            let stubs = toolset.tools.iter().filter(|tool| tool.callable.has_struct);
            let stubs = stubs.map(|tool| stub::definition(&tool.callable));
            fallback::expand(&quote!(#block #(#stubs)*), &error)
        }
    }
}

/// Expands `#[worker]`.
pub(crate) fn worker(args: TokenStream, item: &TokenStream) -> TokenStream {
    attribute(item, |function, errors| {
        let worker = Worker::read(args, function, errors);
        let registration = worker::registration(&worker);
        let direct_call = worker::direct_call(&worker.callable, function);
        (worker.callable, quote!(#direct_call #registration))
    })
}

/// Expands `#[entry]`.
pub(crate) fn entry(args: TokenStream, item: &TokenStream) -> TokenStream {
    attribute(item, |function, errors| {
        let entry = Entry::read(args, function, errors);
        let registration = entry::registration(&entry);
        (entry.callable, registration)
    })
}

/// Expands `toolset!`, without the invalid members.
pub(crate) fn toolset(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = ToolsetItem::read_all(tokens, &mut errors);
    let code = items.iter().map(|item| match item {
        ToolsetItem::Group(toolset) => toolset::registration(toolset),
        ToolsetItem::Mcp(toolset) => mcp::registration(toolset),
    });
    let code = code.collect();
    match errors.finish(()) {
        Ok(()) => code,
        Err(error) => fallback::expand(&code, &error),
    }
}

/// Expands `#[data]`.
pub(crate) fn data(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let data = Data::read(args, item, &mut errors);
    let derives = arguments::derives(&data.derived);
    let code = quote!(#derives #item);
    match errors.finish(()) {
        Ok(()) => {
            let fields = data.partial.as_ref().map(partial::fields);
            let bounded = data.bounded.as_ref().map(bounded::implementation);
            quote!(#code #fields #bounded)
        }
        Err(error) => fallback::expand(&code, &error),
    }
}

/// Expands an attribute on a function: the complete code, or the errors and a stub.
fn attribute(item: &TokenStream, read: impl FnOnce(&Function, &mut Errors) -> (Callable, TokenStream)) -> TokenStream {
    let mut function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return fallback::expand(item, &error),
    };
    let mut errors = Errors::default();
    function.take_registrations(&mut errors);
    let (callable, registration) = read(&function, &mut errors);
    let function = emitted(&callable, function);
    match errors.finish(()) {
        Ok(()) => {
            let arguments = arguments::definition(&callable);
            quote!(#function #arguments #registration)
        }
        Err(error) => {
            let stub = callable.has_struct.then(|| stub::definition(&callable));
            fallback::expand(&quote!(#function #stub), &error)
        }
    }
}

/// Returns the function as written, or nothing for a worker.
fn emitted(callable: &Callable, function: Function) -> Option<TokenStream> {
    if callable.kind == Kind::Worker || function.body.is_none() {
        return None;
    }
    let function = function.cleaned();
    Some(quote! {
        // The runtime's calling convention does not permit the changes that these lints suggest.
        #[allow(clippy::missing_const_for_fn, clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async)]
        #function
    })
}

/// Returns a span that reports errors at the user's tokens and resolves names as generated code does.
fn error_span(tokens: &impl Spanned) -> Span {
    Span::call_site().located_at(tokens.span())
}

/// Wraps generated items in an anonymous constant, so that their names are not visible outside.
fn in_anonymous_const(cfgs: &[Attribute], items: &TokenStream) -> TokenStream {
    let private = runtime::private();
    quote! {
        #(#cfgs)*
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        const _: () = {
            use #private as __llm_do;
            #items
        };
    }
}
