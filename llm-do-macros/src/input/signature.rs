//! Rules for the signature of a tool, worker or entry.

use syn::{Abi, GenericParam, Generics, Receiver, ReceiverKind, Safety, Signature};

use super::{Function, Kind};
use crate::errors::Errors;

/// Adds all errors outside the parameters and the return type.
pub(super) fn check(kind: Kind, function: &Function, errors: &mut Errors) {
    let signature = &function.signature;
    check_qualifiers(kind, signature, errors);
    check_asyncness(kind, signature, errors);
    check_generics(kind, &signature.generics, errors);
    check_variadic(kind, signature, errors);
    check_body(kind, function, errors);
}

/// The runtime calls the function, from safe Rust.
fn check_qualifiers(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(constness) = &signature.constness {
        errors.push(constness, format!("{kind} cannot be `const`; remove `const`"));
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors
            .push(unsafety, format!("{kind} cannot be `unsafe`; remove `unsafe`, or wrap the function in a safe one"));
    }
    if let Some(Abi { extern_token, .. }) = &signature.abi {
        errors.push(extern_token, format!("{kind} cannot be `extern`; remove `extern`"));
    }
}

fn check_asyncness(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if kind == Kind::Worker && signature.asyncness.is_none() {
        errors.push(signature.fn_token, "a worker must be async; write `async fn`");
    }
}

/// The JSON schema is the same for every caller, so it cannot depend on type parameters.
fn check_generics(kind: Kind, generics: &Generics, errors: &mut Errors) {
    for param in &generics.params {
        errors.push(param, generic_error(kind, param));
    }
    if let Some(clause) = &generics.where_clause {
        errors.push(clause, format!("{kind} cannot have a `where` clause; remove it"));
    }
}

fn generic_error(kind: Kind, param: &GenericParam) -> String {
    match param {
        GenericParam::Lifetime(_) => {
            format!("{kind} cannot have a lifetime parameter; remove it, and write references as `&str`")
        }
        GenericParam::Type(_) | GenericParam::Const(_) => {
            format!("{kind} cannot be generic; use a concrete type")
        }
    }
}

fn check_variadic(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(variadic) = &signature.variadic {
        errors.push(variadic.dots, format!("{kind} cannot be variadic; use a `Vec`"));
    }
}

fn check_body(kind: Kind, function: &Function, errors: &mut Errors) {
    if function.body.is_none() && kind != Kind::Worker {
        errors.push(&function.signature.ident, format!("{kind} needs a body"));
    }
}

/// Checks a `self` parameter.
pub(super) fn check_receiver(kind: Kind, receiver: &Receiver, is_method: bool, errors: &mut Errors) {
    let is_shared = matches!(&receiver.kind, ReceiverKind::Reference(_, None, None));
    if is_method && !is_shared {
        errors.push(receiver, "concurrent calls share the instance; take `&self`, and put mutable state in a `Mutex`");
    } else if !is_method && kind == Kind::Tool {
        let way_out = "add `#[tool]` to the `impl`, or write a free function that takes `State<T>`";
        errors.push(receiver, format!("`#[tool]` on a method needs `#[tool]` on its `impl`; {way_out}"));
    } else if !is_method {
        errors.push(receiver, format!("{kind} cannot be a method; write a free function that takes `State<T>`"));
    }
}
