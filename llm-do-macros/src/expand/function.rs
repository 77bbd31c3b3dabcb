//! Calls a function with arguments from the struct and injected values from the context.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Type};

use super::{arguments, declaration, error_span, in_anonymous_const, timeout};
use crate::input::{Callable, Injected, Parameter, Source, spelled};

/// How the runtime executes the function.
#[derive(Clone, Copy)]
pub(super) enum Execution {
    /// On a blocking thread.
    Blocking,
    /// On the async thread.
    Inline,
    /// As a future.
    Future,
}

/// The traits and the registration of a function.
pub(super) fn registration(
    callable: &Callable,
    execution: Execution,
    constructor: &Ident,
    setters: &TokenStream,
) -> TokenStream {
    let Callable { arguments, description, cfgs, .. } = callable;
    let tool = implementation(callable);
    let start = start(callable, execution);
    let declares = declaration::setter(callable);
    let times_out = timeout::setter(callable);
    let state = state(callable);
    let output = output_schema(callable);
    let error = error_type(callable);
    let can_fail = error_check(callable);
    let items = quote! {
        #tool
        #can_fail
        #start
        __llm_do::inventory::submit! {
            __llm_do::ToolDef::#constructor::<#arguments>(
                #description,
                __llm_do::Location::new(::core::file!(), ::core::line!())
                    .package(::core::option_env!("CARGO_PKG_NAME"), ::core::option_env!("CARGO_PKG_VERSION")),
            )
            #setters
            #times_out
            #state
            #declares
            #output
            #error
        }
    };
    in_anonymous_const(cfgs, &items)
}

/// The constructor and the traits that tools, workers and entries share.
pub(super) fn implementation(callable: &Callable) -> TokenStream {
    let traits = arguments::implementation(callable);
    let constructor = arguments::constructor(callable);
    let tool = tool(callable);
    let own_toolset = declaration::own_toolset(callable);
    let declaration = declaration::items(callable);
    let timeout = timeout::item(callable);
    quote!(#traits #constructor #tool #own_toolset #declaration #timeout)
}

/// The name and the output type. The compiler detects `Result` and its aliases.
pub(super) fn tool(callable: &Callable) -> TokenStream {
    let Callable { arguments, name, .. } = callable;
    if callable.is_opaque {
        return quote! {
            impl __llm_do::Tool for #arguments {
                const NAME: &'static str = #name;
                type Output = __llm_do::Value;
            }
        };
    }
    let output = output(callable);
    let yields = quote_spanned!(output_span(callable)=> #output: __llm_do::Yields<__FALLIBLE, Output = __Output>);
    quote! {
        #[allow(unused_imports)]
        use __llm_do::NotResult as _;
        const __FALLIBLE: bool = <__llm_do::ReturnProbe<#output>>::FALLIBLE;
        // A type parameter, since the return type may be more private than the function. This is a lint for the
        // function, and would be an error for an associated type.
        impl<__Output> __llm_do::Tool for #arguments
        where
            #yields,
        {
            const NAME: &'static str = #name;
            type Output = __Output;
        }
    }
}

/// The output type of a call, with errors at the return type. `impl Trait` becomes a JSON value.
pub(super) fn output_type(callable: &Callable) -> TokenStream {
    if callable.is_opaque {
        return quote!(__llm_do::Value);
    }
    let output = output(callable);
    quote_spanned!(output_span(callable)=> <#output as __llm_do::Yields<__FALLIBLE>>::Output)
}

fn output_span(callable: &Callable) -> Span {
    callable.output.as_ref().map_or_else(Span::call_site, error_span)
}

fn output(callable: &Callable) -> TokenStream {
    callable.output.as_ref().map_or_else(|| quote!(()), Type::to_token_stream)
}

fn start(callable: &Callable, execution: Execution) -> TokenStream {
    let Callable { arguments, .. } = callable;
    let injected = bindings(callable, &quote!(Running));
    let running = running(callable, execution);
    quote! {
        impl __llm_do::Function for #arguments {
            fn start(self, __ctx: &__llm_do::CallContext) -> __llm_do::Running {
                #injected
                #running
            }
        }
    }
}

/// The injected values. The call fails if one is missing.
pub(super) fn bindings(callable: &Callable, outcome: &TokenStream) -> TokenStream {
    bindings_of(callable.injected(), outcome)
}

/// Like [`bindings`], for any parameters.
pub(super) fn bindings_of<'a>(injected: impl Iterator<Item = &'a Injected>, outcome: &TokenStream) -> TokenStream {
    injected.enumerate().map(|(place, injected)| binding(place, injected, outcome)).collect()
}

