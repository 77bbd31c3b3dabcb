//! Checks an attribute and its item together, and collects all errors. The result is the input of the expansion.

mod block;
mod data;
mod docs;
mod function;
mod mcp;
mod name;
mod owned;
mod param;
mod signature;
mod state;
mod stateful;
mod summary;
mod toolset;
mod worker_file;

use std::fmt::{self, Display};

use llm_do_worker_file::{
    BACKGROUND_PARAMETER, BLANK_REASON, MODEL_CHOICE, REASON_WITHOUT_EFFECT, SAME_PARAMETER, check_max_result,
    check_model_name,
};
use proc_macro2::{Group, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, FnArg, Ident, Lit, LitBool, Path, PathSegment, Token, Type, Visibility};

pub(crate) use self::block::{Block, Member, is_block};
pub(crate) use self::data::{Data, Derived, PartialField, PartialStruct, named};
pub(crate) use self::function::Function;
pub(crate) use self::mcp::{Kind as TypeKind, McpField, McpTool, McpToolset, McpType};
pub(crate) use self::owned::spelled;
pub(crate) use self::param::{Argument, Injected, Parameter, Source};
pub(crate) use self::stateful::{Close, Open, Stateful, without_attribute};
pub(crate) use self::toolset::{GroupMembers, Toolset, ToolsetItem};
pub(crate) use self::worker_file::{File, OutputSchema};
use crate::args::approval::Approval;
use crate::args::on_unknown::OnUnknown;
use crate::args::server_side::ServerSideTools;
use crate::args::shared_keys::SharedKeys;
use crate::args::toolset::Toolsets;
use crate::args::{self, tool, worker};
use crate::errors::Errors;

/// The attribute on the function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Worker,
    Entry,
}

impl Kind {
    /// Returns the name of the attribute.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Worker => "worker",
            Self::Entry => "entry",
        }
    }
}

/// The name with its article, for messages.
impl Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = if matches!(self, Self::Entry) { "an" } else { "a" };
        write!(formatter, "{article} {}", self.word())
    }
}

/// The common parts of tools, workers and entries.
pub(crate) struct Callable {
    pub(crate) kind: Kind,
    pub(crate) vis: Visibility,
    /// The name of the function.
    pub(crate) ident: Ident,
    /// The type of which it is a method or an associated function.
    pub(crate) owner: Option<Type>,
    /// The name of the argument struct.
    pub(crate) arguments: Ident,
    /// The registered name.
    pub(crate) name: String,
    /// A `&'static str` expression.
    pub(crate) description: TokenStream,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) is_async: bool,
    /// Whether the argument struct can be generated: not in an `impl` or a block of foreign items, and not with the
    /// name of a primitive type.
    pub(crate) has_struct: bool,
    /// The valid parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// The return type, if it is valid.
    pub(crate) output: Option<Type>,
    /// Whether the return type contains `impl Trait`, so that generated code cannot name it.
    pub(crate) is_opaque: bool,
    pub(crate) toolsets: Option<Toolsets>,
    /// The maximum duration of a call: a constant expression.
    pub(crate) timeout: Option<Expr>,
    /// The type of the errors that a journal keeps, if the attribute names it.
    pub(crate) error: Option<Type>,
    /// The possible effect of a call, if known; for a worker, the effect of its provider's tools.
    pub(crate) effect: Option<tool::Effect>,
    pub(crate) effect_source: EffectSource,
}

