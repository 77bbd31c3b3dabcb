//! Checks that arguments and results own their data, since they are converted from and to JSON.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{
    GenericArgument, Lifetime, PathArguments, PathSegment, ReturnType, Type, TypeFnPtr, TypeImplTrait, TypeInfer,
    TypeNever, TypeParamBound, TypePtr, TypeReference, TypeTraitObject, parse_quote, parse_quote_spanned,
};

use super::{Kind, last_segment, state, ungrouped};
use crate::errors::Errors;

/// Returns the type of the field that a parameter of type `reference` can borrow from.
pub(super) fn field_type(reference: &TypeReference) -> Option<Type> {
    if reference.lifetime.is_some() || reference.mutability.is_some() {
        return None;
    }
    let span = reference.span();
    match ungrouped(&reference.elem) {
        Type::Slice(slice) => {
            let elem = &slice.elem;
            Some(parse_quote_spanned!(span=> ::std::vec::Vec<#elem>))
        }
        elem if has_name(elem, "str") => Some(parse_quote_spanned!(span=> ::std::string::String)),
        elem if has_name(elem, "Path") => Some(parse_quote_spanned!(span=> ::std::path::PathBuf)),
        _ => None,
    }
}

/// Returns the type with `'static` for each elided lifetime, as in `Cow<'_, str>`.
pub(super) fn with_static_lifetimes(ty: &Type) -> Type {
    struct Replace;
    impl VisitMut for Replace {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                *lifetime = Lifetime::new("'static", lifetime.span());
            }
        }

        fn visit_type_reference_mut(&mut self, _: &mut TypeReference) {}

        fn visit_path_segment_mut(&mut self, segment: &mut PathSegment) {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                if segment.ident == "Cow" && arguments.args.len() == 1 {
                    arguments.args.insert(0, GenericArgument::Lifetime(Lifetime::new("'static", segment.ident.span())));
                }
                self.visit_angle_bracketed_generic_arguments_mut(arguments);
            }
        }
    }
    let mut ty = ty.clone();
    Replace.visit_type_mut(&mut ty);
    ty
}

/// Returns the return type, if it is valid.
pub(super) fn output(kind: Kind, output: &ReturnType, errors: &mut Errors) -> Option<Type> {
    let ty = match output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => parse_quote!(()),
    };
    // A model writes the output of a worker, so it is checked like an argument.
    let place = if kind == Kind::Worker { Place::Answer } else { Place::Output };
    let faults =
        Faults { errors: Errors::default(), rule: format!("the return type of {kind} must own its data"), place };
    errors.take(faults.in_type(&ty)).map(|()| ty)
}

/// Returns whether the type can be the type of an argument, and adds an error otherwise.
pub(super) fn check(kind: Kind, ty: &Type, errors: &mut Errors) -> bool {
    let writer = if kind == Kind::Entry { "the caller" } else { "the model" };
    let place = Place::Argument { writer };
    let mut faults =
        Faults { errors: Errors::default(), rule: format!("the arguments of {kind} must own their data"), place };
    if let Some(sized) = sized(ty) {
        faults.errors.push(ty, format!("unsized argument; write {sized}"));
    }
    let mut ty = ty;
    if let Some((reference, plain)) = with_named_lifetime(ty) {
        faults.errors.push(ty, format!("an argument cannot have a named lifetime; write `{plain}`"));
        ty = &reference.elem;
    }
    errors.take(faults.in_type(ty)).is_some()
}

/// Returns a reference that would be valid without its lifetime, with its corrected form.
fn with_named_lifetime(ty: &Type) -> Option<(&TypeReference, String)> {
    let Type::Reference(reference) = ungrouped(ty) else { return None };
    let plain = TypeReference { lifetime: None, ..reference.clone() };
    let is_valid = reference.lifetime.is_some() && field_type(&plain).is_some();
    is_valid.then(|| (reference, spelled(&Type::Reference(plain))))
}

