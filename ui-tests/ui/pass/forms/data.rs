//! `#[data]` derives `Debug` too, unless a key leaves it out or a derive adds it.

#![deny(warnings, missing_debug_implementations)]

use std::fmt;

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
    assert_eq!(format!("{:?}", Key { code: "1".to_owned() }), "Key(..)");
}
