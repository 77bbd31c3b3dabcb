//! Builds the usage tree while calls run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::tree::{absorb, merged};
use super::{ModelUsage, RunUsage, UsageTree};
use crate::base::mutex::IgnorePoison;

/// The maximum number of levels of a tree: journals and chats store trees as JSON, of which readers accept 128 levels.
const MAX_LEVELS: usize = 50;

/// Records the usage of one call in the usage tree.
///
/// The node is looked up once, when the call or one below it first adds usage. A call that adds none has no node.
#[derive(Debug)]
pub(crate) struct UsageRecorder {
    name: Arc<str>,
    parent: Option<Arc<Self>>,
    node: OnceLock<Arc<Node>>,
    /// Whether this call has its own node, instead of sharing that of its path of names.
    has_own_node: bool,
}

/// The calls with one path of names, or one call with its own node.
#[derive(Debug)]
struct Node {
    name: Arc<str>,
    tool_calls: AtomicU64,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    calls: u64,
    models: BTreeMap<Arc<str>, ModelUsage>,
    children: Vec<Arc<Node>>,
}

impl UsageRecorder {
    /// Returns the recorder of the root call.
    pub(crate) fn root(name: Arc<str>) -> Arc<Self> {
        Arc::new(Self { name, parent: None, node: OnceLock::new(), has_own_node: true })
    }

    /// Returns the recorder of a call that this one makes.
    pub(crate) fn child(self: &Arc<Self>, name: Arc<str>) -> Arc<Self> {
        Arc::new(Self { name, parent: Some(Arc::clone(self)), node: OnceLock::new(), has_own_node: false })
    }

    /// Returns the recorder of a call with its own node, so that its part of the tree can be read separately.
    pub(crate) fn child_with_own_node(self: &Arc<Self>, name: Arc<str>) -> Arc<Self> {
        Arc::new(Self { name, parent: Some(Arc::clone(self)), node: OnceLock::new(), has_own_node: true })
    }

    /// Adds the usage of one request of this call to `model` (`provider:model`).
    pub(crate) fn add_request(&self, model: &Arc<str>, added: &ModelUsage) {
        let mut used = self.node().used();
        match used.models.get_mut(model) {
            Some(sum) => *sum += *added,
            None => drop(used.models.insert(Arc::clone(model), *added)),
        }
    }

    /// Adds one tool call of this call.
    pub(crate) fn add_tool_call(&self) {
        self.node().tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds usage from another recorder: `tree` is the tree of a call with this name.
    pub(crate) fn add_tree(&self, tree: &UsageTree) {
        self.node().add(tree);
    }

    /// Returns the usage so far of the calls of this path of names and of those below; of this call alone if it has
    /// its own node.
    pub(crate) fn tree(&self) -> UsageTree {
        self.node.get().map_or_else(
            || UsageTree { name: Arc::clone(&self.name), ..UsageTree::default() },
            |node| node.tree(MAX_LEVELS),
        )
    }

    fn node(&self) -> &Arc<Node> {
        self.node.get_or_init(|| {
            let node = match self.parent.as_ref().map(|parent| parent.node()) {
                Some(parent) if self.has_own_node => parent.new_child(&self.name),
                Some(parent) => parent.child(&self.name),
                None => Node::new(&self.name),
            };
            let mut used = node.used();
            used.calls = used.calls.saturating_add(1);
            drop(used);
            node
        })
    }
}

impl Node {
    fn new(name: &Arc<str>) -> Arc<Self> {
        Arc::new(Self { name: Arc::clone(name), tool_calls: AtomicU64::new(0), used: Mutex::default() })
    }

    /// Finds or creates the node for calls of `name` made by these calls.
    fn child(&self, name: &Arc<str>) -> Arc<Self> {
        let children = &mut self.used().children;
        if let Some(child) = children.iter().find(|child| child.name == *name) {
            return Arc::clone(child);
        }
        let child = Self::new(name);
        children.push(Arc::clone(&child));
        child
    }

    /// Creates a node for one call.
    fn new_child(&self, name: &Arc<str>) -> Arc<Self> {
        let child = Self::new(name);
        self.used().children.push(Arc::clone(&child));
        child
    }

