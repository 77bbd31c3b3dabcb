//! The parameters: arguments, which are in the schema, and injected parameters.

mod argument;
mod attributes;
mod injected;

use std::collections::HashSet;

use syn::{Attribute, FnArg, Ident, Pat, PatType, Type};

pub(crate) use self::argument::Argument;
pub(super) use self::injected::check_contexts;
pub(crate) use self::injected::{Injected, Source};
use super::{Function, Kind, signature};
use crate::errors::Errors;

/// A parameter of a signature.
pub(crate) enum Parameter {
    Argument(Box<Argument>),
    Injected(Injected),
}

impl Parameter {
    /// Returns the argument, if it is one.
    pub(crate) fn argument(&self) -> Option<&Argument> {
        match self {
            Self::Argument(argument) => Some(argument),
            Self::Injected(_) => None,
        }
    }

    /// Returns the injected parameter, if it is one.
    pub(crate) fn injected(&self) -> Option<&Injected> {
        match self {
            Self::Argument(_) => None,
            Self::Injected(injected) => Some(injected),
        }
    }
}

/// Returns the valid parameters.
///
/// `owner` is the type of which the function is a method, if it may be a method.
pub(super) fn read_all(kind: Kind, function: &Function, owner: Option<&Type>, errors: &mut Errors) -> Vec<Parameter> {
    let has_body = function.body.is_some();
    let inputs = function.signature.inputs.iter();
    let parameters = inputs.filter_map(|input| read(kind, input, owner, has_body, errors)).collect();
    distinct(parameters, errors)
}

fn read(kind: Kind, input: &FnArg, owner: Option<&Type>, has_body: bool, errors: &mut Errors) -> Option<Parameter> {
    let typed = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            signature::check_receiver(kind, receiver, owner.is_some(), errors);
            return owner.map(Injected::receiver).map(Parameter::Injected);
        }
    };
    check_conditions(typed, errors);
    if injected::is_injected(typed) {
        check_use(kind, typed, has_body, errors);
        Injected::read(typed, errors).map(Parameter::Injected)
    } else {
        Argument::read(kind, typed, errors).map(Box::new).map(Parameter::Argument)
    }
}

/// Returns a parameter of a function that can take injected parameters only.
pub(super) fn read_injected(input: &FnArg, errors: &mut Errors) -> Option<Parameter> {
    let FnArg::Typed(typed) = input else { return None };
    if !injected::is_injected(typed) {
        let injected = "`&CallContext`, `&dyn ToolContext`, `State<T>` or a parameter marked `#[ctx]`";
        errors.push(typed, format!("`open` cannot take arguments; use {injected}"));
        return None;
    }
    check_conditions(typed, errors);
    Injected::read(typed, errors).map(Parameter::Injected)
}

/// Adds an error for an injected parameter of a worker without a body, which could not use it.
fn check_use(kind: Kind, typed: &PatType, has_body: bool, errors: &mut Errors) {
    if kind == Kind::Worker && !has_body {
        let rule = "a worker without a body cannot take an injected parameter";
        errors.push(typed, format!("{rule}; remove it, or add a body that renders the prompt"));
    }
}

/// Adds an error for `#[cfg]`, since the generated call of the function could not have the same condition.
fn check_conditions(typed: &PatType, errors: &mut Errors) {
    for attr in typed.attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.push(attr, "a parameter cannot be conditional; put `#[cfg]` on the function");
    }
}

/// Returns the parameters without those that have a duplicate name in the schema.
fn distinct(mut parameters: Vec<Parameter>, errors: &mut Errors) -> Vec<Parameter> {
    let mut names = HashSet::new();
    parameters.retain(|parameter| {
        let Some(argument) = parameter.argument() else { return true };
        let name = argument.name();
        let is_new = names.insert(name.clone());
        if !is_new {
            errors.push(argument.name_tokens(), format!("duplicate argument name `{name}`; rename one"));
        }
        is_new
    });
    parameters
}

/// Returns the attribute with the name.
fn find<'a>(attrs: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attrs.iter().find(|attr| attr.path().is_ident(name))
}

/// Returns the name that a plain pattern binds.
fn binding(pat: &Pat) -> Option<&Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        _ => None,
    }
}
