//! What a callable's signature must not have.

use syn::{Abi, GenericParam, Generics, Receiver, ReceiverKind, Safety, Signature};

use super::{Function, Kind};
use crate::errors::Errors;

/// Notes every fault outside parameters and return type.
pub(super) fn check(kind: Kind, function: &Function, errors: &mut Errors) {
    let signature = &function.signature;
    check_qualifiers(kind, signature, errors);
    check_asyncness(kind, signature, errors);
    check_generics(kind, &signature.generics, errors);
    check_variadic(kind, signature, errors);
    check_body(kind, function, errors);
}

/// Calls come from the tool plane only, which is safe Rust at run time.
fn check_qualifiers(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(constness) = &signature.constness {
        errors.push(constness, format!("{kind} runs when it is called: take `const` away"));
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.push(unsafety, format!("{kind} is called from safe code: make it safe, or wrap it in a safe function"));
    }
    if let Some(Abi { extern_token, .. }) = &signature.abi {
        errors.push(extern_token, format!("{kind} is called from Rust only: take `extern` away"));
    }
}

fn check_asyncness(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if kind == Kind::Worker && signature.asyncness.is_none() {
        errors.push(signature.fn_token, "a worker waits for a model: write `async fn`");
    }
}

/// A schema is of one type, and is the same for every caller.
fn check_generics(kind: Kind, generics: &Generics, errors: &mut Errors) {
    for param in &generics.params {
        errors.push(param, generic_fault(kind, param));
    }
    if let Some(clause) = &generics.where_clause {
        errors.push(clause, format!("{kind} has nothing to put bounds on: take the `where` clause away"));
    }
}

fn generic_fault(kind: Kind, param: &GenericParam) -> String {
    match param {
        GenericParam::Lifetime(_) => {
            format!("{kind} has no lifetime parameters: remove this, and write references without it, such as `&str`")
        }
        GenericParam::Type(_) | GenericParam::Const(_) => {
            format!("{kind} cannot be generic: its schema is of one type; name a concrete one")
        }
    }
}

fn check_variadic(kind: Kind, signature: &Signature, errors: &mut Errors) {
    if let Some(variadic) = &signature.variadic {
        errors.push(variadic.dots, format!("{kind} cannot be variadic: take a `Vec`"));
    }
}

fn check_body(kind: Kind, function: &Function, errors: &mut Errors) {
    if function.body.is_none() && kind != Kind::Worker {
        errors.push(&function.signature.ident, format!("{kind} needs a body"));
    }
}

/// Notes a `self`.
pub(super) fn check_receiver(kind: Kind, receiver: &Receiver, is_method: bool, errors: &mut Errors) {
    let is_shared = matches!(&receiver.kind, ReceiverKind::Reference(_, None, None));
    if is_method && !is_shared {
        errors.push(receiver, "calls share the instance: take `&self`, and put what changes into a `Mutex`");
    } else if !is_method && kind == Kind::Tool {
        let way_out = "put `#[tool]` on the `impl` too, or make it a free function that takes `State<T>`";
        errors.push(receiver, format!("a tool by itself cannot be a method: {way_out}"));
    } else if !is_method {
        errors.push(receiver, format!("{kind} cannot be a method: make it a free function that takes `State<T>`"));
    }
}
