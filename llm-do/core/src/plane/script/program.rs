//! The program that the interpreter runs: the script, and below it the call of its function.

use std::collections::BTreeSet;
use std::fmt::Write;

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged, TextRange};

use super::classes::{DictClass, alias_values, is_converted};
use super::types::{Class, Classes, Field, Type};

/// The variable with the arguments of the call.
pub(super) const ARGUMENTS: &str = "__arguments";
/// The names of `typing` that the interpreter does not have; only annotations use them.
const ONLY_FOR_TYPES: [&str; 6] = ["NotRequired", "ReadOnly", "Required", "TypeAlias", "TypedDict", "Unpack"];

/// Returns the text of a script without the parts that only the type checker reads. Line numbers do not change.
pub(super) fn runnable(text: &str, body: &[Stmt], dicts: &[DictClass]) -> String {
    let mut changes: Vec<(TextRange, String)> =
        dicts.iter().map(|class| (class.range, format!("{} = dict", class.name))).collect();
    changes.extend(alias_values(body).map(|range| (range, "None".to_owned())));
    for statement in body {
        let Stmt::ImportFrom(import) = statement else { continue };
        if !import.module.as_ref().is_some_and(|module| module == "typing" || module == "typing_extensions") {
            continue;
        }
        let is_kept = |name: &str| !ONLY_FOR_TYPES.contains(&name);
        if import.names.iter().all(|alias| is_kept(alias.name.as_str())) {
            continue;
        }
        let kept: Vec<_> = import.names.iter().map(|alias| alias.name.as_str()).filter(|name| is_kept(name)).collect();
        let kept = if kept.is_empty() { "pass".to_owned() } else { format!("from typing import {}", kept.join(", ")) };
        changes.push((import.range(), kept));
    }
    changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start()));
    let mut text = text.to_owned();
    for (range, mut with) in changes {
        let range = range.start().to_usize()..range.end().to_usize();
        with.extend(std::iter::repeat_n('\n', text[range.clone()].matches('\n').count()));
        text.replace_range(range, &with);
    }
    text
}

/// The exception that scripts raise to abstain, and the beginning of its text.
pub(super) const UNSURE: &str = "Unsure";

/// Appends the class for `raise Unsure("why")`, unless the script defines it or does not abstain.
pub(super) fn with_unsure(mut text: String, body: &[Stmt]) -> String {
    let is_own = body.iter().any(|statement| match statement {
        Stmt::FunctionDef(function) => function.name.as_str() == UNSURE,
        Stmt::ClassDef(class) => class.name.as_str() == UNSURE,
        _ => false,
    });
    if !is_own && text.contains(UNSURE) {
        _ = write!(text, "\ndef {UNSURE}(__why):\n    return Exception(f\"{UNSURE}: {{__why}}\")\n");
    }
    text
}

/// Appends the call of a script's function with the arguments in [`ARGUMENTS`], whose value is the result.
pub(super) fn with_call(
    mut text: String,
    name: &str,
    is_async: bool,
    parameters: &[Field],
    classes: &Classes,
) -> String {
    text.push('\n');
    for (class_name, class) in readers(parameters, classes) {
        write_reader(&mut text, class_name, class, classes);
    }
    for field in parameters {
        if is_converted(&field.ty, classes, &mut Vec::new()) {
            let place = format!("{ARGUMENTS}[{:?}]", field.name);
            let value = read(&field.ty, &place, classes, 0);
            _ = writeln!(text, "if {:?} in {ARGUMENTS}:\n    {place} = {value}", field.name);
        }
    }
    let wait = if is_async { "await " } else { "" };
    _ = writeln!(text, "{wait}{name}(**{ARGUMENTS})");
    text
}

/// Returns the classes whose values must be read from JSON.
fn readers<'a>(parameters: &'a [Field], classes: &'a Classes) -> impl Iterator<Item = (&'a str, &'a Class)> {
    let mut names = BTreeSet::new();
    let mut open: Vec<&Type> = parameters.iter().map(|field| &field.ty).collect();
    while let Some(ty) = open.pop() {
        ty.each_class(&mut |name| {
            if names.insert(name) {
                open.extend(classes.get(name).into_iter().flat_map(|class| class.fields.iter().map(|field| &field.ty)));
            }
        });
    }
    names.into_iter().filter_map(|name| classes.get_key_value(name)).map(|(name, class)| (name.as_str(), class))
}

/// Writes the function that reads a class from a dictionary.
fn write_reader(text: &mut String, name: &str, class: &Class, classes: &Classes) {
    _ = writeln!(text, "def __read_{name}(__value):\n    __fields = {{}}");
    for field in &class.fields {
        let place = format!("__value[{:?}]", field.name);
        let value = read(&field.ty, &place, classes, 0);
        _ = writeln!(text, "    if {0:?} in __value:\n        __fields[{0:?}] = {value}", field.name);
    }
    let result = if class.is_dataclass { format!("{name}(**__fields)") } else { "__fields".to_owned() };
    _ = writeln!(text, "    return {result}");
}

/// Returns the expression that reads a type from the JSON value of another expression.
fn read(ty: &Type, value: &str, classes: &Classes, depth: usize) -> String {
    if !is_converted(ty, classes, &mut Vec::new()) {
        return value.to_owned();
    }
    let item = format!("__item{depth}");
    match ty {
        Type::List(of) => format!("[{} for {item} in {value}]", read(of, &item, classes, depth + 1)),
        Type::TupleOf(of) => format!("tuple([{} for {item} in {value}])", read(of, &item, classes, depth + 1)),
        Type::Dict(of) => {
            let read = read(of, &format!("{value}[{item}]"), classes, depth + 1);
            format!("{{{item}: {read} for {item} in {value}}}")
        }
        Type::Tuple(items) => {
            let items =
                items.iter().enumerate().map(|(at, of)| read(of, &format!("{value}[{at}]"), classes, depth + 1));
            format!("({},)", items.collect::<Vec<_>>().join(", "))
        }
        Type::Class(name) => format!("__read_{name}({value})"),
        Type::Union(of) => union(of, value, classes, depth),
        _ => value.to_owned(),
    }
}

/// Reads a union by the JSON type of the value; its members have different JSON types, which was checked before.
fn union(of: &[Type], value: &str, classes: &Classes, depth: usize) -> String {
    let mut result = value.to_owned();
    for ty in of.iter().filter(|ty| is_converted(ty, classes, &mut Vec::new())) {
        let kind = if is_object(ty) { "dict" } else { "list" };
        result = format!("({} if isinstance({value}, {kind}) else {result})", read(ty, value, classes, depth));
    }
    result
}

fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Class(_) | Type::Dict(_))
}

/// Returns whether a value of a union could be read as two of its members, one of which must be converted.
pub(super) fn is_ambiguous(ty: &Type, classes: &Classes) -> bool {
    let inner = |of: &Type| is_ambiguous(of, classes);
    match ty {
        Type::Union(of) => {
            let same = |is: fn(&Type) -> bool| {
                let members: Vec<_> = of.iter().filter(|ty| is(ty)).collect();
                members.len() > 1 && members.iter().any(|ty| is_converted(ty, classes, &mut Vec::new()))
            };
            let is_array = |ty: &Type| matches!(ty, Type::List(_) | Type::Tuple(_) | Type::TupleOf(_));
            same(is_object) || same(is_array) || of.iter().any(inner)
        }
        Type::List(of) | Type::Dict(of) | Type::TupleOf(of) => inner(of),
        Type::Tuple(of) => of.iter().any(inner),
        _ => false,
    }
}
