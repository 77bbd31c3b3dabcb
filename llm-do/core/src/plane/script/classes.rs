//! The classes of a script whose values cross to callers: `TypedDict` and `dataclass`.

use ruff_python_ast::{Expr, Stmt, StmtAnnAssign, StmtClassDef};
use ruff_text_size::{Ranged, TextRange};

use super::annotation::Scope;
use super::docstring;
use super::fault::Faults;
use super::literal::value_of;
use super::types::{Class, Classes, Field, Type};

/// A class that is defined as a `TypedDict`, which the interpreter reads as `dict`.
#[derive(Debug)]
pub(super) struct DictClass {
    pub(super) name: String,
    pub(super) range: TextRange,
}

/// Collects the names that annotations of the script may use.
pub(super) fn scope<'a>(text: &'a str, body: &'a [Stmt]) -> Scope<'a> {
    let mut scope = Scope { text, ..Scope::default() };
    for statement in body {
        match statement {
            Stmt::ClassDef(class) => match Kind::from_class(class) {
                Kind::Plain(reason) => drop(scope.unsupported.insert(class.name.as_str(), reason)),
                Kind::TypedDict { .. } | Kind::Dataclass => scope.classes.push(class.name.as_str()),
            },
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], true) = (assign.targets.as_slice(), is_type(&assign.value)) {
                    scope.aliases.insert(name.id.as_str(), &assign.value);
                }
            }
            _ => {}
        }
    }
    scope
}

/// Reads the classes with a schema; faults of their fields are added.
pub(super) fn read(scope: &Scope<'_>, body: &[Stmt], faults: &mut Faults<'_>) -> Classes {
    let mut classes = Classes::new();
    for statement in body {
        let Stmt::ClassDef(class) = statement else { continue };
        let kind = Kind::from_class(class);
        let is_total = match kind {
            Kind::Plain(_) => continue,
            Kind::TypedDict { is_total } => Some(is_total),
            Kind::Dataclass => None,
        };
        classes.insert(class.name.to_string(), read_class(scope, class, is_total, faults));
    }
    classes
}

/// The role of a class in the schemas.
enum Kind {
    TypedDict {
        is_total: bool,
    },
    Dataclass,
    /// A class without a schema, with the reason.
    Plain(String),
}

impl Kind {
    fn from_class(class: &StmtClassDef) -> Self {
        let arguments = class.arguments.as_deref();
        let bases = arguments.map_or(&[][..], |arguments| &*arguments.args);
        if class.decorator_list.iter().any(|decorator| is_dataclass(&decorator.expression)) {
            return Self::Dataclass;
        }
        if bases.len() == 1 && last_name(&bases[0]) == Some("TypedDict") {
            let keywords = arguments.map_or(&[][..], |arguments| arguments.keywords.as_slice());
            let is_false = |value: &Expr| value.as_boolean_literal_expr().is_some_and(|literal| !literal.value);
            let is_partial = keywords
                .iter()
                .any(|keyword| keyword.arg.as_ref().is_some_and(|name| name == "total") && is_false(&keyword.value));
            return Self::TypedDict { is_total: !is_partial };
        }
        let name = class.name.as_str();
        Self::Plain(match bases.iter().find_map(last_name) {
            Some("Enum" | "StrEnum" | "IntEnum") => {
                format!("the Enum `{name}` has no JSON schema; write `Literal[..]` with its values")
            }
            Some("BaseModel") => {
                format!("scripts have no pydantic, so `{name}` has no JSON schema; write `@dataclass` above it")
            }
            _ => format!("the class `{name}` has no JSON schema; write `@dataclass` above it, or make it a TypedDict"),
        })
    }
}

fn is_dataclass(decorator: &Expr) -> bool {
    match decorator {
        Expr::Call(call) => last_name(&call.func) == Some("dataclass"),
        other => last_name(other) == Some("dataclass"),
    }
}

