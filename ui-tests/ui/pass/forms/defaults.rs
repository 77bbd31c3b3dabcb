//! A default can be any expression, and is the default of the struct too.

#![deny(warnings)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use llm_do::{data, tool};

const LIMIT: usize = 3;

static NAME: &str = "a";

/// A level.
#[data]
#[derive(Debug, Default, PartialEq, Clone, Copy)]
enum Level {
    #[default]
    Low,
    High,
}

/// A range.
#[data]
#[derive(Debug, Default, PartialEq)]
struct Range {
    from: u32,
    to: u32,
}

fn made() -> Vec<String> {
    vec![NAME.to_owned()]
}

/// Ping.
#[tool]
fn ping(
    #[arg(default)] a: u8,
    #[arg(default = -3)] b: i8,
    #[arg(default = LIMIT * 2)] c: usize,
    #[arg(default = "text")] d: String,
    #[arg(default = ".")] e: PathBuf,
    #[arg(default = "c")] f: Box<str>,
    #[arg(default = Some(Level::High))] g: Option<Level>,
    #[arg(default = Level::High)] h: Level,
    #[arg(default = made())] i: Vec<String>,
    #[arg(default = vec![1, 2])] j: Vec<u8>,
    #[arg(default = Range { from: 1, ..Default::default() })] k: Range,
    #[arg(default = {
        let number = 3;
        number + 1
    })]
    l: u64,
    #[arg(default = if LIMIT > 2 { 'a' } else { 'b' })] m: char,
    #[arg(default = (|| 2.5)())] n: f64,
    #[arg(default = [0; 2])] o: [u8; 2],
    #[arg(default = (1, "b".to_owned()))] p: (u8, String),
    #[arg(default = BTreeMap::new())] q: BTreeMap<String, u8>,
    #[arg(default = NAME.len())] r: usize,
    #[arg(default = u32::MAX)] s: u32,
    #[arg(default = "path")] t: &std::path::Path,
    #[arg(default = "str")] u: &str,
    #[arg(default = vec![])] v: &[u8],
) {
    drop((a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v));
}

fn main() {
    let ping { a, b, c, d, g, h, k, l, m, t, .. } = ping::default();
    assert_eq!((a, b, c, d.as_str(), l, m), (0, -3, 6, "text", 4, 'a'));
    assert_eq!((g, h, k), (Some(Level::High), Level::High, Range { from: 1, to: 0 }));
    assert_eq!(t, PathBuf::from("path"));
    assert_eq!(Level::default(), Level::Low);
}