/// Returns the replacement of an unsized type.
fn sized(ty: &Type) -> Option<String> {
    match ungrouped(ty) {
        Type::Slice(slice) => Some(format!("`&[{0}]` or `Vec<{0}>`", spelled(&slice.elem))),
        ty if has_name(ty, "str") => Some("`&str` or `String`".to_owned()),
        ty if has_name(ty, "Path") => Some("`&Path` or `PathBuf`".to_owned()),
        _ => None,
    }
}

/// Finds borrowed types and types that cannot be named.
struct Faults {
    errors: Errors,
    rule: String,
    place: Place,
}

/// The place where the type is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An argument, which a caller writes.
    Argument { writer: &'static str },
    /// The output of a worker, which a model writes.
    Answer,
    /// The output of a function: it may borrow for `'static` and contain types without a name.
    Output,
}

impl Faults {
    fn in_type(mut self, ty: &Type) -> syn::Result<()> {
        self.visit_type(ty);
        self.errors.finish(())
    }

    /// Returns the replacement of a reference.
    fn instead(&self, reference: &TypeReference) -> String {
        let owned = owned(reference);
        match self.place {
            Place::Argument { writer } if !is_plain(reference) => {
                let state = if reference.mutability.is_some() { format!("Mutex<{owned}>") } else { owned.clone() };
                format!(
                    "{}: write `{owned}` here if {writer} provides it, or `State<{state}>` if the application does",
                    self.rule
                )
            }
            _ => format!("{}: write `{owned}` here", self.rule),
        }
    }

    /// Returns the error for shared state, if it is not permitted here.
    fn state_fault(&self, ty: &Type) -> Option<String> {
        match self.place {
            _ if !state::is_state(ty) => None,
            Place::Argument { writer } => {
                let ty = spelled(referent(ty));
                Some(format!(
                    "shared state cannot be an argument, since {writer} provides arguments: write `State<{ty}>`"
                ))
            }
            Place::Answer => {
                let ty = spelled(referent(ty));
                Some(format!(
                    "a worker cannot return shared state, since the model writes the result: return the value that `{ty}` holds"
                ))
            }
            Place::Output => None,
        }
    }
}

impl<'ast> Visit<'ast> for Faults {
    fn visit_type(&mut self, ty: &'ast Type) {
        match self.state_fault(ty) {
            Some(fault) => self.errors.push(ty, fault),
            None => visit::visit_type(self, ty),
        }
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if matches!(ungrouped(&reference.elem), Type::ImplTrait(_) | Type::TraitObject(_)) {
            return visit::visit_type(self, &reference.elem);
        }
        let is_static_reference = reference.lifetime.as_ref().is_some_and(is_static) && reference.mutability.is_none();
        if is_static_reference && self.place == Place::Output {
            return visit::visit_type(self, &reference.elem);
        }
        self.errors.push(reference, self.instead(reference));
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if !is_static(lifetime) {
            self.errors.push(lifetime, format!("{}: use `'static`, the only lifetime allowed here", self.rule));
        }
    }

    fn visit_type_ptr(&mut self, ty: &'ast TypePtr) {
        self.errors.push(ty, "a raw pointer cannot be converted to JSON; use an owned type");
    }

    fn visit_type_fn_ptr(&mut self, ty: &'ast TypeFnPtr) {
        self.errors.push(ty, "a function pointer cannot be converted to JSON; use an owned type");
    }

    fn visit_type_trait_object(&mut self, ty: &'ast TypeTraitObject) {
        // The trait object of an output may implement `Serialize`.
        if self.place != Place::Output {
            self.errors.push(ty, "`dyn Trait` has no JSON schema; use a concrete type");
        }
    }

