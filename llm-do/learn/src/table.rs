//! Features of one kind, by name.

use foldhash::HashMap;

/// When this number of features is counted, those of a single case are forgotten.
const MAX_COUNTED: usize = 2_000_000;

/// What stands around a name in a file: quotes, brackets, spaces and the number of cases.
const NAME: usize = 20;

/// In how many cases each feature occurs.
#[derive(Default)]
pub(crate) struct Counter {
    /// The number of cases, and the last of them.
    counts: HashMap<Box<str>, (u32, u32)>,
}

impl Counter {
    /// Counts a feature of a case; cases come one after the other.
    pub(crate) fn add(&mut self, name: &str, case: u32) {
        if let Some((count, last)) = self.counts.get_mut(name) {
            *count += u32::from(*last != case);
            *last = case;
            return;
        }
        self.counts.insert(name.into(), (1, case));
        if self.counts.len() > MAX_COUNTED {
            self.counts.retain(|_, (count, _)| *count > 1);
        }
    }

    pub(crate) fn count(&self, name: &str) -> u32 {
        self.counts.get(name).map_or(0, |(count, _)| *count)
    }

    /// Returns the features of at least some cases, at most `most` of them, the frequent ones first.
    pub(crate) fn frequent(self, least: u32, most: usize) -> Vec<(Box<str>, u32)> {
        let counts = self.counts.into_iter().map(|(name, (count, _))| (name, count));
        let mut frequent: Vec<_> = counts.filter(|(_, count)| *count >= least).collect();
        frequent.sort_unstable_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        frequent.truncate(most);
        frequent
    }
}

/// The rows of features in the weights, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table(HashMap<Box<str>, u32>);

impl Table {
    pub(crate) fn row(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    /// Adds a feature; returns whether it is new.
    pub(crate) fn add(&mut self, name: Box<str>, row: u32) -> bool {
        self.0.insert(name, row).is_none()
    }

    /// Returns the features by name.
    pub(crate) fn sorted(&self) -> Vec<(&str, u32)> {
        let mut rows: Vec<_> = self.0.iter().map(|(name, row)| (name.as_ref(), *row)).collect();
        rows.sort_unstable();
        rows
    }

    /// Returns about how many bytes the features take in a file, without their weights.
    pub(crate) fn bytes(&self) -> usize {
        self.0.keys().map(|name| name.len() + NAME).sum()
    }
}