/// The path of the function.
fn path(callable: &Callable) -> TokenStream {
    let Callable { ident, owner, .. } = callable;
    match owner {
        Some(owner) => quote!(<#owner>::#ident),
        None => ident.to_token_stream(),
    }
}

fn binding(place: usize, injected: &Injected, outcome: &TokenStream) -> TokenStream {
    let name = injected_name(place);
    let (ty, span) = match &injected.source {
        Source::AnyContext(ty) => (quote!(__llm_do::CallContext), error_span(ty)),
        Source::Value(ty) => (ty.to_token_stream(), error_span(ty)),
        Source::Receiver(ty) => (quote!(__llm_do::Instance<#ty>), error_span(ty)),
    };
    let value = quote_spanned!(span=> <#ty as __llm_do::FromContext>::from_context(__ctx));
    quote! {
        let #name = match #value {
            ::core::result::Result::Ok(__value) => __value,
            ::core::result::Result::Err(__error) => return __llm_do::#outcome::failed(__error),
        };
    }
}

fn running(callable: &Callable, execution: Execution) -> TokenStream {
    let function = path(callable);
    let values = values(callable);
    let call = quote!(#function(#(#values),*));
    match execution {
        Execution::Blocking => {
            let finished = finished(callable, &call);
            quote!(__llm_do::Running::blocking(move || #finished))
        }
        Execution::Inline => {
            let finished = finished(callable, &call);
            quote!(__llm_do::Running::inline(move || #finished))
        }
        Execution::Future => {
            let finished = finished(callable, &quote!(#call.await));
            // The compiler reports a future that is not `Send` at the function.
            quote_spanned!(error_span(&callable.ident)=> __llm_do::Running::future(async move { #finished }))
        }
    }
}

/// Converts the result of `call`, with errors at the return type.
fn finished(callable: &Callable, call: &TokenStream) -> TokenStream {
    by_kind(call, "finish", output_span(callable))
}

/// Calls `method` with the result of `call`, for the kind of its value.
pub(super) fn by_kind(call: &TokenStream, method: &str, span: Span) -> TokenStream {
    let method = Ident::new(method, span);
    let value = quote_spanned!(span=> __returned);
    let finish = quote_spanned!(span=> __kind.#method(#value));
    quote! {{
        let #value = #call;
        let __kind = {
            #[allow(unused_imports)]
            use __llm_do::{ReturnsError as _, ReturnsNested as _, ReturnsSource as _, ReturnsText as _, ReturnsValue as _};
            (&&&&&__llm_do::Returned::of(&#value)).kind()
        };
        #finish
    }}
}

/// The values of all parameters, in order.
pub(super) fn values(callable: &Callable) -> Vec<TokenStream> {
    values_of(&callable.parameters)
}

/// Like [`values`], for any parameters.
pub(super) fn values_of(parameters: &[Parameter]) -> Vec<TokenStream> {
    let mut place = 0;
    parameters.iter().map(|parameter| value(parameter, &mut place)).collect()
}

fn value(parameter: &Parameter, place: &mut usize) -> TokenStream {
    let (value, is_borrowed) = match parameter {
        Parameter::Argument(argument) => {
            let ident = &argument.ident;
            (quote!(self.#ident), &argument.is_borrowed)
        }
        Parameter::Injected(Injected { is_borrowed, .. }) => {
            let name = injected_name(*place);
            *place += 1;
            (name.into_token_stream(), is_borrowed)
        }
    };
    if *is_borrowed { quote!(&#value) } else { value }
}

fn injected_name(place: usize) -> Ident {
    format_ident!("__injected_{place}")
}

/// The schema of the output, if the type has a name and a schema.
fn output_schema(callable: &Callable) -> Option<TokenStream> {
    let arguments = &callable.arguments;
    (!callable.is_opaque).then(|| {
        quote! {
            .output({
                #[allow(unused_imports)]
                use __llm_do::NoSchema as _;
                <__llm_do::SchemaProbe<<#arguments as __llm_do::Tool>::Output>>::SCHEMA
            })
        }
    })
}

/// The type of the errors that a journal keeps: the type in the attribute, otherwise the function's own error type, if
/// it can be kept.
pub(super) fn error_type(callable: &Callable) -> Option<TokenStream> {
    if let Some(error) = &callable.error {
        let named = quote_spanned!(error_span(error)=> __llm_do::ErrorType::for_error::<#error>());
        return Some(quote!(.error(::core::option::Option::Some(#named))));
    }
    let output = callable.output.as_ref().filter(|_| !callable.is_opaque)?;
    Some(quote! {
        .error({
            #[allow(unused_imports)]
            use __llm_do::NoErrorType as _;
            <__llm_do::ErrorProbe<#output>>::TYPE
        })
    })
}

/// Checks that a function can fail if the attribute sets the type of its errors. The return type must have a name.
fn error_check(callable: &Callable) -> Option<TokenStream> {
    let error = callable.error.as_ref().filter(|_| !callable.is_opaque)?;
    Some(quote_spanned!(error_span(error)=> const _: () = __llm_do::assert_fallible(__FALLIBLE);))
}

/// The types of state that the function requires.
pub(super) fn state(callable: &Callable) -> Option<TokenStream> {
    state_of(callable.injected()).map(|state| quote!(.state(#state)))
}

/// The types of state among the injected parameters, if any.
pub(super) fn state_of<'a>(injected: impl Iterator<Item = &'a Injected>) -> Option<TokenStream> {
    let keys: Vec<_> = injected.filter_map(Injected::state).map(state_key).collect();
    (!keys.is_empty()).then(|| quote!(&[#(#keys),*]))
}

/// A function that returns the key of a type of state.
fn state_key(ty: &Type) -> TokenStream {
    let written = spelled(ty);
    quote!(|| __llm_do::StateKey::new::<#ty>(#written))
}
