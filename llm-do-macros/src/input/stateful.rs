//! `#[tool]` on an `impl`: a type whose methods are tools, with an instance for each call that declares it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, FnArg, Ident, Meta, ReceiverKind, ReturnType, Type, parse_quote};

use super::block::Block;
use super::param::{self, Injected, Parameter};
use super::{Function, Kind, Tool, cfgs, docs, last_segment, name};
use crate::args::approval::Approval;
use crate::args::on_unknown::OnUnknown;
use crate::args::{self, stateful};
use crate::errors::Errors;

/// An `impl` under `#[tool]`.
pub(crate) struct Stateful {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) ty: Type,
    /// The registered name of the toolset.
    pub(crate) name: String,
    /// A `&'static str` expression.
    pub(crate) description: TokenStream,
    pub(crate) approval: Option<Approval>,
    pub(crate) on_unknown: Option<OnUnknown>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) open: Option<Open>,
    pub(crate) close: Option<Close>,
}

/// The function `open`, which creates an instance.
pub(crate) struct Open {
    pub(crate) ident: Ident,
    pub(crate) is_async: bool,
    /// The parameters, all of them injected.
    pub(crate) parameters: Vec<Parameter>,
}

/// The method `close`, which closes an instance.
pub(crate) struct Close {
    pub(crate) ident: Ident,
    pub(crate) is_async: bool,
}

impl Stateful {
    /// Reads the attribute and the block under it.
    pub(crate) fn read(args: TokenStream, block: &Block, errors: &mut Errors) -> Self {
        let args: stateful::Stateful = args::parse(args, errors);
        check(block, errors);
        let owner = &*block.ty;
        let tools = block.functions().filter_map(|function| tool(function, owner, errors)).collect::<Vec<_>>();
        if tools.is_empty() {
            errors.push_at(block.span(), "this `impl` has no tools; mark methods with `#[tool]`");
        }
        let unmarked = |name: &str| {
            block.functions().find(|function| function.signature.ident == name && attribute(function).is_none())
        };
        Self {
            cfgs: cfgs(&block.attrs),
            ty: owner.clone(),
            name: registered_name(owner, &args, errors),
            description: args.description.map_or_else(|| docs::text(&block.attrs), ToTokens::into_token_stream),
            approval: args.approval,
            on_unknown: args.on_unknown,
            tools,
            open: unmarked("open").map(|function| Open::read(function, errors)),
            close: unmarked("close").and_then(|function| Close::read(function, errors)),
        }
    }
}

/// Adds errors for generics and an implemented trait.
fn check(block: &Block, errors: &mut Errors) {
    for param in &block.generics.params {
        errors.push(param, "a toolset cannot be generic; use a concrete type");
    }
    if let Some((path, _)) = &block.of {
        errors.push(path, "tools cannot be methods of a trait; write an `impl` without a trait");
    }
}

fn registered_name(owner: &Type, args: &stateful::Stateful, errors: &mut Errors) -> String {
    match (last_segment(owner), &args.name) {
        (Some(segment), given) => name::item_name(&segment.ident, given.as_ref(), errors),
        (None, Some(given)) => given.value(),
        (None, None) => {
            errors.push(owner, "this type has no name; name the toolset with `#[tool(name = \"..\")]`");
            String::new()
        }
    }
}

fn tool(function: &Function, owner: &Type, errors: &mut Errors) -> Option<Tool> {
    let args = match &attribute(function)?.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(meta) => {
            errors.push(meta, "expected `#[tool]` or `#[tool(..)]`");
            TokenStream::new()
        }
    };
    Some(Tool::read(args, function, Some(owner), errors))
}

/// Returns the attribute `#[tool]`, under any path.
fn attribute(function: &Function) -> Option<&Attribute> {
    function.attrs.iter().find(|attr| is_tool(attr))
}

fn is_tool(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

/// Returns the function as it is emitted, without the attributes of the macros.
pub(crate) fn without_attribute(mut function: Function) -> Function {
    let is_read =
        function.attrs.iter().any(is_tool) || ["open", "close"].iter().any(|name| function.signature.ident == name);
    function.attrs.retain(|attr| !is_tool(attr));
    if !is_read {
        return function;
    }
    // The runtime's calling convention does not allow what these lints suggest.
    function.attrs.push(parse_quote!(#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps, clippy::unused_async, clippy::unused_self)]));
    function.cleaned()
}

impl Open {
    fn read(function: &Function, errors: &mut Errors) -> Self {
        let signature = &function.signature;
        if let Some(receiver) = signature.receiver() {
            errors.push(receiver, "`open` creates the instance, so it cannot take `self`; remove it");
        }
        for param in &signature.generics.params {
            errors.push(param, "`open` cannot be generic; use a concrete type");
        }
        if matches!(signature.output, ReturnType::Default) {
            errors.push(&signature.ident, "`open` must return `Self` or `Result<Self, ..>`");
        }
        let inputs = signature.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_)));
        let parameters: Vec<_> = inputs.filter_map(|input| param::read_injected(input, errors)).collect();
        param::check_contexts(Kind::Tool, &signature.ident, false, &parameters, errors);
        Self { ident: signature.ident.clone(), is_async: signature.asyncness.is_some(), parameters }
    }

    /// Returns the injected parameters.
    pub(crate) fn injected(&self) -> impl Iterator<Item = &Injected> {
        self.parameters.iter().filter_map(Parameter::injected)
    }
}

impl Close {
    fn read(function: &Function, errors: &mut Errors) -> Option<Self> {
        let signature = &function.signature;
        let takes_instance = signature.receiver().is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Value));
        if !takes_instance || signature.inputs.len() != 1 {
            errors.push(&signature.ident, "`close` must take `self` by value and nothing else; write `close(self)`");
            return None;
        }
        Some(Self { ident: signature.ident.clone(), is_async: signature.asyncness.is_some() })
    }
}
