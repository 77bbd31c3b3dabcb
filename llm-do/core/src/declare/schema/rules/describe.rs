//! The texts for the faults of each rule.

use std::fmt::Display;

use serde_json::Value;

use super::{Bound, Counted, Rule, SizeBound};

/// The maximum number of choices that are all listed.
const MAX_CHOICES: usize = 3;

/// Describes the fault of a rule that has at most one; `value` is the shown form of the value.
pub(super) fn fault(rule: &Rule, value: &dyn Display) -> String {
    match rule {
        Rule::Type(types) => {
            let names: Vec<_> = types.names().map(|name| format!("{name:?}")).collect();
            format!("{value} is not of type{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
        }
        Rule::Const(expected) => format!("{expected} was expected"),
        Rule::Enum(options) => format!("{value} is not one of {}", choices(options)),
        Rule::Bound(bound, limit) => outside(value, *bound, limit),
        Rule::MultipleOf(divisor) => format!("{value} is not a multiple of {divisor}"),
        Rule::Size { of, bound, limit } => size(value, *of, *bound, *limit),
        Rule::Format(name, _) => format!("{value} is not a \"{name}\""),
        Rule::UniqueItems => format!("{value} has non-unique elements"),
        Rule::AnyOf(_) => no_match(value, "anyOf"),
        Rule::OneOf { .. } => no_match(value, "oneOf"),
        Rule::Not(_, schema) => format!("{schema} is not allowed for {value}"),
        _ => never(value),
    }
}

/// Describes the fault of a value by a schema that allows none.
pub(super) fn never(value: &dyn Display) -> String {
    format!("False schema does not allow {value}")
}

/// Describes the fault of a value that several schemas of `oneOf` allow.
pub(super) fn several_match(value: &dyn Display) -> String {
    format!("{value} is valid under more than one of the schemas listed in the 'oneOf' keyword")
}

fn no_match(value: &dyn Display, keyword: &str) -> String {
    format!("{value} is not valid under any of the schemas listed in the '{keyword}' keyword")
}

fn choices(options: &[Value]) -> String {
    let shown = |options: &[Value]| options.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match options {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] if options.len() <= MAX_CHOICES => format!("{} or {last}", shown(first)),
        _ => {
            let (first, others) = options.split_at(MAX_CHOICES - 1);
            format!("{} or {} other candidates", shown(first), others.len())
        }
    }
}

fn outside(value: &dyn Display, bound: Bound, limit: impl Display) -> String {
    match bound {
        Bound::Minimum => format!("{value} is less than the minimum of {limit}"),
        Bound::Maximum => format!("{value} is greater than the maximum of {limit}"),
        Bound::ExclusiveMinimum => format!("{value} is less than or equal to the minimum of {limit}"),
        Bound::ExclusiveMaximum => format!("{value} is greater than or equal to the maximum of {limit}"),
    }
}

fn size(value: &dyn Display, of: Counted, bound: SizeBound, limit: u64) -> String {
    let (verb, less, more) = match of {
        Counted::Characters => ("is", "shorter", "longer"),
        Counted::Items | Counted::Properties => ("has", "less", "more"),
    };
    let unit = match (of, limit) {
        (Counted::Characters, 1) => "character",
        (Counted::Characters, _) => "characters",
        (Counted::Items, 1) => "item",
        (Counted::Items, _) => "items",
        (Counted::Properties, 1) => "property",
        (Counted::Properties, _) => "properties",
    };
    format!("{value} {verb} {} than {limit} {unit}", if bound == SizeBound::Min { less } else { more })
}
