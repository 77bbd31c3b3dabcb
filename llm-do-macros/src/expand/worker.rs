//! `#[worker]`

use llm_do_worker_file::{OutputMode, ServerSideKind};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Path, ReturnType, Signature, Type};

use super::tool::max_result;
use super::{declaration, error_span, function, in_anonymous_const, timeout};
use crate::args::server_side::{ServerSideTool, ServerSideTools, WebSearch};
use crate::args::worker::{Globs, Hints};
use crate::input::{Body, Callable, Function, OutputSchema, Worker};
use crate::runtime;

/// Traits and registration of a worker.
pub(super) fn registration(worker: &Worker) -> TokenStream {
    let Callable { arguments, description, cfgs, .. } = &worker.callable;
    let implementation = function::implementation(&worker.callable);
    let declares = declaration::setter(&worker.callable);
    let times_out = timeout::setter(&worker.callable);
    let values = values(worker);
    let model = model(worker);
    let output = function::output_type(&worker.callable);
    let state = function::state(&worker.callable);
    let effect = declaration::effect_setter(worker.args.effect);
    let error = function::error_type(&worker.callable);
    let quarantine = quarantine(worker);
    let background = worker.args.background.as_ref().filter(|given| given.value()).map(|_| quote!(.background()));
    let rendering = worker.body.as_ref().map(|body| rendering(&worker.callable, body));
    let constructor = format_ident!("{}", if rendering.is_some() { "worker_with_body" } else { "worker" });
    let items = quote! {
        #implementation
        impl __llm_do::TakesHistory for #arguments {}
        #rendering
        #values
        #quarantine
        __llm_do::inventory::submit! {
            __llm_do::ToolDef::#constructor::<#arguments, #output>(
                #description,
                __llm_do::Location::new(::core::file!(), ::core::line!())
                    .package(::core::option_env!("CARGO_PKG_NAME"), ::core::option_env!("CARGO_PKG_VERSION")),
                #model,
            )
            #times_out
            #state
            #effect
            #background
            #declares
            #error
        }
    };
    in_anonymous_const(cfgs, &items)
}

/// Checks that what a quarantined worker returns carries no text that it has read, with errors at the return type.
fn quarantine(Worker { callable, args, .. }: &Worker) -> Option<TokenStream> {
    args.quarantined.as_ref().filter(|quarantined| quarantined.value)?;
    let output = function::output_type(callable);
    let span = callable.output.as_ref().map_or_else(Span::call_site, error_span);
    let check = quote_spanned!(span=> assert_quarantined::<#output>(););
    Some(quote! {
        const _: fn() = || {
            fn assert_quarantined<__Output: __llm_do::QuarantinedOutput>() {}
            #check
        };
    })
}

/// A function with the name of the worker. A call of it does not compile; the error shows how to call a worker.
pub(super) fn direct_call(Callable { arguments, vis, ident, cfgs, .. }: &Callable, function: &Function) -> TokenStream {
    let private = runtime::private();
    let Signature { inputs, output, .. } = function.clone().cleaned().signature;
    let output = match output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => ty.into_token_stream(),
    };
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(unused, deprecated, missing_docs, private_interfaces, unreachable_pub, unused_qualifications)]
        #[allow(elided_lifetimes_in_paths, non_snake_case, clippy::all, clippy::pedantic, clippy::nursery)]
        #vis fn #ident(#inputs) -> #private::DirectCall<#arguments, #output> {
            #private::DirectCall::of_worker()
        }
    }
}

