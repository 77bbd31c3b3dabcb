//! Parameters that the runtime fills in.

use quote::ToTokens;
use syn::{
    Attribute, GenericArgument, Ident, Meta, PatType, PathArguments, PathSegment, Type, TypeParamBound, TypeReference,
};

use super::{Kind, Parameter, find};
use crate::errors::Errors;
use crate::input::{last_segment, ungrouped};

/// A parameter outside the schema.
pub(crate) struct Injected {
    pub(crate) source: Source,
    /// Whether the function takes a reference to it.
    pub(crate) is_borrowed: bool,
}

/// The source of an injected value.
pub(crate) enum Source {
    /// The context as this `dyn ToolContext`.
    AnyContext(Box<Type>),
    /// A type that implements `FromContext`.
    Value(Box<Type>),
    /// The instance of this type, for a method.
    Receiver(Box<Type>),
}

impl Injected {
    /// Reads an injected parameter; returns `None` if its type is invalid.
    pub(super) fn read(typed: &PatType, errors: &mut Errors) -> Option<Self> {
        check_attributes(&typed.attrs, errors);
        Self::of_type(&typed.ty, errors)
    }

    /// Returns `&self` in a method of `owner`.
    pub(super) fn receiver(owner: &Type) -> Self {
        Self { source: Source::Receiver(Box::new(owner.clone())), is_borrowed: true }
    }

    fn of_type(ty: &Type, errors: &mut Errors) -> Option<Self> {
        if is_tool_context(ty) {
            errors.push(ty, "`ToolContext` is a trait and passed by reference; write `&dyn ToolContext`");
            return None;
        }
        let Type::Reference(TypeReference { elem, mutability, .. }) = ungrouped(ty) else {
            return Some(Self { source: Source::Value(Box::new(ty.clone())), is_borrowed: false });
        };
        if mutability.is_some() {
            errors.push(ty, "an injected parameter is shared; take it by `&`, not `&mut`");
            return None;
        }
        if !matches!(ungrouped(elem), Type::TraitObject(_)) && is_tool_context(elem) {
            errors.push(ty, "`ToolContext` is passed as a trait object; write `&dyn ToolContext`");
            return None;
        }
        let source = if is_tool_context(elem) { Source::AnyContext(elem.clone()) } else { Source::Value(elem.clone()) };
        Some(Self { source, is_borrowed: true })
    }

    /// Returns `T` if this is a `State<T>`.
    pub(crate) fn state(&self) -> Option<&Type> {
        self.segment().filter(|segment| segment.ident == "State").and_then(argument)
    }

    /// Returns whether calls can be made through it.
    ///
    /// An unknown type implements `FromContext` and may keep the context.
    pub(crate) fn may_call(&self) -> bool {
        !matches!(self.source, Source::Receiver(_)) && self.state().is_none()
    }

    /// Returns the segment `CallContext<..>`, if this is one.
    fn call_context(&self) -> Option<&PathSegment> {
        self.segment().filter(|segment| segment.ident == "CallContext")
    }

    /// Returns the tokens for an error, if this is a context.
    fn context(&self) -> Option<&dyn ToTokens> {
        match &self.source {
            Source::AnyContext(ty) => Some(&**ty),
            Source::Value(_) => self.call_context().map(|segment| segment as _),
            Source::Receiver(_) => None,
        }
    }

    fn segment(&self) -> Option<&PathSegment> {
        match &self.source {
            Source::AnyContext(_) | Source::Receiver(_) => None,
            Source::Value(ty) => last_segment(ty),
        }
    }
}

/// Returns whether a parameter is injected, by `#[ctx]` or by its type.
pub(super) fn is_injected(typed: &PatType) -> bool {
    find(&typed.attrs, "ctx").is_some() || is_known(&typed.ty)
}

/// Returns whether a type is injected without `#[ctx]`.
fn is_known(ty: &Type) -> bool {
    let ty = referent(ty);
    let is_path = |segment: &PathSegment| match &segment.arguments {
        PathArguments::AngleBracketed(_) => segment.ident == "CallContext" || segment.ident == "State",
        _ => segment.ident == "CallContext",
    };
    is_tool_context(ty) || last_segment(ty).is_some_and(is_path)
}

fn is_tool_context(ty: &Type) -> bool {
    match ungrouped(ty) {
        // The trait itself, without `dyn`.
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext"),
        Type::TraitObject(object) => object.bounds.iter().any(is_tool_context_bound),
        Type::ImplTrait(ty) => ty.bounds.iter().any(is_tool_context_bound),
        _ => false,
    }
}

fn is_tool_context_bound(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext")
        }
        _ => false,
    }
}

fn referent(ty: &Type) -> &Type {
    match ungrouped(ty) {
        Type::Reference(reference) => &reference.elem,
        _ => ty,
    }
}

/// Adds errors for attributes that belong to arguments.
fn check_attributes(attrs: &[Attribute], errors: &mut Errors) {
    if let Some(Attribute { meta: meta @ (Meta::List(_) | Meta::NameValue(_)), .. }) = find(attrs, "ctx") {
        errors.push(meta, "`#[ctx]` takes no arguments; write `#[ctx]`");
    }
    for name in ["arg", "serde", "schemars"] {
        if let Some(attr) = find(attrs, name) {
            errors.push(attr, format!("`#[{name}]` is not supported on an injected parameter; remove it"));
        }
    }
}

/// Adds errors for a second context, and for the context of another item.
pub(in crate::input) fn check_contexts(
    kind: Kind,
    own: &Ident,
    declares: bool,
    parameters: &[Parameter],
    errors: &mut Errors,
) {
    let injected = || parameters.iter().filter_map(Parameter::injected);
    for context in injected().filter_map(Injected::context).skip(1) {
        errors.push(context, "duplicate context parameter; remove one");
    }
    for context in injected().filter_map(Injected::call_context) {
        check_declaration(kind, own, declares, context, errors);
    }
}

/// Checks the type argument of a context, with which the compiler checks its calls.
fn check_declaration(kind: Kind, own: &Ident, declares: bool, context: &PathSegment, errors: &mut Errors) {
    let declaration = argument(context);
    let is_own = declaration.is_some_and(|ty| is_named(ty, own));
    let is_plain = declaration.is_none_or(|ty| is_named(ty, "Anything"));
    if declares && !is_own {
        errors.push(context, format!("{kind} with toolsets takes its own context; write `CallContext<{own}>`"));
    } else if !declares && is_own {
        let way_out = format!("add `toolsets = [..]` to `#[{}]`, or write `CallContext`", kind.word());
        errors.push(context, format!("`{own}` declares no toolsets: {way_out}"));
    } else if !declares && !is_plain {
        errors.push(context, "this is the context of another function; write `CallContext`");
    }
}

fn is_named<N: ?Sized>(ty: &Type, name: &N) -> bool
where
    Ident: PartialEq<N>,
{
    last_segment(ty).is_some_and(|segment| segment.ident == *name)
}

/// Returns the first type argument of a segment, if any.
fn argument(segment: &PathSegment) -> Option<&Type> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}