/// The source of an item's effect.
pub(crate) enum EffectSource {
    /// Its declaration and its toolsets.
    Toolsets,
    /// The tool of a worker's provider whose effect is unknown.
    ServerSideTool(&'static str),
    /// The declaration of a worker with a reason, which also covers its toolsets.
    Reason,
}

impl Callable {
    fn read(
        kind: Kind,
        shared_keys: SharedKeys,
        function: &Function,
        owner: Option<&Type>,
        errors: &mut Errors,
    ) -> Self {
        let signature = &function.signature;
        let arguments = shared_keys.args.unwrap_or_else(|| signature.ident.clone());
        let has_type = name::check_type(&arguments, "the argument struct", "name it with `args = SomeName`", errors);
        let is_free = owner.is_some() || signature.receiver().is_none();
        let has_struct = has_type && is_free && signature.variadic.is_none();
        signature::check(kind, function, errors);
        let mut parameters = param::read_all(kind, function, owner, errors);
        let mut output = owned::output(kind, &signature.output, errors);
        param::check_contexts(kind, &arguments, shared_keys.toolsets.is_some(), &parameters, errors);
        if signature.generics.type_params().next().is_some() || signature.generics.const_params().next().is_some() {
            // A type parameter does not exist outside the function, so it would cause further errors there.
            parameters.clear();
            output = None;
        }
        Self {
            kind,
            vis: function.vis.clone(),
            name: name::item_name(&signature.ident, shared_keys.name.as_ref(), errors),
            ident: signature.ident.clone(),
            owner: owner.cloned(),
            description: docs::description(kind, shared_keys.description, function, errors),
            docs: docs::attributes(&function.attrs),
            cfgs: cfgs(&function.attrs),
            is_async: signature.asyncness.is_some(),
            is_opaque: output.as_ref().is_some_and(owned::is_opaque),
            has_struct,
            toolsets: shared_keys.toolsets,
            timeout: shared_keys.timeout,
            error: shared_keys.error,
            effect: None,
            effect_source: EffectSource::Toolsets,
            arguments,
            parameters,
            output,
        }
    }

    /// Returns the parameters in the schema.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Argument> {
        self.parameters.iter().filter_map(Parameter::argument)
    }

    /// Reports a parameter `background`: with the key `background`, models get one of that name.
    fn check_background(&self, may_run_so: bool, errors: &mut Errors) {
        if let Some(same) = self.fields().find(|field| may_run_so && field.name() == BACKGROUND_PARAMETER) {
            errors.push(&same.ident, SAME_PARAMETER);
        }
    }

    /// Returns the parameters that the runtime fills in.
    pub(crate) fn injected(&self) -> impl Iterator<Item = &Injected> {
        self.parameters.iter().filter_map(Parameter::injected)
    }
}

/// A function under `#[tool]`.
pub(crate) struct Tool {
    pub(crate) callable: Callable,
    pub(crate) approval: Option<Approval>,
    pub(crate) on_unknown: Option<OnUnknown>,
    /// The read-only tool that finds out whether a call has happened.
    pub(crate) reconcile: Option<Path>,
    /// A template for one line that describes a call; arguments have their names in the schema.
    pub(crate) summary: Option<String>,
    /// The function whose text shows the effect of a call to the approver.
    pub(crate) preview: Option<Path>,
    /// How many bytes a model gets of a result.
    pub(crate) max_result: Option<Expr>,
    pub(crate) inline: bool,
    /// Whether a model may start calls in the background.
    pub(crate) background: bool,
}

impl Tool {
    /// Parses the attribute and the function under it.
    pub(crate) fn read(args: TokenStream, function: &Function, owner: Option<&Type>, errors: &mut Errors) -> Self {
        let tool: tool::Tool = args::parse(args, errors);
        if let (Some(inline), Some(_)) = (&tool.inline, &function.signature.asyncness) {
            errors.push(inline, "`inline` applies to a sync `fn` only; remove it from this `async fn`");
        }
        if let (Some(inline), Some(_)) = (&tool.inline, &tool.shared_keys.timeout) {
            errors.push(inline, "an `inline` tool cannot time out; remove `inline` or `timeout`");
        }
        if let (Some(path), Some(tool::Effect::ReadOnly | tool::Effect::Idempotent)) = (&tool.reconcile, tool.effect) {
            errors.push(
                path,
                "`reconcile` is for calls that must not run twice; remove it, since this tool may run again",
            );
        }
        check_length(tool.max_result.as_ref(), errors);
        let mut callable = Callable::read(Kind::Tool, tool.shared_keys, function, owner, errors);
        callable.effect = tool.effect;
        callable.check_background(tool.background.is_some(), errors);
        // Invalid parameters are missing.
        let is_whole = callable.parameters.len() == function.signature.inputs.len();
        let summary = tool.summary.filter(|_| is_whole).map(|summary| summary::read(&summary, &callable, errors));
        let tool::Tool { approval, on_unknown, reconcile, preview, max_result, inline, background, .. } = tool;
        let (inline, background) = (inline.is_some(), background.is_some());
        Self { callable, approval, on_unknown, reconcile, summary, preview, max_result, inline, background }
    }
}