    fn add(self: &Arc<Self>, tree: &UsageTree) {
        let more = tree.own.tool_calls;
        // A number from a journal may have any value, so the sum saturates.
        _ = self
            .tool_calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| Some(calls.saturating_add(more)));
        let mut used = self.used();
        for (model, more) in &tree.models {
            *used.models.entry(Arc::clone(model)).or_default() += *more;
        }
        drop(used);
        for tree in &tree.children {
            let child = self.child(&tree.name);
            let mut used = child.used();
            used.calls = used.calls.saturating_add(tree.calls);
            drop(used);
            child.add(tree);
        }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().ignore_poison()
    }

    /// Returns the tree with at most this many levels; the last level includes the levels below it.
    fn tree(&self, levels: usize) -> UsageTree {
        let used = self.used();
        let (calls, models) = (used.calls, used.models.clone());
        let children = used.children.clone();
        drop(used);
        let mut own = RunUsage { tool_calls: self.tool_calls.load(Ordering::Relaxed), ..RunUsage::default() };
        for ModelUsage { usage, cost } in models.values() {
            own.model += *usage;
            own.cost += *cost;
        }
        let mut tree = UsageTree { name: Arc::clone(&self.name), calls, own, models, children: Vec::new() };
        let below = children.iter().map(|child| child.tree(levels.saturating_sub(1)));
        if levels > 1 {
            tree.children = merged(below);
        } else {
            below.for_each(|child| absorb(&mut tree, child));
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use llm_do_providers::{Money, Usage};
    use proptest::prelude::*;

    use super::super::Cost;
    use super::*;

    fn used(usage: Usage, cost: Option<Money>) -> ModelUsage {
        ModelUsage { usage, cost: Cost::of_request(cost) }
    }

    fn names(tree: &UsageTree) -> Vec<(&str, u64)> {
        tree.children.iter().map(|child| (&*child.name, child.calls)).collect()
    }

    #[test]
    fn calls_of_one_path_of_names_share_a_node_in_the_order_of_first_use() {
        let main = UsageRecorder::root("main".into());
        for _ in 0..200 {
            main.child("reviewer".into())
                .child("summariser".into())
                .add_request(&"test:a".into(), &used(Usage::default(), None));
            main.child("another".into()).add_tool_call();
        }
        let tree = main.tree();
        assert_eq!((tree.calls, names(&tree)), (1, vec![("reviewer", 200), ("another", 200)]));
        assert_eq!(names(&tree.children[0]), [("summariser", 200)]);
        assert_eq!(tree.total().cost.unpriced_requests, 200);
    }

    #[test]
    fn a_node_of_its_own_is_merged_by_name_in_the_callers_tree() {
        let main = UsageRecorder::root("main".into());
        for _ in 0..3 {
            let worker = main.child_with_own_node("worker".into());
            worker.child_with_own_node("inner".into()).add_tool_call();
            worker.add_request(&"test:a".into(), &used(Usage::of_request(2, 1), None));
            assert_eq!((worker.tree().calls, worker.tree().total().model.input_tokens), (1, 2));
        }
        let tree = main.tree();
        assert_eq!((names(&tree), names(&tree.children[0])), (vec![("worker", 3)], vec![("inner", 3)]));
        assert_eq!((tree.total().model.requests, tree.total().tool_calls, tree.by_model().len()), (3, 3, 1));
    }

    #[test]
    fn a_deep_tree_ends_with_the_sum_of_what_is_below() {
        let mut calls = vec![UsageRecorder::root("main".into())];
        for _ in 0..200 {
            let call = calls[calls.len() - 1].child_with_own_node("worker".into());
            call.add_request(&"test:a".into(), &used(Usage::of_request(2, 1), None));
            calls.push(call);
        }
        let tree = calls[0].tree();
        assert_eq!(tree.total().model.requests, 200);
        let mut last = &tree;
        let mut levels = 1;
        while let Some(child) = last.children.first() {
            (last, levels) = (child, levels + 1);
        }
        assert_eq!((levels, last.own.model.requests, last.calls), (MAX_LEVELS, 152, 1));
        let json = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<UsageTree>(&json).unwrap(), tree);
    }

    #[test]
    fn a_call_that_adds_nothing_is_not_in_the_tree() {
        let main = UsageRecorder::root("main".into());
        assert!(main.child("middle".into()).child("leaf".into()).tree().is_zero());
        main.add_tool_call();
        let tree = main.tree();
        assert_eq!((tree.own.tool_calls, tree.children.len()), (1, 0));
        let unused = UsageRecorder::root("main".into()).tree();
        assert_eq!((&*unused.name, unused.calls, unused.total()), ("main", 0, RunUsage::default()));
    }

    #[test]
    fn concurrent_calls_are_all_counted() {
        let main = UsageRecorder::root("main".into());
        let model: Arc<str> = "test:a".into();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let worker = main.child("worker".into());
                        worker.add_request(&model, &used(Usage::of_request(2, 1), Some(Money::from_cents(1))));
                        worker.add_tool_call();
                    }
                });
            }
        });
        let total = main.tree().total();
        assert_eq!((total.model.requests, total.model.input_tokens, total.tool_calls), (800, 1600, 800));
        assert_eq!((main.tree().children[0].calls, total.cost.known), (800, Money::from_dollars(8)));
    }

    /// A call with its usage, and the calls that it makes.
    #[derive(Clone, Debug)]
    struct Call {
        name: usize,
        tool_calls: u64,
        requests: Vec<(usize, u64, u64, Option<u64>)>,
        calls: Vec<Call>,
    }

    const NAMES: [&str; 3] = ["a", "b", "c"];

    fn call() -> impl Strategy<Value = Call> {
        let request = (0..3_usize, 0..1_000_u64, 0..1_000_u64, prop::option::of(0..1_000_u64));
        let made = (0..3_usize, 0..3_u64, prop::collection::vec(request, 0..4));
        let leaf =
            made.clone().prop_map(|(name, tool_calls, requests)| Call { name, tool_calls, requests, calls: vec![] });
        leaf.prop_recursive(4, 24, 4, move |calls| {
            (made.clone(), prop::collection::vec(calls, 0..4)).prop_map(|((name, tool_calls, requests), calls)| Call {
                name,
                tool_calls,
                requests,
                calls,
            })
        })
    }

    fn add(call: &Call, recorder: &Arc<UsageRecorder>, sum: &mut RunUsage) {
        for _ in 0..call.tool_calls {
            recorder.add_tool_call();
        }
        sum.tool_calls += call.tool_calls;
        for (model, input, output, picodollars) in &call.requests {
            let (usage, cost) =
                (Usage::of_request(*input, *output), picodollars.map(|p| Money::from_picodollars(p.into())));
            recorder.add_request(&NAMES[*model].into(), &used(usage, cost));
            *sum += RunUsage { tool_calls: 0, model: usage, cost: Cost::of_request(cost) };
        }
        for made in &call.calls {
            add(made, &recorder.child(NAMES[made.name].into()), sum);
        }
    }

    fn is_merged(tree: &UsageTree) -> bool {
        let mut names: Vec<_> = tree.children.iter().map(|child| &child.name).collect();
        names.sort();
        names.windows(2).all(|pair| pair[0] != pair[1]) && tree.children.iter().all(is_merged)
    }

    proptest! {
        #[test]
        fn the_total_is_the_sum_of_what_was_added(call in call()) {
            let main = UsageRecorder::root("main".into());
            let mut sum = RunUsage::default();
            add(&call, &main, &mut sum);
            let tree = main.tree();
            prop_assert_eq!(tree.total(), sum);
            prop_assert!(is_merged(&tree));
            let mut models = ModelUsage::default();
            tree.by_model().into_values().for_each(|used| models += used);
            prop_assert_eq!((models.usage, models.cost), (sum.model, sum.cost));
            let workers: RunUsage = tree.by_worker().into_values().sum();
            prop_assert_eq!((workers.model, workers.cost), (sum.model, sum.cost));
            let json = serde_json::to_string(&tree).unwrap();
            prop_assert_eq!(serde_json::from_str::<UsageTree>(&json).unwrap(), tree);
        }
    }
}
