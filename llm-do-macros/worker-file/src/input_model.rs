//! The key `input_model_ref`: the item or class whose arguments a worker takes.

use std::path::Path;

use crate::name::is_registrable;
use crate::values::Reader;
use crate::{Located, Node};

/// The fault of a worker with a schema of its arguments and an item that defines them.
pub(crate) const TWO_INPUTS: &str = "`input_schema` and `input_model_ref` cannot be combined: remove one";

/// A value of the key `input_model_ref`.
#[derive(Clone, Debug, PartialEq)]
pub enum InputModel {
    /// The registered item with this name: the worker takes its arguments.
    Item(String),
    /// A class of a Python program, as `FILE.py:CLASS` or `MODULE.CLASS`.
    Python(String),
}

/// Returns the fault of a Python class, if the arguments have no other description.
pub(crate) fn unread(class: &str) -> String {
    format!("`input_model_ref`: the Python class `{class}` cannot be read; write its fields as `input_schema`")
}

/// Reads the name of an item or a Python class.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<InputModel> {
    let Located { place, value } = reader.string(node)?;
    if is_registrable(&value) {
        Some(InputModel::Item(value))
    } else if is_python_class(&value) {
        Some(InputModel::Python(value))
    } else {
        let expected = "the name of a tool, worker or entry, or a Python class such as `schemas.py:Review`";
        reader.invalid(place, format!("expected {expected}, found `{value}`"))
    }
}

fn is_python_class(text: &str) -> bool {
    match text.rsplit_once(':') {
        Some((file, class)) => Path::new(file).extension().is_some_and(|end| end == "py") && is_identifier(class),
        None => text.contains('.') && text.split('.').all(is_identifier),
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_in_a_file_or_in_a_module() {
        for class in ["schemas.py:Review", "../a b/schemas.py:_A1", "schemas.Review", "a.b.Review"] {
            assert!(is_python_class(class), "{class}");
        }
        for other in ["schemas.txt:Review", ":Review", ".py:Review", "a.py:", "a.py:B C", "a..b", "a:b", "a.1"] {
            assert!(!is_python_class(other), "{other}");
        }
    }
}