    fn visit_type_infer(&mut self, ty: &'ast TypeInfer) {
        self.errors.push(ty, "`_` cannot be used here, since the JSON schema needs the whole type; write the type");
    }

    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        if segment.ident == "Self" {
            self.errors.push(segment, "`Self` cannot be used here, since the argument struct is defined outside the `impl`; write the type's name");
        }
        // The error of the compiler would be long and refer to generated code.
        if self.place != Place::Output && segment.ident == "Rc" && !segment.arguments.is_none() {
            self.errors.push(&segment.ident, "`Rc` cannot be sent between threads, as arguments must be; use `Arc`");
        }
        visit::visit_path_segment(self, segment);
    }

    fn visit_type_never(&mut self, ty: &'ast TypeNever) {
        self.errors.push(ty, "`!` cannot be returned; write the type of the result, or no return type");
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        match self.place {
            Place::Argument { .. } | Place::Answer => {
                self.errors.push(ty, "`impl Trait` has no JSON schema; use a concrete type");
            }
            Place::Output if is_future(ty) => {
                self.errors.push(ty, "a returned future is not awaited; write `async fn` and return its output");
            }
            Place::Output => {}
        }
    }
}

/// Returns the owned type that replaces a reference, in the user's spelling.
pub(super) fn owned(reference: &TypeReference) -> String {
    match ungrouped(&reference.elem) {
        Type::Slice(slice) => format!("Vec<{}>", spelled(&slice.elem)),
        elem if has_name(elem, "str") => "String".to_owned(),
        elem if has_name(elem, "Path") => "PathBuf".to_owned(),
        Type::Reference(inner) if !mentions_context(&inner.elem) => owned(inner),
        elem => spelled(elem),
    }
}

/// Returns the type without references.
fn referent(ty: &Type) -> &Type {
    match ungrouped(ty) {
        Type::Reference(reference) => referent(&reference.elem),
        ty => ty,
    }
}

/// Returns whether a type contains an injected type.
fn mentions_context(ty: &Type) -> bool {
    struct Search(bool);
    impl<'ast> Visit<'ast> for Search {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            self.0 |= ["CallContext", "State", "ToolContext"].iter().any(|name| segment.ident == name);
            visit::visit_path_segment(self, segment);
        }
    }
    let mut search = Search(false);
    search.visit_type(ty);
    search.0
}

/// Returns whether the name of the borrowed type shows that it is not the state of an application.
fn is_plain(reference: &TypeReference) -> bool {
    const PLAIN: [&str; 34] = [
        "BTreeMap",
        "BTreeSet",
        "BinaryHeap",
        "Cow",
        "Duration",
        "HashMap",
        "HashSet",
        "Option",
        "OsStr",
        "OsString",
        "Path",
        "PathBuf",
        "Prompt",
        "String",
        "Value",
        "Vec",
        "VecDeque",
        "bool",
        "char",
        "f32",
        "f64",
        "i128",
        "i16",
        "i32",
        "i64",
        "i8",
        "isize",
        "str",
        "u128",
        "u16",
        "u32",
        "u64",
        "u8",
        "usize",
    ];
    match referent(&reference.elem) {
        ty if mentions_context(ty) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| PLAIN.iter().any(|plain| last.ident == plain)),
        _ => true,
    }
}

/// Returns a type in the user's spelling.
pub(crate) fn spelled(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    let text = text.replace(" < ", "<").replace(" <", "<").replace("< ", "<").replace(" >", ">");
    text.replace(" :: ", "::").replace(" ,", ",").replace("& ", "&")
}

fn has_name(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name && segment.arguments.is_none())
}

fn is_static(lifetime: &Lifetime) -> bool {
    lifetime.ident == "static"
}

/// Returns whether a type contains `impl Trait`.
pub(super) fn is_opaque(ty: &Type) -> bool {
    struct Search(bool);
    impl<'ast> Visit<'ast> for Search {
        fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut search = Search(false);
    search.visit_type(ty);
    search.0
}

fn is_future(ty: &TypeImplTrait) -> bool {
    ty.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|segment| segment.ident == "Future"),
        _ => false,
    })
}