/// A function with the body, and a call of it.
fn rendering(callable: &Callable, body: &Body) -> TokenStream {
    let Callable { arguments, ident, .. } = callable;
    let Body { inputs, block } = body;
    let injected = function::bindings(callable, &quote!(Rendering));
    let values = function::values(callable);
    let value = quote_spanned!(error_span(&block.span_close())=> __prompt);
    let render = quote_spanned! {error_span(ident)=>
        __llm_do::Rendering::of(<Self as __llm_do::Tool>::NAME, async move { #ident(#(#values),*).await })
    };
    quote! {
        #[allow(clippy::needless_pass_by_value, clippy::unused_async)]
        async fn #ident(#inputs) -> ::core::result::Result<__llm_do::Prompt, __llm_do::BoxError> {
            let #value = #block;
            ::core::result::Result::Ok(__llm_do::IntoPrompt::into_prompt(#value))
        }
        impl __llm_do::Renders for #arguments {
            fn render(self, __ctx: &__llm_do::CallContext) -> __llm_do::Rendering {
                #injected
                #render
            }
        }
    }
}

/// The definition of the worker for its model.
fn model(worker: &Worker) -> TokenStream {
    let Worker { instructions, args, file, .. } = worker;
    let computed = args.instructions_with.as_ref().map(computed);
    let model = args.model.iter();
    let globs = args.compatible_models.iter().map(|Globs(globs)| quote!(.compatible_models(&[#globs])));
    let code = args.code.iter();
    let tools = args.server_side_tools.as_ref().map(server_side_tools);
    let reason = args.effect_reason.iter();
    let flow_reason = args.flow_reason.iter();
    let settings = args.settings.as_ref().map(|_| quote!(.settings(__settings)));
    let hints = args.hints.iter().map(|Hints(hints)| quote!(.hints(&[#hints])));
    let output = args.output.map(output_mode);
    let schema = file.as_ref().and_then(|file| file.output_schema.as_ref()).map(|schema| written(schema, worker));
    let max_turns = args.max_turns.as_ref().map(|_| quote!(.max_turns(__MAX_TURNS)));
    let retries = args.retries.iter();
    let limits = args.limits.as_ref().map(|_| quote!(.limits(__limits)));
    let max_result = args.max_result.as_ref().map(max_result);
    let attachments = args.attachments.as_ref().map(|_| quote!(.attachments(__attachments)));
    quote! {
        __llm_do::WorkerDef::new(#instructions)
            #computed
            #(.model(#model))*
            #(#globs)*
            #(.code(#code))*
            #tools
            #(.effect_reason(#reason))*
            #(.flow_reason(#flow_reason))*
            #settings
            #(#hints)*
            #output
            #schema
            #max_turns
            #(.retries(#retries))*
            #limits
            #max_result
            #attachments
    }
}

/// The function that computes the instructions, with errors at its path.
fn computed(path: &Path) -> TokenStream {
    let span = error_span(path);
    let written = path.to_token_stream().to_string().replace(' ', "");
    let parameters = quote_spanned!(span=> __llm_do::instructions_parameters(#path));
    let is_awaited = quote_spanned!(span=> __llm_do::instructions_are_awaited(#path));
    let awaited = quote_spanned!(span=> __llm_do::awaited_instructions(#path, &__ctx));
    let returned = quote_spanned!(span=> __llm_do::returned_instructions(#path, &__ctx));
    quote! {
        .instructions_with(#written, || #parameters, |__ctx| {
            if #is_awaited {
                __llm_do::Computing::future(async move { #awaited.await })
            } else {
                __llm_do::Computing::blocking(move || #returned)
            }
        })
    }
}

/// The items that the definition refers to, with errors at their expressions.
fn values(worker: &Worker) -> TokenStream {
    let settings = worker.args.settings.as_ref().map(|settings| {
        let span = error_span(settings);
        let value = quote_spanned!(span=> __llm_do::SettingsValue::into_settings(#settings));
        quote! {
            fn __settings() -> __llm_do::Settings {
                #value
            }
        }
    });
    let limits = worker.args.limits.as_ref().map(|limits| {
        let value = quote_spanned!(error_span(limits)=> __llm_do::LimitsValue::into_limits(#limits));
        quote! {
            fn __limits() -> __llm_do::Limits {
                #value
            }
        }
    });
    let attachments = worker.args.attachments.as_ref().map(|policy| {
        let value = quote_spanned!(error_span(policy)=> __llm_do::AttachmentsValue::into_policy(#policy));
        quote! {
            fn __attachments() -> __llm_do::AttachmentPolicy {
                #value
            }
        }
    });
    let max_turns = worker.args.max_turns.as_ref().map(|turns| {
        let span = error_span(turns);
        let check = quote_spanned!(span=> const _: () = __llm_do::assert_turns(__MAX_TURNS););
        quote!(const __MAX_TURNS: ::core::primitive::u32 = #turns; #check)
    });
    let tracked = worker.file.iter().map(|file| &file.path);
    quote!(#settings #limits #attachments #max_turns #(const _: &::core::primitive::str = ::core::include_str!(#tracked);)*)
}

fn server_side_tools(ServerSideTools(tools): &ServerSideTools) -> TokenStream {
    let tools = tools.iter().map(|ServerSideTool { kind, search }| match kind {
        ServerSideKind::WebSearch => {
            let search = web_search(search);
            quote!(WebSearch(#search))
        }
        ServerSideKind::WebFetch => quote!(WebFetch),
        ServerSideKind::CodeExecution => quote!(CodeExecution),
        ServerSideKind::ImageGeneration => quote!(ImageGeneration),
        ServerSideKind::ProgrammaticToolCalling => quote!(ProgrammaticToolCalling),
    });
    quote!(.server_side_tools(|| ::std::vec![#(__llm_do::ServerSideTool::#tools),*]))
}

fn web_search(search: &WebSearch) -> TokenStream {
    let max_uses = search.max_uses.iter().map(|uses| {
        let binding = quote_spanned!(error_span(uses)=> let __uses: ::core::primitive::u32 = #uses;);
        quote!({ #binding __uses })
    });
    let allowed = search.allowed_domains.iter();
    let blocked = search.blocked_domains.iter();
    quote! {
        __llm_do::WebSearch::new()
            #(.max_uses(#max_uses))*
            #(.allowed_domains([#allowed]))*
            #(.blocked_domains([#blocked]))*
    }
}

fn output_mode(mode: OutputMode) -> TokenStream {
    let mode = match mode {
        OutputMode::Auto => quote!(Auto),
        OutputMode::Native => quote!(Native),
        OutputMode::Tool => quote!(Tool),
        OutputMode::Prompted => quote!(Prompted),
    };
    quote!(.output(__llm_do::OutputMode::#mode))
}

fn written(OutputSchema { place, json }: &OutputSchema, worker: &Worker) -> TokenStream {
    let ty = spelled(worker.callable.output.as_ref());
    quote!(.output_schema(#place, #json, #ty))
}

/// Returns a type in the user's spelling.
fn spelled(ty: Option<&Type>) -> String {
    let tokens = ty.map_or_else(|| "()".to_owned(), |ty| ty.to_token_stream().to_string());
    [(" < ", "<"), (" >", ">"), (" :: ", "::"), (" ,", ",")]
        .into_iter()
        .fold(tokens, |text, (loose, tight)| text.replace(loose, tight))
}
