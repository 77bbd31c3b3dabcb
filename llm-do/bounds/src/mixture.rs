//! Weighted sums of capitals.

/// Returns the logarithm of the mean of `exp(logarithm)`, weighted: items are `(weight, logarithm)`.
pub(crate) fn log_sum(items: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let most = items.clone().map(|(_, logarithm)| logarithm).fold(f64::NEG_INFINITY, f64::max);
    let weights: f64 = items.clone().map(|(weight, _)| weight).sum();
    let sum: f64 = items.map(|(weight, logarithm)| weight * (logarithm - most).exp()).sum();
    most + (sum / weights).ln()
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^52")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}
