//! The times in which calls work and wait.

use jiff::Timestamp;

use super::call::millis;

/// Times, each with its start and end.
#[derive(Clone, Debug, Default)]
pub(super) struct Times(Vec<(Timestamp, Timestamp)>);

impl Times {
    pub(super) fn add(&mut self, from: Timestamp, to: Timestamp) {
        if from < to {
            self.0.push((from, to));
        }
    }

    pub(super) fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// Appends times without copying the longer list, which may contain all times of a log, at each level of its calls.
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

    /// Removes the times after `end` from joined times.
    pub(super) fn clip(&mut self, end: Timestamp) {
        while self.0.last().is_some_and(|(from, _)| *from >= end) {
            self.0.pop();
        }
        if let Some((_, to)) = self.0.last_mut() {
            *to = (*to).min(end);
        }
    }

    /// Returns the total of joined times in milliseconds.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|(from, to)| millis(*from, *to)).sum()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Times;

    #[test]
    fn overlapping_times_count_once() {
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let mut times = Times::default();
        for (from, to) in [(50, 60), (0, 10), (5, 20), (20, 25), (55, 55)] {
            times.add(at(from), at(to));
        }
        times.join();
        assert_eq!(times.total(), 35);
        times.clip(at(52));
        assert_eq!(times.total(), 27);
        times.clip(at(50));
        assert_eq!(times.total(), 25);
    }
}