/// Returns the last part of `name` or `module.name`.
fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Returns the places of the values of names for types, which only the checker reads.
pub(super) fn alias_values(body: &[Stmt]) -> impl Iterator<Item = TextRange> {
    body.iter().filter_map(|statement| match statement {
        Stmt::Assign(assign) if assign.targets.len() == 1 && is_type(&assign.value) => Some(assign.value.range()),
        _ => None,
    })
}

/// Returns the classes that are dictionaries when the script runs.
pub(super) fn dict_classes(body: &[Stmt]) -> Vec<DictClass> {
    let classes = body.iter().filter_map(|statement| match statement {
        Stmt::ClassDef(class) if matches!(Kind::from_class(class), Kind::TypedDict { .. }) => Some(class),
        _ => None,
    });
    classes.map(|class| DictClass { name: class.name.to_string(), range: class.range() }).collect()
}

/// Returns whether an assigned value may be a type.
fn is_type(value: &Expr) -> bool {
    match value {
        Expr::Subscript(subscript) => matches!(
            last_name(&subscript.value),
            Some("Literal" | "Optional" | "Union" | "list" | "List" | "dict" | "Dict" | "tuple" | "Tuple")
        ),
        Expr::BinOp(union) => is_type(&union.left) || is_type(&union.right),
        _ => false,
    }
}

/// Reads a class; `is_total` is whether the keys of a `TypedDict` are required, `None` for a dataclass.
fn read_class(scope: &Scope<'_>, class: &StmtClassDef, is_total: Option<bool>, faults: &mut Faults<'_>) -> Class {
    let doc = docstring::of_body(&class.body);
    let mut fields = Vec::new();
    for statement in &class.body {
        let Stmt::AnnAssign(field) = statement else { continue };
        let Expr::Name(name) = &*field.target else { continue };
        let what = format!("the field `{}` of `{}`", name.id, class.name);
        let (annotation, is_required) = requirement(&field.annotation, is_total.unwrap_or(true));
        let Some(ty) = scope.read(annotation, &what, faults) else { continue };
        let default = default_of(field, &what, faults);
        fields.push(Field {
            name: name.id.to_string(),
            ty,
            is_required: is_required && field.value.is_none(),
            default,
            description: doc.parameters.get(name.id.as_str()).cloned(),
        });
    }
    Class { is_dataclass: is_total.is_none(), description: doc.description, fields }
}

/// Returns the type in `NotRequired[..]` or `Required[..]`, and whether the field is required.
fn requirement(annotation: &Expr, is_total: bool) -> (&Expr, bool) {
    if let Expr::Subscript(subscript) = annotation {
        match last_name(&subscript.value) {
            Some("NotRequired") => return (&subscript.slice, false),
            Some("Required") => return (&subscript.slice, true),
            _ => {}
        }
    }
    (annotation, is_total)
}

fn default_of(field: &StmtAnnAssign, what: &str, faults: &mut Faults<'_>) -> Option<serde_json::Value> {
    let value = field.value.as_deref()?;
    let literal = value_of(value);
    if literal.is_none() {
        faults.at(value, format!("{what}: a default must be a literal, such as `0`, `\"\"` or `None`"));
    }
    literal
}

/// Returns whether values of a type change between JSON and the script: JSON has neither tuples nor instances.
pub(super) fn is_converted(ty: &Type, classes: &Classes, seen: &mut Vec<String>) -> bool {
    match ty {
        Type::Tuple(_) | Type::TupleOf(_) => true,
        Type::List(of) | Type::Dict(of) => is_converted(of, classes, seen),
        Type::Union(of) => of.iter().any(|ty| is_converted(ty, classes, seen)),
        Type::Class(name) => {
            if seen.contains(name) {
                return false;
            }
            seen.push(name.clone());
            let class = classes.get(name);
            class.is_some_and(|class| {
                class.is_dataclass || class.fields.iter().any(|field| is_converted(&field.ty, classes, seen))
            })
        }
        _ => false,
    }
}