/// A function under `#[entry]`.
pub(crate) struct Entry {
    pub(crate) callable: Callable,
}

impl Entry {
    /// Parses the attribute and the function under it.
    pub(crate) fn read(args: TokenStream, function: &Function, errors: &mut Errors) -> Self {
        let entry: args::entry::Entry = args::parse(args, errors);
        Self { callable: Callable::read(Kind::Entry, entry.shared_keys, function, None, errors) }
    }
}

/// A signature under `#[worker]`.
pub(crate) struct Worker {
    pub(crate) callable: Callable,
    /// A `&'static str` expression.
    pub(crate) instructions: TokenStream,
    /// The body, which renders the prompt.
    pub(crate) body: Option<Body>,
    /// The other keys, from the attribute or the worker file.
    pub(crate) args: worker::Worker,
    /// The worker file, if it was read.
    pub(crate) file: Option<File>,
}

impl Worker {
    /// Parses the attribute and the signature under it.
    pub(crate) fn read(args: TokenStream, function: &Function, errors: &mut Errors) -> Self {
        let mut args: worker::Worker = args::parse(args, errors);
        if let (Some(_), Some(function)) = (&args.instructions, &args.instructions_with) {
            errors.push(function, "`instructions` and `instructions_with` cannot be combined: remove one");
        }
        let file = worker_file::read(&mut args, errors);
        if let Some(turns) = args.max_turns.as_ref().filter(|turns| literal(turns) == Some(0)) {
            errors.push(turns, "`max_turns` is 0, but a worker needs at least 1");
        }
        check_length(args.max_result.as_ref(), errors);
        if let Some(model) = &args.model {
            let _ = check_model_name(&model.value()).map_err(|fault| errors.push(model, fault));
        }
        match (&args.effect_reason, &args.effect) {
            (Some(reason), None) => errors.push(reason, REASON_WITHOUT_EFFECT),
            (Some(reason), Some(_)) if reason.value().trim().is_empty() => errors.push(reason, BLANK_REASON),
            _ => {}
        }
        if let (Some(_), Some(globs)) = (&args.model, &args.compatible_models) {
            errors.push(&globs.0, MODEL_CHOICE);
        }
        let shared_keys = std::mem::take(&mut args.shared_keys);
        let mut callable = Callable::read(Kind::Worker, shared_keys, function, None, errors);
        callable.check_background(args.background.as_ref().is_some_and(LitBool::value), errors);
        let tools = args.server_side_tools.as_ref().filter(|_| args.effect.is_none());
        let acting = tools.and_then(ServerSideTools::acting);
        callable.effect = args.effect.or_else(|| acting.is_none().then_some(tool::Effect::ReadOnly));
        callable.effect_source = match (acting, &args.effect_reason) {
            (_, Some(_)) => EffectSource::Reason,
            (Some(tool), None) => EffectSource::ServerSideTool(tool),
            (None, None) => EffectSource::Toolsets,
        };
        // Invalid parameters are missing.
        if let Some(file) = file.as_ref().filter(|_| callable.parameters.len() == function.signature.inputs.len()) {
            file.check(&callable, errors);
        }
        // The default system prompt is the description, also if a function computes an empty text.
        let instructions =
            args.instructions.as_ref().map_or_else(|| callable.description.clone(), ToTokens::to_token_stream);
        let body =
            function.body.clone().map(|block| Body { inputs: function.clone().cleaned().signature.inputs, block });
        Self { callable, instructions, body, args, file }
    }
}

/// The body of a worker and the parameters of its function.
pub(crate) struct Body {
    pub(crate) inputs: Punctuated<FnArg, Token![,]>,
    pub(crate) block: Group,
}

/// Returns the whole number that a literal is.
fn literal(number: &Expr) -> Option<u64> {
    match number {
        Expr::Group(group) => literal(&group.expr),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        _ => None,
    }
}

/// Reports a literal that is too small; the compiler checks other constants.
fn check_length(max_result: Option<&Expr>, errors: &mut Errors) {
    if let Some((max, fault)) = max_result.and_then(|max| Some((max, check_max_result(literal(max)?).err()?))) {
        errors.push(max, fault);
    }
}

/// Returns the `#[cfg]` attributes.
fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

/// Returns the type without the invisible group that a `$ty:ty` of a macro adds, and without parentheses.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

/// Returns the last segment of a path type.
fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}
