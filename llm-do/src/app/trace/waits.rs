//! The times in which calls wait.

use jiff::Timestamp;

use super::call::millis;

/// Times, each with its start and end.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(Vec<(Timestamp, Timestamp)>);

impl Waits {
    pub(super) fn add(&mut self, from: Timestamp, to: Timestamp) {
        if from < to {
            self.0.push((from, to));
        }
    }

    pub(super) fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// Adds more times without a copy of the longer list: it may have all waits of a log, at each level of its calls.
    pub(super) fn append(&mut self, mut others: Self) {
        if others.0.len() > self.0.len() {
            std::mem::swap(self, &mut others);
        }
        self.0.append(&mut others.0);
    }

    /// Sorts the times, and joins those that overlap, as those of concurrent calls do.
    pub(super) fn join(&mut self) {
        self.0.sort_unstable();
        self.0.dedup_by(|(from, to), (_, end)| {
            let overlaps = *from <= *end;
            if overlaps {
                *end = (*end).max(*to);
            }
            overlaps
        });
    }

    /// Returns the milliseconds of joined times.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(from, to)| millis(*from, *to)).sum()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Waits;

    #[test]
    fn overlapping_times_count_once() {
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let mut waits = Waits::default();
        for (from, to) in [(50, 60), (0, 10), (5, 20), (20, 25), (55, 55)] {
            waits.add(at(from), at(to));
        }
        waits.join();
        assert_eq!(waits.total(), 35);
    }
}
