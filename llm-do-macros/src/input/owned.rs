//! Types that outlive a call: arguments come out of JSON and results go into it, so neither can borrow.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Lifetime, ReturnType, Type, TypeImplTrait, TypeReference, parse_quote, parse_quote_spanned};

use super::{Kind, last_segment, ungrouped};
use crate::errors::Errors;

/// Returns the type whose value a parameter of `reference` can borrow from the argument struct.
pub(super) fn lender(reference: &TypeReference) -> Option<Type> {
    if reference.lifetime.is_some() || reference.mutability.is_some() {
        return None;
    }
    let span = reference.span();
    match ungrouped(&reference.elem) {
        Type::Slice(slice) => {
            let elem = &slice.elem;
            Some(parse_quote_spanned!(span=> ::std::vec::Vec<#elem>))
        }
        elem if is_bare(elem, "str") => Some(parse_quote_spanned!(span=> ::std::string::String)),
        elem if is_bare(elem, "Path") => Some(parse_quote_spanned!(span=> ::std::path::PathBuf)),
        _ => None,
    }
}

/// Returns what the callable returns, unless that is at fault.
pub(super) fn output(kind: Kind, output: &ReturnType, errors: &mut Errors) -> Option<Type> {
    let ty = match output {
        ReturnType::Type(_, ty) => (**ty).clone(),
        ReturnType::Default => parse_quote!(()),
    };
    let faults = Faults { errors: Errors::default(), rule: format!("{kind} returns what it owns"), lasting: true };
    errors.take(faults.in_type(&ty)).map(|()| ty)
}

/// Returns whether the type can be that of a field; what speaks against it is noted.
pub(super) fn check(kind: Kind, ty: &Type, errors: &mut Errors) -> bool {
    let faults = Faults { errors: Errors::default(), rule: format!("{kind} owns its arguments"), lasting: false };
    errors.take(faults.in_type(ty)).is_some()
}

/// Looks through a type for what borrows, and for what has no name.
struct Faults {
    errors: Errors,
    rule: String,
    /// Whether a borrow for `'static` is one.
    lasting: bool,
}

impl Faults {
    fn in_type(mut self, ty: &Type) -> syn::Result<()> {
        self.visit_type(ty);
        self.errors.finish(())
    }
}

impl<'ast> Visit<'ast> for Faults {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        let is_lasting = reference.lifetime.as_ref().is_some_and(is_static) && reference.mutability.is_none();
        if is_lasting && self.lasting {
            return visit::visit_type(self, &reference.elem);
        }
        self.errors.push(reference, format!("{}: write `{}` here", self.rule, owned(reference)));
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if !is_static(lifetime) {
            self.errors.push(lifetime, format!("{}: no lifetime but `'static` can stand here", self.rule));
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.errors.push(ty, "`impl Trait` has no schema: name a concrete type");
    }
}

/// Returns the owned type to write instead, as users would spell it.
fn owned(reference: &TypeReference) -> String {
    match ungrouped(&reference.elem) {
        Type::Slice(slice) => format!("Vec<{}>", spelled(&slice.elem)),
        elem if is_bare(elem, "str") => "String".to_owned(),
        elem if is_bare(elem, "Path") => "PathBuf".to_owned(),
        elem => spelled(elem),
    }
}

fn spelled(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(" < ", "<").replace(" >", ">").replace(" :: ", "::").replace("& ", "&")
}

fn is_bare(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name && segment.arguments.is_none())
}

fn is_static(lifetime: &Lifetime) -> bool {
    lifetime.ident == "static"
}
