//! `summary = ".. {argument} .."`: one line that describes a call.

use syn::LitStr;
use syn::ext::IdentExt;

use super::{Argument, Callable};
use crate::args::did_you_mean;
use crate::errors::Errors;

/// Returns the template with the names of the arguments in the schema.
pub(super) fn read(summary: &LitStr, callable: &Callable, errors: &mut Errors) -> String {
    let text = summary.value();
    if text.trim().is_empty() {
        errors.push(summary, "blank `summary`; write a text, or remove the key to list the arguments");
    }
    if text.contains(char::is_control) {
        errors.push(summary, "`summary` must be one line without control characters");
    }
    let mut template = String::new();
    let mut rest = text.as_str();
    while let Some(index) = rest.find(['{', '}']) {
        template.push_str(&rest[..index]);
        rest = &rest[index..];
        if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            template.push_str(&rest[..2]);
            rest = after;
            continue;
        }
        let Some((name, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            errors
                .push(summary, format!("unmatched `{0}` in `summary`; write `{0}{0}` for a literal brace", &rest[..1]));
            return template;
        };
        match named(name, callable) {
            Ok(argument) => template.extend(["{", &argument.name(), "}"]),
            Err(fault) => errors.push(summary, fault),
        }
        rest = after;
    }
    template + rest
}

/// Returns the argument of the parameter `name`.
fn named<'a>(name: &str, callable: &'a Callable) -> Result<&'a Argument, String> {
    let found = callable.fields().find(|argument| argument.ident.unraw() == name);
    match found {
        Some(argument) if argument.is_flat => {
            Err(format!("`{{{name}}}` cannot be used in `summary`, since `{name}` is flattened; remove it"))
        }
        Some(argument) => Ok(argument),
        None => Err(unknown(name, callable)),
    }
}

fn unknown(name: &str, callable: &Callable) -> String {
    let names: Vec<_> = callable.fields().map(|argument| argument.ident.unraw().to_string()).collect();
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    let known: Vec<_> = names.iter().map(|name| format!("`{{{name}}}`")).collect();
    let expected = match known.as_slice() {
        [] => "the tool has no arguments".to_owned(),
        known => format!("expected one of {}", known.join(", ")),
    };
    format!("unknown parameter `{{{name}}}` in `summary`{hint}\n{expected}")
}
