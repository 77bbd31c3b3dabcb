//! Finds few hulls that contain many approved calls and no denied one.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::hull::Hull;
use super::split::{Parts, splits};

/// The minimum number of approved calls from which a rule is made.
const MIN_SHOWN: usize = 10;
/// How often calls are split.
const MAX_SPLITS: u32 = 3;
/// The maximum number of arguments by which calls are split.
const MAX_ARGUMENTS: usize = 8;
/// The maximum number of approved calls of which hulls are made: the first ones.
const MAX_SHOWN: usize = 2_000;

/// A hull, with the number of approved calls from which it was made.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) hull: Hull,
    pub(super) calls: usize,
}

/// The search for hulls of the calls of one tool by one caller.
pub(super) struct Search<'s> {
    denied: Vec<&'s Decision>,
    data: &'s BTreeSet<String>,
    /// The number of hulls that were tried so far.
    pub(super) tried: u64,
}

impl<'s> Search<'s> {
    /// Creates a search for hulls without these denied calls.
    pub(super) fn new(denied: Vec<&'s Decision>, data: &'s BTreeSet<String>) -> Self {
        Self { denied, data, tried: 0 }
    }

    /// Returns the regions of approved calls with the same names of arguments.
    pub(super) fn regions(&mut self, approved: &[&'s Decision]) -> Vec<Region> {
        self.cover(&approved[..approved.len().min(MAX_SHOWN)], MAX_SPLITS)
    }

    fn cover(&mut self, approved: &[&'s Decision], splits_left: u32) -> Vec<Region> {
        if approved.len() < MIN_SHOWN {
            return Vec::new();
        }
        self.tried += 1;
        if let Some(hull) = Hull::of(approved, self.data).filter(|hull| self.has_no_denied(hull)) {
            return vec![Region { hull, calls: approved.len() }];
        }
        let Some(splits_left) = splits_left.checked_sub(1) else { return Vec::new() };
        let mut best: (usize, Vec<Region>) = (0, Vec::new());
        for parts in self.ways(approved) {
            let found: Vec<_> = parts.iter().flat_map(|part| self.cover(part, splits_left)).collect();
            let calls = found.iter().map(|region| region.calls).sum();
            if calls > best.0 || (calls == best.0 && found.len() < best.1.len()) {
                best = (calls, found);
            }
        }
        best.1
    }

    /// Returns the ways to split calls by their arguments.
    fn ways(&self, approved: &[&'s Decision]) -> Vec<Parts<'s>> {
        let names = approved.first().map(|decision| decision.names()).unwrap_or_default();
        names.into_iter().take(MAX_ARGUMENTS).flat_map(|name| splits(approved, &self.denied, name)).collect()
    }

    fn has_no_denied(&self, hull: &Hull) -> bool {
        !self.denied.iter().any(|decision| hull.holds(&decision.arguments))
    }
}
