//! The call written by hand: a lookup in a `HashMap`, serde, and the function.

use std::collections::HashMap;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;

use crate::{ARGUMENTS, TOOL};

/// The arguments as a model writes them.
#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
    note: Option<String>,
}

/// The result.
#[derive(Serialize)]
struct Sum {
    sum: i64,
}

fn add(Add { a, b, note }: Add) -> Sum {
    black_box(note);
    Sum { sum: a + b }
}

type Function = fn(&str) -> serde_json::Result<String>;
type Called<'a> = Pin<Box<dyn Future<Output = serde_json::Result<String>> + 'a>>;

fn call(arguments: &str) -> serde_json::Result<String> {
    serde_json::to_string(&add(serde_json::from_str(arguments)?))
}

fn call_async(arguments: &str) -> Called<'_> {
    Box::pin(async move { call(arguments) })
}

/// Returns a hundred names for one function.
fn table<F: Copy>(function: F) -> HashMap<String, F> {
    (0..100).map(|n| (format!("add{n:02}"), function)).collect()
}

pub(crate) fn run(times: u32) {
    let table = table(call as Function);
    for _ in 0..times {
        black_box(table[black_box(TOOL)](black_box(ARGUMENTS)).expect("a sum"));
    }
}

pub(crate) fn run_async(times: u32) {
    let tokio = Builder::new_current_thread().build().expect("a tokio runtime");
    let table = table(call_async as fn(&'static str) -> Called<'static>);
    tokio.block_on(async {
        for _ in 0..times {
            black_box(table[black_box(TOOL)](black_box(ARGUMENTS)).await.expect("a sum"));
        }
    });
}

/// Returns what one call returns.
#[cfg(test)]
pub(crate) fn result() -> String {
    table(call as Function)[TOOL](ARGUMENTS).expect("a sum")
}
