//! Sampling of the next token from logits.

use std::hash::{BuildHasher as _, RandomState};

use fastrand::Rng;

use crate::settings::Settings;

/// The repetition penalty: without one, small models loop.
const REPETITION_PENALTY: f32 = 1.1;

/// The number of recent tokens that are penalized.
const REPETITION_WINDOW: usize = 64;

/// Temperatures below this are treated as unset.
pub(super) const MIN_TEMPERATURE: f64 = 1e-7;

/// Samples tokens.
pub(super) struct Sampler {
    random: Rng,
    temperature: Option<f64>,
    top_p: f64,
}

impl Sampler {
    /// Creates a sampler with the temperature, `top_p` and seed of `settings`.
    pub(super) fn new(settings: &Settings) -> Self {
        let seed = settings.seed.unwrap_or_else(|| RandomState::new().hash_one(()));
        Self {
            random: Rng::with_seed(seed),
            temperature: settings.temperature.filter(|temperature| *temperature >= MIN_TEMPERATURE),
            top_p: settings.top_p.filter(|top_p| *top_p > 0.0).unwrap_or(1.0),
        }
    }

    /// Returns the most likely token, or a random one if a temperature is set; `None` if every logit is NaN or
    /// negative infinity.
    pub(super) fn sample(&mut self, logits: &[f32]) -> Option<u32> {
        let possible = |(_, logit): &(u32, &f32)| !logit.is_nan() && **logit > f32::NEG_INFINITY;
        let mut candidates: Vec<(u32, f64)> =
            (0..).zip(logits).filter(possible).map(|(token, logit)| (token, f64::from(*logit))).collect();
        // The first of equal logits.
        let &(best, highest) = candidates.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1))?;
        let Some(temperature) = self.temperature else { return Some(best) };
        for (_, chance) in &mut candidates {
            *chance = ((*chance - highest) / temperature).exp();
        }
        Some(self.draw(candidates).unwrap_or(best))
    }

    /// Draws one of the most likely `candidates` whose probabilities sum up to `top_p`.
    fn draw(&mut self, mut candidates: Vec<(u32, f64)>) -> Option<u32> {
        let total: f64 = candidates.iter().map(|(_, chance)| chance).sum();
        candidates.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut cumulative = 0.0;
        candidates.retain(|(_, chance)| {
            let kept = cumulative < self.top_p * total;
            cumulative += chance;
            kept
        });
        let mut drawn = self.random.f64() * candidates.iter().map(|(_, chance)| chance).sum::<f64>();
        let found = candidates.iter().find(|(_, chance)| {
            drawn -= chance;
            drawn < 0.0
        });
        found.map(|(token, _)| *token)
    }
}

/// Reduces the logits of the tokens that `output` ends with.
pub(super) fn penalize_repetition(logits: &mut [f32], output: &[u32]) {
    let recent: std::collections::BTreeSet<_> = output.iter().rev().take(REPETITION_WINDOW).collect();
    for token in recent {
        if let Some(logit) = usize::try_from(*token).ok().and_then(|index| logits.get_mut(index)) {
            *logit = if *logit >= 0.0 { *logit / REPETITION_PENALTY } else { *logit * REPETITION_PENALTY };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sampler, penalize_repetition};
    use crate::settings::Settings;

    const MASKED: f32 = f32::NEG_INFINITY;

    #[test]
    fn without_a_temperature_the_most_likely_token_is_sampled() {
        let mut sampler = Sampler::new(&Settings::default());
        assert_eq!(sampler.sample(&[0.0, 2.0, MASKED, 2.0, f32::NAN]), Some(1));
    }

    #[test]
    fn a_masked_token_is_never_drawn() {
        let mut sampler = Sampler::new(&Settings::new().temperature(100.0).seed(1));
        let drawn: std::collections::BTreeSet<_> =
            (0..200).map(|_| sampler.sample(&[MASKED, 1.0, MASKED, 1.0])).collect();
        assert_eq!(drawn, [Some(1), Some(3)].into());
    }

    #[test]
    fn top_p_excludes_unlikely_tokens() {
        let mut sampler = Sampler::new(&Settings::new().temperature(1.0).top_p(0.9).seed(1));
        // 49 %, 49 % and 2 %.
        let drawn: std::collections::BTreeSet<_> = (0..200).map(|_| sampler.sample(&[3.2, 0.0, 3.2])).collect();
        assert_eq!(drawn, [Some(0), Some(2)].into());
    }

    #[test]
    fn no_token_is_sampled_if_all_are_masked() {
        assert_eq!(Sampler::new(&Settings::default()).sample(&[MASKED, f32::NAN]), None);
    }

    #[test]
    fn recent_tokens_are_penalized() {
        let mut logits = [1.1, -1.0, 1.0];
        penalize_repetition(&mut logits, &[0, 1]);
        let differ = |(one, other): (&f32, f32)| (one - other).abs() > 1e-6;
        assert!(!logits.iter().zip([1.0, -1.1, 1.0]).any(differ), "{logits:?}");
    }
}
