//! Annotations of a script as types with a schema.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprSubscript, Operator};
use ruff_text_size::Ranged;

use super::fault::Faults;
use super::literal::value_of;
use super::types::Type;

/// The supported annotations, for faults.
pub(super) const TYPES: &str =
    "str, int, float, bool, None, list, dict, tuple, Literal, Optional, Union, a TypedDict or a dataclass of this file";
/// The maximum depth of aliases that refer to each other.
const MAX_ALIASES: usize = 16;

/// The names that annotations may use.
#[derive(Debug, Default)]
pub(super) struct Scope<'a> {
    pub(super) text: &'a str,
    /// Classes of the script with a schema.
    pub(super) classes: Vec<&'a str>,
    /// Classes of the script that have no schema, with the reason.
    pub(super) unsupported: BTreeMap<&'a str, String>,
    /// Names of types, such as `Status = Literal["open", "closed"]`.
    pub(super) aliases: BTreeMap<&'a str, &'a Expr>,
}

impl Scope<'_> {
    /// Returns the type of an annotation; `what` describes its position. Faults are added.
    pub(super) fn read(&self, annotation: &Expr, what: &str, faults: &mut Faults<'_>) -> Option<Type> {
        self.type_of(annotation, 0).map_err(|(at, message)| faults.at(&at, format!("{what}: {message}"))).ok()
    }

    fn type_of(&self, annotation: &Expr, depth: usize) -> Result<Type, Fault> {
        match annotation {
            Expr::NoneLiteral(_) => Ok(Type::None),
            Expr::Name(name) => self.named(name.id.as_str(), annotation, depth),
            Expr::Attribute(attribute) => self.named(attribute.attr.as_str(), annotation, depth),
            Expr::BinOp(union) if union.op == Operator::BitOr => {
                Ok(Type::Union(flat([self.type_of(&union.left, depth)?, self.type_of(&union.right, depth)?])))
            }
            Expr::Subscript(subscript) => self.subscript(subscript, depth),
            // A name in quotes, for a class that is defined below.
            Expr::StringLiteral(text) if self.classes.contains(&text.value.to_str()) => {
                Ok(Type::Class(text.value.to_str().to_owned()))
            }
            _ => Err(self.unknown(annotation)),
        }
    }

    fn named(&self, name: &str, annotation: &Expr, depth: usize) -> Result<Type, Fault> {
        Ok(match name {
            "str" => Type::Str,
            "int" => Type::Int,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "Any" | "object" => Type::Any,
            "list" | "List" | "Sequence" | "Iterable" => Type::List(Box::new(Type::Any)),
            "dict" | "Dict" | "Mapping" => Type::Dict(Box::new(Type::Any)),
            "tuple" | "Tuple" => Type::TupleOf(Box::new(Type::Any)),
            _ if self.classes.contains(&name) => Type::Class(name.to_owned()),
            _ => match (self.aliases.get(name), self.unsupported.get(name)) {
                (Some(alias), _) if depth < MAX_ALIASES => {
                    // The fault is reported at each use of the alias.
                    self.type_of(alias, depth + 1).map_err(|(_, message)| (annotation.range(), message))?
                }
                (_, Some(reason)) => return Err((annotation.range(), reason.clone())),
                _ => return Err(self.unknown(annotation)),
            },
        })
    }

    fn subscript(&self, subscript: &ExprSubscript, depth: usize) -> Result<Type, Fault> {
        let name = match &*subscript.value {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return Err(self.unknown(subscript)),
        };
        let slice = &*subscript.slice;
        let items: &[Expr] = match slice {
            Expr::Tuple(tuple) => &tuple.elts,
            one => std::slice::from_ref(one),
        };
        match (name, items) {
            ("list" | "List" | "Sequence" | "Iterable", [item]) => Ok(Type::List(Box::new(self.type_of(item, depth)?))),
            ("Optional", [of]) => Ok(Type::Union(flat([self.type_of(of, depth)?, Type::None]))),
            ("Union", of) => {
                Ok(Type::Union(flat(of.iter().map(|ty| self.type_of(ty, depth)).collect::<Result<Vec<_>, _>>()?)))
            }
            ("Literal", values) => values
                .iter()
                .map(|value| value_of(value).filter(|value| !value.is_array() && !value.is_object() && !value.is_f64()))
                .collect::<Option<_>>()
                .map(Type::Literal)
                .ok_or_else(|| (slice.range(), "`Literal` takes strings, whole numbers, booleans and None".to_owned())),
            ("dict" | "Dict" | "Mapping", [key, value]) => match self.type_of(key, depth)? {
                Type::Str | Type::Literal(_) => Ok(Type::Dict(Box::new(self.type_of(value, depth)?))),
                _ => Err((
                    key.range(),
                    "the keys of a dict must be `str`: those of JSON are; write `dict[str, ..]`".to_owned(),
                )),
            },
            ("tuple" | "Tuple", [item, Expr::EllipsisLiteral(_)]) => {
                Ok(Type::TupleOf(Box::new(self.type_of(item, depth)?)))
            }
            ("tuple" | "Tuple", items) => {
                Ok(Type::Tuple(items.iter().map(|item| self.type_of(item, depth)).collect::<Result<_, _>>()?))
            }
            _ => Err(self.unknown(subscript)),
        }
    }

    fn unknown(&self, annotation: &impl Ranged) -> Fault {
        let range = annotation.range();
        let text = self.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        let instead = match text.split('[').next().unwrap_or_default() {
            "set" | "Set" | "frozenset" => "; write `list[..]`: JSON has no sets".to_owned(),
            "bytes" | "bytearray" => "; write `str`, with base64 inside: JSON has no bytes".to_owned(),
            "datetime" | "date" | "time" => "; write `str`, with the date in ISO 8601: JSON has no dates".to_owned(),
            _ => format!("; write one of {TYPES}"),
        };
        (range, format!("`{text}` has no JSON schema{instead}"))
    }
}

/// A fault and its place.
type Fault = (ruff_text_size::TextRange, String);

/// Joins the members of nested unions.
fn flat(members: impl IntoIterator<Item = Type>) -> Vec<Type> {
    let mut all = Vec::new();
    for member in members {
        match member {
            Type::Union(inner) => all.extend(inner.into_iter().filter(|ty| !all.contains(ty)).collect::<Vec<_>>()),
            other if all.contains(&other) => {}
            other => all.push(other),
        }
    }
    all
}
