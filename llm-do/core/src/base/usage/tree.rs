//! Usage by call.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};

use super::{Cost, RunUsage};

/// Usage by call: a tree of the names of a run's calls, with the requests and tool calls that each made itself.
///
/// Calls of one name made by calls of one name share a node, so the tree stays small however many calls there are. A
/// call that made neither a request nor a tool call has no node of its own. A tree of a run has at most 50 levels, the last of which
/// includes what the calls below it used. `Display` writes a table.
///
/// # Examples
///
/// ```
/// # use llm_do::usage::UsageTree;
/// let tree: UsageTree = serde_json::from_str(
///     r#"{
///         "name": "main", "calls": 1,
///         "own": {"tool_calls": 2, "requests": 0, "input_tokens": 0, "output_tokens": 0,
///                 "cached_tokens": 0, "reasoning_tokens": 0},
///         "children": [{
///             "name": "reviewer", "calls": 2,
///             "own": {"tool_calls": 0, "requests": 2, "input_tokens": 1200, "output_tokens": 300,
///                     "cached_tokens": 0, "reasoning_tokens": 0, "cost": {"known": "0.0048", "unpriced_requests": 0}}
///         }]
///     }"#,
/// )?;
/// assert_eq!(tree.total().model.requests, 2);
/// assert_eq!(tree.total().cost.to_string(), "$0.0048");
/// assert_eq!(
///     tree.to_string(),
///     "\
/// call        calls  requests  tool calls  tokens in  tokens out  cost
/// main            1         0           2          0           0  $0.00
///   reviewer      2         2           0       1200         300  $0.0048
/// total           3         2           2       1200         300  $0.0048
/// ",
/// );
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageTree {
    /// The registered name of the tool, worker or entry.
    pub name: Arc<str>,
    /// The number of calls, without those that made neither a request nor a tool call.
    pub calls: u64,
    /// The usage of these calls, without the calls below them.
    pub own: RunUsage,
    /// The requests in [`own`](Self::own), by model (`provider:model`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<Arc<str>, ModelUsage>,
    /// The calls that these calls made, in the order of their first use of something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<UsageTree>,
}

/// The usage of requests to one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelUsage {
    /// The requests and their tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// The cost of the requests.
    #[serde(default)]
    pub cost: Cost,
}

impl UsageTree {
    /// Returns the usage of all calls of the tree.
    #[must_use]
    pub fn total(&self) -> RunUsage {
        let mut total = RunUsage::default();
        self.visit(0, &mut |_, node| total += node.own);
        total
    }

    /// Returns the usage of the calls of each name, anywhere in the tree, without the calls below them; only names that
    /// made requests.
    #[must_use]
    pub fn by_worker(&self) -> BTreeMap<Arc<str>, RunUsage> {
        let mut workers = BTreeMap::<_, RunUsage>::new();
        self.visit(0, &mut |_, node| {
            if node.own.model.requests > 0 {
                *workers.entry(Arc::clone(&node.name)).or_default() += node.own;
            }
        });
        workers
    }

    /// Returns the usage of the requests to each model (`provider:model`).
    #[must_use]
    pub fn by_model(&self) -> BTreeMap<Arc<str>, ModelUsage> {
        let mut models = BTreeMap::<_, ModelUsage>::new();
        self.visit(0, &mut |_, node| {
            for (model, used) in &node.models {
                *models.entry(Arc::clone(model)).or_default() += *used;
            }
        });
        models
    }

    /// Adds the tree of a call that this one made.
    pub(crate) fn add_child(&mut self, child: UsageTree) {
        self.children = merged(std::mem::take(&mut self.children).into_iter().chain([child]));
    }

    /// Returns whether the usage is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.total() == RunUsage::default()
    }

    /// Calls `each` with every node and its depth, parents first.
    fn visit<'a>(&'a self, depth: usize, each: &mut impl FnMut(usize, &'a Self)) {
        each(depth, self);
        for child in &self.children {
            child.visit(depth + 1, each);
        }
    }

    /// Returns the lines of the table: a header, each node, and a total if there is more than one.
    fn lines(&self) -> Vec<[String; 7]> {
        let head = ["call", "calls", "requests", "tool calls", "tokens in", "tokens out", "cost"];
        let mut lines = vec![head.map(str::to_owned)];
        let mut calls = 0_u64;
        self.visit(0, &mut |depth, node| {
            calls = calls.saturating_add(node.calls);
            lines.push(line(format!("{:1$}{2}", "", depth * 2, node.name), node.calls, &node.own));
        });
        if !self.children.is_empty() {
            lines.push(line("total".to_owned(), calls, &self.total()));
        }
        lines
    }
}

fn line(name: String, calls: u64, used: &RunUsage) -> [String; 7] {
    let RunUsage { tool_calls, model, cost } = used;
    let figures = [calls, model.requests, *tool_calls, model.input_tokens, model.output_tokens];
    let [calls, requests, tool_calls, input, output] = figures.map(|figure| figure.to_string());
    [name, calls, requests, tool_calls, input, output, cost.to_string()]
}

impl fmt::Display for UsageTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
        let widths: [usize; 7] = std::array::from_fn(width);
        for line in &lines {
            write!(f, "{:1$}", line[0], widths[0])?;
            for column in 1..6 {
                write!(f, "  {:>1$}", line[column], widths[column])?;
            }
            writeln!(f, "  {}", line[6])?;
        }
        Ok(())
    }
}

impl AddAssign for ModelUsage {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.cost += other.cost;
    }
}

/// Merges trees with the same name, each at the position of the first.
pub(super) fn merged(trees: impl Iterator<Item = UsageTree>) -> Vec<UsageTree> {
    let mut merged: Vec<UsageTree> = Vec::new();
    for tree in trees {
        match merged.iter_mut().find(|earlier| earlier.name == tree.name) {
            Some(earlier) => merge(earlier, tree),
            None => merged.push(tree),
        }
    }
    merged
}

fn merge(into: &mut UsageTree, mut tree: UsageTree) {
    into.calls = into.calls.saturating_add(tree.calls);
    let children = std::mem::take(&mut tree.children);
    absorb(into, tree);
    into.children = merged(std::mem::take(&mut into.children).into_iter().chain(children));
}

/// Adds the usage of the calls of a tree, without its children.
pub(super) fn absorb(into: &mut UsageTree, tree: UsageTree) {
    into.own += tree.own;
    for (model, used) in tree.models {
        *into.models.entry(model).or_default() += used;
    }
}
