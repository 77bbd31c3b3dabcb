//! A type without JSON inside another is reported with the type of the parameter.

#![allow(unused)]

use std::collections::{BTreeMap, HashMap};

use llm_do::{entry, tool, worker};

struct Opaque;

#[derive(PartialEq, Eq, Hash)]
struct Key;

/// Ping.
#[tool]
fn ping(list: Vec<Opaque>, maybe: Option<Opaque>, slice: &[Opaque]) {}

/// Pong.
#[tool]
fn pong(map: HashMap<Key, u8>, values: BTreeMap<String, Opaque>, pair: (u8, Opaque), array: [Opaque; 2]) {}

#[entry]
fn start(result: Result<Opaque, String>, boxed: Box<Opaque>) {}

fn main() {}
