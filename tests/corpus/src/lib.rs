//! A corpus of argument types for tests of schemas, each with a tool that takes it.
//!
//! Every tool returns its arguments as one object, so that a call is a round trip.

mod constrained;
mod enums;
mod foreign;
mod recursive;
mod structs;
mod subschemas;
mod tools;

use llm_do::{Registry, Tool};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

pub use self::subschemas::{references, subschemas};

/// One tool of the corpus.
#[derive(Debug)]
pub struct Case {
    /// The tool's registered name.
    pub name: &'static str,
    /// The schema of its arguments in the registry.
    pub schema: Value,
    /// Generates valid arguments, as serde writes them.
    pub values: BoxedStrategy<Value>,
}

/// Returns all tools of the corpus, in the order of the source.
///
/// # Panics
///
/// Panics if the registry is invalid.
#[must_use]
pub fn all() -> Vec<Case> {
    let registry = Registry::collect().expect("a valid registry");
    let case = |(name, values): (&'static str, BoxedStrategy<Value>)| {
        let schema = registry.get(name).expect("every tool of the corpus is linked").parameters().clone();
        Case { name, schema, values }
    };
    tools::all().into_iter().map(case).collect()
}

/// Implements `Arbitrary`, with a strategy or for a struct with arbitrary fields.
macro_rules! arbitrary {
    ($type:ident { $($field:ident),+ }) => {
        arbitrary!($type = $crate::made(|($($field,)+)| $type { $($field),+ }));
    };
    ($type:ty = $strategy:expr) => {
        impl ::proptest::arbitrary::Arbitrary for $type {
            type Parameters = ();
            type Strategy = ::proptest::strategy::BoxedStrategy<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                ::proptest::strategy::Strategy::boxed($strategy)
            }
        }
    };
}
use arbitrary;

/// Returns a strategy for the values that `make` returns for arbitrary input.
fn made<A: Arbitrary + 'static, T: std::fmt::Debug + 'static>(make: fn(A) -> T) -> BoxedStrategy<T> {
    any::<A>().prop_map(make).boxed()
}

/// Returns arguments of a tool whose only parameter is `value`.
fn value_of<T: Serialize>(strategy: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Value> {
    strategy.prop_map(|value| json!({ "value": written(&value) })).boxed()
}

/// Returns arguments of a tool from its argument struct.
fn call_of<A: Arbitrary + 'static, T: Tool>(make: fn(A) -> T) -> BoxedStrategy<Value> {
    any::<A>().prop_map(move |given| written(&make(given))).boxed()
}

fn written<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("a value that serde can serialize")
}
