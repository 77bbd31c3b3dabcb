//! Types of serde, schemars and `#[data]` are argument types.

#![deny(warnings)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::num::NonZeroU8;
use std::sync::Arc;
use std::time::Duration;

use llm_do::{Value, data, tool};

/// Metres.
#[data]
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Metres(u32);

/// A unit.
#[data]
struct Nothing;

/// A shape.
#[data]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// Round.
    Circle {
        radius: f64,
    },
    /// Square.
    Square {
        side: f64,
    },
    Point,
}

/// A tree.
#[data]
struct Tree<T> {
    value: T,
    children: Vec<Tree<T>>,
}

/// Numbers and texts.
#[tool]
fn scalars(a: bool, b: u8, c: i128, d: f32, e: char, f: String, g: usize, h: NonZeroU8, i: Duration, j: IpAddr) {
    drop((a, b, c, d, e, f, g, h, i, j));
}

/// Collections.
#[tool]
fn collections(
    a: Vec<u8>,
    b: HashMap<String, Vec<Option<u8>>>,
    c: BTreeMap<u32, Metres>,
    d: HashSet<Metres>,
    e: BTreeSet<String>,
    f: VecDeque<u8>,
    g: [u8; 3],
    h: (u8, String),
    i: Box<[u8]>,
) {
    drop((a, b, c, d, e, f, g, h, i));
}

/// Custom types.
#[tool]
fn own(
    a: Metres,
    b: Nothing,
    c: Shape,
    d: Tree<Shape>,
    e: Box<Tree<u8>>,
    f: Arc<str>,
    g: Option<Arc<Metres>>,
    h: Value,
    i: (),
) {
    drop((a, b, c, d, e, f, g, h, i));
}

fn main() {
    own(
        Metres(1),
        Nothing,
        Shape::Circle { radius: 1.0 },
        Tree { value: Shape::Square { side: 2.0 }, children: vec![] },
        Box::new(Tree { value: 1, children: vec![] }),
        "a".into(),
        None,
        Value::Null,
        (),
    );
    let _ = Shape::Point;
}
