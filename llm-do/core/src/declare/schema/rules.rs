//! Validates values against the schemas of Rust types, and reports each fault with its place.

mod describe;
mod fields;
mod number;
mod read;
mod types;
mod unevaluated;

use std::fmt::Display;
use std::ops::ControlFlow;

use serde_json::{Number, Value};

use self::fields::Fields;
use self::number::is_multiple;
use self::types::Types;
use super::fault::{Place, missing};
use super::format::Format;

/// The maximum number of required fields with which rules are [linear](Rules::are_linear): each object is searched for all of them.
const MAX_REQUIRED: usize = 256;

/// What stands for a value that is not shown.
const MASKED: &str = "value";

/// A schema as rules. They support the keywords that schemars writes for Rust types, and most keywords that an
/// attribute may add.
#[derive(Debug)]
pub(super) struct Rules {
    /// The rules of each subschema, in the order in which they are checked. The first is the root.
    nodes: Vec<Vec<Rule>>,
}

/// One keyword, or several keywords that depend on each other. A number refers to a subschema.
#[derive(Debug)]
enum Rule {
    Never,
    Type(Types),
    Const(Value),
    Enum(Vec<Value>),
    Bound(Bound, Number),
    MultipleOf(u64),
    Size { of: Counted, bound: SizeBound, limit: u64 },
    Required(Vec<String>),
    Format(String, Format),
    UniqueItems,
    Fields(Fields),
    PrefixItems(Vec<usize>),
    Items { after: usize, each: usize },
    AllOf(Vec<usize>),
    AnyOf(Vec<usize>),
    OneOf(Vec<usize>),
    Not(usize, Value),
    UnevaluatedProperties(usize),
    Reference(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Characters,
    Items,
    Properties,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeBound {
    Min,
    Max,
}

/// Describes a fault, given the shown form of the value.
type Describe<'d> = dyn Fn(&dyn Display) -> String + 'd;

/// Receives the faults: the value, its place, and the description. Breaks to stop.
type Report<'r> = dyn FnMut(&Value, &Place<'_>, &Describe<'_>) -> ControlFlow<()> + 'r;

impl Rules {
    /// Returns whether the work to check a value grows with the value only: each part is checked by one subschema, without patterns.
    pub(super) fn are_linear(&self) -> bool {
        self.nodes.iter().flatten().all(|rule| match rule {
            Rule::Type(_) | Rule::Bound(..) | Rule::Items { .. } => true,
            Rule::Required(names) => names.len() <= MAX_REQUIRED,
            Rule::Fields(fields) => !fields.have_patterns(),
            _ => false,
        })
    }

    /// Returns whether the value follows the schema.
    pub(super) fn hold(&self, value: &Value) -> bool {
        self.node_holds(0, value)
    }

    /// Describes the first fault, including the faulty value.
    pub(super) fn first_fault(&self, value: &Value) -> Option<String> {
        let mut first = None;
        let mut report = |value: &Value, _: &Place<'_>, describe: &Describe<'_>| {
            first = Some(describe(value));
            ControlFlow::Break(())
        };
        let _ = self.node(0, value, &Place::Root, &mut report);
        first
    }

    /// Describes the faults without the values, which may be secrets; returns at most `most` faults, and the number of
    /// further ones.
    ///
    /// Stops once `is_wanted` returns false.
    pub(super) fn faults(&self, value: &Value, most: usize, is_wanted: &dyn Fn() -> bool) -> (Vec<String>, usize) {
        let (mut listed, mut unlisted) = (Vec::new(), 0);
        let mut report = |_: &Value, place: &Place<'_>, describe: &Describe<'_>| {
            if !is_wanted() {
                return ControlFlow::Break(());
            }
            if listed.len() < most {
                listed.push(place.located(describe(&MASKED)));
            } else {
                unlisted += 1;
            }
            ControlFlow::Continue(())
        };
        let _ = self.node(0, value, &Place::Root, &mut report);
        (listed, unlisted)
    }

    fn node_holds(&self, node: usize, value: &Value) -> bool {
        self.node(node, value, &Place::Root, &mut |_, _, _| ControlFlow::Break(())).is_continue()
    }

    fn node(&self, node: usize, value: &Value, place: &Place<'_>, report: &mut Report<'_>) -> ControlFlow<()> {
        self.nodes[node].iter().try_for_each(|rule| self.rule(node, rule, value, place, report))
    }

    fn rule(
        &self,
        node: usize,
        rule: &Rule,
        value: &Value,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        match rule {
            Rule::Required(names) => {
                let is_missing = |name: &&String| value.as_object().is_some_and(|fields| !fields.contains_key(*name));
                names.iter().filter(is_missing).try_for_each(|name| report(value, place, &|_| missing(name)))
            }
            Rule::Fields(fields) => self.fields(fields, value, place, report),
            Rule::PrefixItems(nodes) => {
                let items = value.as_array().into_iter().flatten().zip(nodes).enumerate();
                items.into_iter().try_for_each(|(index, (item, node))| self.item(*node, index, item, place, report))
            }
            Rule::Items { after, each } => {
                let items = value.as_array().into_iter().flatten().enumerate().skip(*after);
                items.into_iter().try_for_each(|(index, item)| self.item(*each, index, item, place, report))
            }
            Rule::AllOf(nodes) => nodes.iter().try_for_each(|node| self.node(*node, value, place, report)),
            Rule::Reference(node) => self.node(*node, value, place, report),
            Rule::UnevaluatedProperties(each) => self.unevaluated(node, *each, value, place, report),
            _ if self.rule_holds(rule, value) => ControlFlow::Continue(()),
            _ => report(value, place, &|shown| self.describe(rule, value, shown)),
        }
    }

    /// Returns whether a rule holds that has at most one fault, at the value itself.
    fn rule_holds(&self, rule: &Rule, value: &Value) -> bool {
        match (rule, value) {
            (Rule::Never, _) => false,
            (Rule::Type(types), _) => types.contain(value),
            (Rule::Const(expected), _) => number::equal(expected, value),
            (Rule::Enum(options), _) => options.iter().any(|option| number::equal(option, value)),
            (Rule::Bound(bound, limit), Value::Number(number)) => bound.holds(number, limit),
            (Rule::MultipleOf(divisor), Value::Number(number)) => is_multiple(number, *divisor),
            (Rule::Size { of, bound, limit }, _) => of.count(value).is_none_or(|count| match bound {
                SizeBound::Min => count >= *limit,
                SizeBound::Max => count <= *limit,
            }),
            (Rule::Format(_, format), Value::String(text)) => format.holds(text),
            (Rule::UniqueItems, Value::Array(items)) => number::are_unique(items),
            (Rule::AnyOf(nodes), _) => nodes.iter().any(|node| self.node_holds(*node, value)),
            (Rule::OneOf(nodes), _) => self.matching(nodes, value).take(2).count() == 1,
            (Rule::Not(node, _), _) => !self.node_holds(*node, value),
            _ => true,
        }
    }

    fn describe(&self, rule: &Rule, value: &Value, shown: &dyn Display) -> String {
        match rule {
            Rule::OneOf(nodes) if self.matching(nodes, value).next().is_some() => describe::several_match(shown),
            _ => describe::fault(rule, shown),
        }
    }

    fn matching<'a>(&'a self, nodes: &'a [usize], value: &'a Value) -> impl Iterator<Item = usize> + 'a {
        nodes.iter().copied().filter(|node| self.node_holds(*node, value))
    }

    fn item(
        &self,
        node: usize,
        index: usize,
        item: &Value,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        self.node(node, item, &Place::Item(place, index), report)
    }
}

impl Counted {
    fn count(self, value: &Value) -> Option<u64> {
        let count = match (self, value) {
            (Self::Characters, Value::String(text)) => text.chars().count(),
            (Self::Items, Value::Array(items)) => items.len(),
            (Self::Properties, Value::Object(fields)) => fields.len(),
            _ => return None,
        };
        Some(count as u64)
    }
}

#[cfg(test)]
mod tests;
