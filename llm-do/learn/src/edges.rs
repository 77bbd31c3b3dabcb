//! Edges that divide the values of a number into ranges.

/// The depth of the tree of edges by labels.
const DEPTH: u32 = 3;

/// The least number of values on each side of an edge.
const LEAST: usize = 5;

/// The ranges with equal numbers of values.
const RANGES: usize = 8;

/// Returns the edges, in order: those that separate labels best, and some with as many values between any two.
///
/// Each is half-way between two values.
pub(crate) fn edges(values: &mut [(f64, u32)], labels: usize) -> Vec<f64> {
    values.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut edges = Vec::new();
    split(values, labels, DEPTH, &mut edges);
    for range in 1..RANGES {
        let at = values.len() * range / RANGES;
        edges.extend(values.get(at).and_then(|(value, _)| edge_before(values, *value)));
    }
    edges.sort_by(f64::total_cmp);
    edges.dedup();
    edges
}

/// Returns the edge between a value and the next lower one.
fn edge_before(values: &[(f64, u32)], value: f64) -> Option<f64> {
    let at = values.partition_point(|(other, _)| *other < value);
    let below = values.get(at.checked_sub(1)?)?.0;
    Some(f64::midpoint(below, value))
}

fn split(values: &[(f64, u32)], labels: usize, depth: u32, edges: &mut Vec<f64>) {
    let Some(at) = best_split(values, labels).filter(|_| depth > 0) else { return };
    edges.push(f64::midpoint(values[at - 1].0, values[at].0));
    split(&values[..at], labels, depth - 1, edges);
    split(&values[at..], labels, depth - 1, edges);
}

/// Returns where two parts begin with the fewest pairs of different labels in one part, if there are fewer than before.
fn best_split(values: &[(f64, u32)], labels: usize) -> Option<usize> {
    let (mut low, mut high) = (Counts::new(labels), Counts::new(labels));
    for (_, label) in values {
        high.add(*label);
    }
    let mut best = (high.purity() * 1.01, None);
    for at in 1..values.len() {
        let (value, label) = values[at - 1];
        low.add(label);
        high.remove(label);
        let is_edge = value < values[at].0 && at >= LEAST && values.len() - at >= LEAST;
        let purity = low.purity() + high.purity();
        if is_edge && purity > best.0 {
            best = (purity, Some(at));
        }
    }
    best.1
}

/// How often each label occurs.
struct Counts {
    by_label: Vec<u64>,
    all: u64,
    squares: u64,
}

impl Counts {
    fn new(labels: usize) -> Self {
        Self { by_label: vec![0; labels], all: 0, squares: 0 }
    }

    fn add(&mut self, label: u32) {
        let count = &mut self.by_label[label as usize];
        self.squares += 2 * *count + 1;
        *count += 1;
        self.all += 1;
    }

    fn remove(&mut self, label: u32) {
        let count = &mut self.by_label[label as usize];
        *count -= 1;
        self.squares -= 2 * *count + 1;
        self.all -= 1;
    }

    /// The number of values times the chance that two of them have one label.
    fn purity(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.squares as f64 / self.all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::edges;

    #[test]
    fn an_edge_lies_where_the_label_changes() {
        let mut values: Vec<_> = (0..100).map(|at| (f64::from(at), u32::from(at >= 37))).collect();
        assert!(edges(&mut values, 2).contains(&36.5));
    }

    #[test]
    fn one_value_has_no_edges() {
        assert!(edges(&mut [(1.0, 0), (1.0, 1)], 2).is_empty());
    }
}
