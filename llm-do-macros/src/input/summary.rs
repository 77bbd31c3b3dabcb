//! `summary = ".. {argument} .."`: how a call is told in a line.

use syn::LitStr;
use syn::ext::IdentExt;

use super::{Argument, Callable};
use crate::args::did_you_mean;
use crate::errors::Errors;

/// Returns the template with the arguments under the names that they have in the schema.
pub(super) fn read(summary: &LitStr, callable: &Callable, errors: &mut Errors) -> String {
    let text = summary.value();
    if text.trim().is_empty() {
        errors.push(summary, "a summary cannot be blank: leave out the key, and the arguments are listed");
    }
    if text.contains(char::is_control) {
        errors.push(summary, "a summary is one line");
    }
    let mut template = String::new();
    let mut rest = text.as_str();
    while let Some(place) = rest.find(['{', '}']) {
        template.push_str(&rest[..place]);
        rest = &rest[place..];
        if let Some(behind) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            template.push_str(&rest[..2]);
            rest = behind;
            continue;
        }
        let Some((name, behind)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
            errors.push(summary, format!("a brace stands alone: write `{0}{0}` for a brace", &rest[..1]));
            return template;
        };
        match named(name, callable) {
            Ok(argument) => template.extend(["{", &argument.name(), "}"]),
            Err(fault) => errors.push(summary, fault),
        }
        rest = behind;
    }
    template + rest
}

/// Returns the argument of that name.
fn named<'a>(name: &str, callable: &'a Callable) -> Result<&'a Argument, String> {
    let found = callable.fields().find(|argument| argument.ident.unraw() == name);
    match found {
        Some(argument) if argument.is_flat => {
            Err(format!("`{name}` is flattened, so it is no argument by itself: a summary cannot tell it"))
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
        known => format!("expected {}", known.join(", ")),
    };
    format!("a summary takes arguments by their parameters' names, and `{{{name}}}` is none{hint}\n{expected}")
}
