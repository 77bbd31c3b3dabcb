//! The labels of a value are never below the join of what it was computed from by calls: live, resumed and replayed.

use llm_do::approval::{Decision, Label, Labels, Policy, Rule};
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use llm_do::{Value, json};
use proptest::prelude::*;

use super::super::Scripted;

/// Return a text of the program.
#[tool(effect = read_only)]
fn leaf_of_program() -> String {
    "a text of the program".into()
}

/// Return a number that anyone has chosen.
#[tool(effect = read_only)]
fn leaf_number() -> u32 {
    812
}

/// Return a text of anyone.
#[tool(effect = read_only)]
fn leaf_of_anyone() -> String {
    "a text of anyone".into()
}

/// Return a text that is private.
#[tool(effect = read_only)]
fn leaf_private() -> String {
    "a private text".into()
}

/// Fail with a text of anyone.
#[tool(effect = read_only)]
fn leaf_error() -> Result<String> {
    Err("an error of anyone".into())
}

const LEAVES: [&str; 5] = ["leaf_of_program", "leaf_number", "leaf_of_anyone", "leaf_private", "leaf_error"];

/// Returns the texts of a tree: each node is the name of a leaf, or a list of nodes.
#[tool(approval = pre_approved)]
async fn grow_tree(ctx: &CallContext, tree: String) -> Result<String> {
    let nodes: Vec<Value> = serde_json::from_str(&tree)?;
    let mut texts = Vec::new();
    for node in nodes {
        let result = match node.as_str() {
            Some(leaf) => ctx.call_tool(leaf, json!({})).await,
            None => ctx.call_tool("grow_tree", json!({ "tree": node.to_string() })).await,
        };
        texts.push(result.map_or_else(|error| error.to_string(), |value| value.to_string()));
    }
    Ok(texts.join(" "))
}

/// Put a text down.
#[tool(effect = destructive)]
fn put_down(text: String) {
    let _ = text;
}

/// Grows a tree, and puts its text down.
#[entry(toolsets = [grow_tree, put_down])]
async fn grow_and_put_down(ctx: &CallContext<grow_and_put_down>, tree: String) -> Result<()> {
    let text = ctx.call(grow_tree { tree }).await?;
    Ok(ctx.call(put_down { text }).await?)
}

fn policy() -> Policy {
    let policy = Policy::new().source("leaf_number", Label::Untrusted).source("leaf_of_anyone", Label::Untrusted);
    policy.source("leaf_error", Label::Untrusted).private("leaf_private").tool("put_down", Rule::PreApproved)
}

/// Returns the labels of a leaf, or the join of those below a node.
fn expected(node: &Value) -> Labels {
    let Some(leaf) = node.as_str() else {
        return node.as_array().unwrap().iter().map(expected).fold(Labels::default(), Labels::join);
    };
    let integrity = match leaf {
        "leaf_number" => Label::Bounded,
        "leaf_of_anyone" | "leaf_error" => Label::Untrusted,
        _ => Label::Trusted,
    };
    let mut labels = Labels::public(integrity);
    labels.is_private = leaf == "leaf_private";
    labels
}

/// Returns the tree of a call, and the labels of its result; and whether the text may be put down without an approval.
async fn grown(tree: &Value, journal: &MemoryJournal) -> (Vec<(Value, Labels)>, bool) {
    let (approver, recorder) = (Scripted::new([Decision::undecided("later")]), Recorder::new());
    let builder = Runtime::builder().policy(policy()).journal(journal.clone()).approver(approver.clone());
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    let result = runtime.run(grow_and_put_down { tree: tree.to_string() }).await;
    assert_eq!(result.is_ok(), approver.asked().is_empty(), "{result:?}");
    let events = recorder.events();
    let started = |call: u64| {
        events.iter().find_map(|event| match &event.kind {
            EventKind::CallStarted { arguments, .. } if event.call == call => Some(arguments.value()["tree"].clone()),
            _ => None,
        })
    };
    let finished = events.iter().filter(|event| &*event.name == "grow_tree").filter_map(|event| match &event.kind {
        EventKind::CallFinished { labels, .. } => {
            let tree: Value = serde_json::from_str(started(event.call)?.as_str()?).ok()?;
            Some((tree, *labels))
        }
        _ => None,
    });
    (finished.collect(), result.is_ok())
}

fn trees() -> impl Strategy<Value = Value> {
    let leaf = proptest::sample::select(LEAVES.to_vec()).prop_map(Value::from);
    let node = leaf.prop_recursive(3, 12, 4, |inner| proptest::collection::vec(inner, 1..4).prop_map(Value::from));
    proptest::collection::vec(node, 1..4).prop_map(Value::from)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn labels_are_never_below_what_a_value_is_made_of(tree in trees()) {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let journal = MemoryJournal::new();
        let (live, is_free) = tokio.block_on(grown(&tree, &journal));
        prop_assert!(!live.is_empty());
        for (tree, labels) in &live {
            let join = expected(tree);
            prop_assert_eq!(labels.join(join), *labels, "{} of {}", json!(labels), tree);
        }
        let join = expected(&tree);
        let is_trusted = join.integrity != Label::Untrusted && !join.is_private;
        prop_assert_eq!(is_free, is_trusted);
        // The root's tree is recorded, and none below it runs again.
        let (again, is_free_again) = tokio.block_on(grown(&tree, &journal.replayed()));
        prop_assert_eq!(is_free_again, is_free);
        let root = |calls: &[(Value, Labels)]| calls.iter().find(|(own, _)| *own == tree).map(|(_, labels)| *labels);
        if !is_free {
            prop_assert_eq!(root(&again), root(&live));
        }
    }
}
