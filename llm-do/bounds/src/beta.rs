//! The regularized incomplete beta function.

/// The relative error at which the continued fraction ends.
const PRECISION: f64 = 1e-15;

/// Stands for a denominator of zero in Lentz's method.
const TINY: f64 = 1e-300;

/// Returns `I_x(a, b)`, for `a` and `b` above 0 and `x` from 0 to 1.
pub(crate) fn regularized(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) { tail(a, b, x) } else { 1.0 - tail(b, a, 1.0 - x) }
}

fn tail(a: f64, b: f64, x: f64) -> f64 {
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let ln_factor = a * x.ln() + b * (-x).ln_1p() - ln_beta;
    (ln_factor.exp() * fraction(a, b, x) / a).min(1.0)
}

/// The continued fraction of the function by Lentz's method: about `sqrt(max(a, b))` steps.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let steps = 100.0 + 10.0 * a.max(b).sqrt();
    let mut upper = 1.0;
    let mut lower = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = lower;
    let mut step = 1.0;
    while step <= steps {
        let last = a + 2.0 * step;
        let even = step * (b - step) * x / ((last - 1.0) * last);
        let odd = -(a + step) * (a + b + step) * x / (last * (last + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            lower = 1.0 / nonzero(1.0 + coefficient * lower);
            upper = nonzero(1.0 + coefficient / upper);
            change = upper * lower;
            value *= change;
        }
        if (change - 1.0).abs() <= PRECISION {
            break;
        }
        step += 1.0;
    }
    value
}

fn nonzero(value: f64) -> f64 {
    if value.abs() < TINY { TINY } else { value }
}

#[cfg(test)]
mod tests {
    use super::regularized;

    #[test]
    fn it_is_the_sum_of_a_binomial_tail() {
        for (trials, events, chance) in [(5_u32, 2_u32, 0.3_f64), (40, 39, 0.9), (60, 1, 0.01)] {
            let exact: f64 = (events..=trials).map(|hits| binomial(trials, hits, chance)).sum();
            let computed = regularized(f64::from(events), f64::from(trials - events) + 1.0, chance);
            assert!((exact - computed).abs() < 1e-12, "{trials} {events} {chance}: {exact} {computed}");
        }
    }

    fn binomial(trials: u32, hits: u32, chance: f64) -> f64 {
        let choices: f64 = (0..hits).map(|at| f64::from(trials - at) / f64::from(at + 1)).product();
        choices * chance.powf(f64::from(hits)) * (1.0 - chance).powf(f64::from(trials - hits))
    }

    #[test]
    fn it_converges_for_large_parameters() {
        for size in [1e4, 1e6, 1e8] {
            assert!((regularized(size, size, 0.5) - 0.5).abs() < 1e-6, "{size}");
        }
    }
}
