//! `#[data]` derives `Debug` too, unless a key leaves it out or a derive adds it.

#![deny(warnings, missing_debug_implementations)]

use std::fmt;

use llm_do::context::Partial;
use llm_do::{data, tool};

/// A page of items.
#[data]
pub struct Page<T> {
    items: Vec<T>,
}

#[data]
enum Level {
    Low,
    High(u8),
}

#[data()]
#[derive(Clone, Debug, PartialEq)]
struct Range {
    from: u32,
}

#[data(debug = true)]
struct Marked {
    range: Range,
}

#[data(debug = false)]
struct Key {
    code: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(..)")
    }
}

/// Has no `Debug`.
#[data(debug = false)]
struct Silent {
    level: u8,
}

#[data]
#[cfg(any())]
struct Absent {
    level: Unknown,
}

/// A tree.
#[data]
#[serde(rename_all = "camelCase")]
struct Tree {
    #[cfg(any())]
    absent: Unknown,
    r#type: Level,
    inner_trees: Vec<Self>,
    parent: Option<Box<Self>>,
}

#[data]
struct Nothing {}

/// The fields of a struct arrive one by one; an item of a list is a part too.
fn levels(tree: &Partial<Tree>) -> Vec<Option<Level>> {
    let fields = tree.fields();
    let parent = fields.parent.some().and_then(|parent| parent.unboxed().fields().r#type.get());
    fields.inner_trees.items().map(|inner| inner.fields().r#type.get()).chain([fields.r#type.get(), parent]).collect()
}

/// Ping.
#[tool]
fn ping(level: Level, range: Range, key: Key, silent: Silent, marked: Marked) -> Page<u8> {
    let shown = format!("{level:?} {range:?} {key:?} {marked:?}");
    Page { items: vec![silent.level, u8::from(shown.is_empty())] }
}

fn main() {
    let page = ping(
        Level::High(3),
        Range { from: 1 },
        Key { code: String::new() },
        Silent { level: 4 },
        Marked { range: Range { from: 2 } },
    );
    assert_eq!(format!("{page:?} {:?}", Level::Low), "Page { items: [4, 0] } Low");
    let _: (fn(&Partial<Tree>) -> Vec<Option<Level>>, fn(&Nothing) -> usize) = (levels, size_of_val);
    assert_eq!(format!("{:?}", Key { code: "1".to_owned() }), "Key(..)");
}
