//! Compares the calls of two logs.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::Trace;
use super::call::{Call, Ending};
use super::figures::Figures;

/// How a call differs between two logs, with the calls below it.
#[derive(Debug, Serialize)]
#[doc(hidden)]
pub struct Difference {
    pub(crate) name: String,
    /// The 1-based number of the call among those of the same name and caller.
    pub(crate) number: usize,
    pub(crate) kind: Kind,
    /// The changes of a call that both logs have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Measured>,
    pub(crate) calls: Vec<Self>,
}

/// Which of the two logs has a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Added,
    Removed,
    Changed,
    Same,
}

/// A part of a call that differs.
#[derive(Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) part: &'static str,
    pub(crate) before: Value,
    pub(crate) after: Value,
}

/// The usage of a call and those below it.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) elapsed_ms: u64,
    pub(crate) waiting_ms: u64,
    pub(crate) total: Figures,
}

/// Returns how each call of `after` differs from the call of `before` with the same callers, name and order.
#[doc(hidden)]
#[must_use]
pub fn compare(before: &Trace, after: &Trace) -> Vec<Difference> {
    below(Some((before, &before.roots)), Some((after, &after.roots)))
}

type Calls<'a> = Option<(&'a Trace, &'a [usize])>;

/// Compares the calls of one caller: those that both have in the order of the second log, each after the removed calls
/// before it.
fn below(before: Calls<'_>, after: Calls<'_>) -> Vec<Difference> {
    let (left, right) = (numbered(before), numbered(after));
    let places: HashMap<_, _> = left.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
    let kept: HashSet<_> = right.iter().map(|(key, _)| *key).collect();
    let (mut differences, mut next) = (Vec::new(), 0);
    for (key, call) in &right {
        if let Some(place) = places.get(key) {
            while next < *place {
                if !kept.contains(&left[next].0) {
                    differences.push(difference(left[next].0, Some(left[next].1), None));
                }
                next += 1;
            }
            next = next.max(place + 1);
            differences.push(difference(*key, Some(left[*place].1), Some(*call)));
        } else {
            differences.push(difference(*key, None, Some(*call)));
        }
    }
    let removed = left.iter().skip(next).filter(|(key, _)| !kept.contains(key));
    differences.extend(removed.map(|(key, call)| difference(*key, Some(*call), None)));
    differences
}

type Key<'a> = (&'a str, usize);
type Located<'a> = (&'a Trace, &'a Call);

/// Numbers calls of the same name.
fn numbered(calls: Calls<'_>) -> Vec<(Key<'_>, Located<'_>)> {
    let Some((trace, places)) = calls else { return Vec::new() };
    let mut numbers = HashMap::new();
    let numbered = places.iter().map(|place| {
        let call = &trace.calls[*place];
        let number = numbers.entry(&*call.name).or_insert(0);
        *number += 1;
        ((&*call.name, *number), (trace, call))
    });
    numbered.collect()
}

fn difference(key: Key<'_>, before: Option<Located<'_>>, after: Option<Located<'_>>) -> Difference {
    let calls = below(children_of(before), children_of(after));
    let changes = match (before, after) {
        (Some((_, before)), Some((_, after))) => changes(before, after),
        _ => Vec::new(),
    };
    let kind = match (before, after) {
        (None, _) => Kind::Added,
        (_, None) => Kind::Removed,
        _ if changes.is_empty() && calls.iter().all(|call| call.kind == Kind::Same) => Kind::Same,
        _ => Kind::Changed,
    };
    let (before, after) = (before.map(measured), after.map(measured));
    Difference { name: key.0.to_owned(), number: key.1, kind, changes, before, after, calls }
}

fn children_of(call: Option<Located<'_>>) -> Calls<'_> {
    call.map(|(trace, call)| (trace, &*call.children))
}

fn measured((_, call): Located<'_>) -> Measured {
    Measured { elapsed_ms: call.elapsed(), waiting_ms: call.waiting(), total: call.total }
}

/// Returns the changes of a call itself.
fn changes(before: &Call, after: &Call) -> Vec<Change> {
    let parts = [
        ("arguments", before.arguments.clone(), after.arguments.clone()),
        ("outcome", outcome(before), outcome(after)),
        ("model", model(before), model(after)),
        ("requests", before.requests.len().into(), after.requests.len().into()),
        ("approvals", decisions(before), decisions(after)),
    ];
    let differing = parts.into_iter().filter(|(_, before, after)| before != after);
    differing.map(|(part, before, after)| Change { part, before, after }).collect()
}

fn outcome(call: &Call) -> Value {
    match &call.ending {
        Ending::Result(value) => value.clone(),
        Ending::Unfinished => "not finished".into(),
        Ending::Error(error) => json!({ "error": error }),
        Ending::Refused(error) => json!({ "refused": error }),
        Ending::Planned(text) => json!({ "planned": text }),
    }
}

fn model(call: &Call) -> Value {
    call.requests.last().map(|request| request.model.to_string()).into()
}

fn decisions(call: &Call) -> Value {
    let decided = call.approvals.iter().filter_map(|approval| approval.decided.as_ref());
    decided.map(|decided| Value::from(if decided.approved { "approved" } else { "denied" })).collect()
}
