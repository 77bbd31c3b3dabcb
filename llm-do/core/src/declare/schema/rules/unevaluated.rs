//! `unevaluatedProperties`: the fields that other keywords do not describe.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::{Report, Rule, Rules};
use crate::declare::schema::fault::Place;

impl Rules {
    /// Reports the fields that neither another rule of the node describes, nor the schema `each` allows.
    pub(super) fn unevaluated(
        &self,
        node: usize,
        each: usize,
        value: &Value,
        place: &Place<'_>,
        report: &mut Report<'_>,
    ) -> ControlFlow<()> {
        let Value::Object(fields) = value else { return ControlFlow::Continue(()) };
        let mut evaluated = HashSet::new();
        self.mark(node, value, fields, &mut evaluated);
        let is_left =
            |(name, value): &(&String, &Value)| !evaluated.contains(name.as_str()) && !self.node_holds(each, value);
        let left: Vec<_> = fields.iter().filter(is_left).map(|(name, _)| format!("'{name}'")).collect();
        if left.is_empty() {
            return ControlFlow::Continue(());
        }
        let verb = if left.len() == 1 { "was" } else { "were" };
        report(value, place, &|_| {
            format!("Unevaluated properties are not allowed ({} {verb} unexpected)", left.join(", "))
        })
    }

    /// Adds the fields that the rules of a node describe.
    fn mark<'a>(&self, node: usize, value: &'a Value, fields: &'a Map<String, Value>, marked: &mut HashSet<&'a str>) {
        for rule in &self.nodes[node] {
            match rule {
                Rule::Fields(rules) => {
                    marked.extend(fields.keys().map(String::as_str).filter(|name| rules.describe(name)));
                }
                Rule::UnevaluatedProperties(each) => {
                    marked.extend(
                        fields.iter().filter(|(_, field)| self.node_holds(*each, field)).map(|(name, _)| name.as_str()),
                    );
                }
                Rule::Reference(target) => self.mark(*target, value, fields, marked),
                Rule::AllOf(nodes) | Rule::AnyOf(nodes) => {
                    self.matching(nodes, value).for_each(|node| self.mark(node, value, fields, marked));
                }
                Rule::OneOf(nodes) => {
                    let matching: Vec<_> = self.matching(nodes, value).take(2).collect();
                    if let [node] = matching[..] {
                        self.mark(node, value, fields, marked);
                    }
                }
                _ => {}
            }
        }
    }
}
