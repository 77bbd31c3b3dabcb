//! How a token is chosen by how likely it is to come next.

use std::hash::{BuildHasher as _, RandomState};

use fastrand::Rng;

use crate::settings::Settings;

/// How much less likely a token of prose is that was written a moment ago: small models go in circles otherwise.
const REPETITION: f32 = 1.1;

/// How many tokens that moment has.
const MOMENT: usize = 64;

/// Below this, a temperature is none.
pub(super) const COLD: f64 = 1e-7;

/// Chooses tokens.
pub(super) struct Sampler {
    random: Rng,
    temperature: Option<f64>,
    share: f64,
}

impl Sampler {
    /// Returns what chooses as `settings` say.
    pub(super) fn new(settings: &Settings) -> Self {
        let seed = settings.seed.unwrap_or_else(|| RandomState::new().hash_one(()));
        Self {
            random: Rng::with_seed(seed),
            temperature: settings.temperature.filter(|temperature| *temperature >= COLD),
            share: settings.top_p.filter(|share| *share > 0.0).unwrap_or(1.0),
        }
    }

    /// Returns the token to come next: the likeliest, or one by chance if there is a temperature; none if there is none.
    pub(super) fn choose(&mut self, logits: &[f32]) -> Option<u32> {
        let possible = |(_, logit): &(u32, &f32)| !logit.is_nan() && **logit > f32::NEG_INFINITY;
        let mut chances: Vec<(u32, f64)> =
            (0..).zip(logits).filter(possible).map(|(token, logit)| (token, f64::from(*logit))).collect();
        // The first of those that are equal.
        let &(best, highest) = chances.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1))?;
        let Some(temperature) = self.temperature else { return Some(best) };
        for (_, chance) in &mut chances {
            *chance = ((*chance - highest) / temperature).exp();
        }
        Some(self.draw(chances).unwrap_or(best))
    }

    /// Draws one of `chances`, of which the largest are taken that make up the share.
    fn draw(&mut self, mut chances: Vec<(u32, f64)>) -> Option<u32> {
        let total: f64 = chances.iter().map(|(_, chance)| chance).sum();
        chances.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut before = 0.0;
        chances.retain(|(_, chance)| {
            let taken = before < self.share * total;
            before += chance;
            taken
        });
        let mut drawn = self.random.f64() * chances.iter().map(|(_, chance)| chance).sum::<f64>();
        let found = chances.iter().find(|(_, chance)| {
            drawn -= chance;
            drawn < 0.0
        });
        found.map(|(token, _)| *token)
    }
}

/// Makes the tokens less likely that `written` ends with.
pub(super) fn avoid_repetition(logits: &mut [f32], written: &[u32]) {
    let recent: std::collections::BTreeSet<_> = written.iter().rev().take(MOMENT).collect();
    for token in recent {
        if let Some(logit) = usize::try_from(*token).ok().and_then(|place| logits.get_mut(place)) {
            *logit = if *logit >= 0.0 { *logit / REPETITION } else { *logit * REPETITION };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sampler, avoid_repetition};
    use crate::settings::Settings;

    const NEVER: f32 = f32::NEG_INFINITY;

    #[test]
    fn without_a_temperature_the_likeliest_token_is_chosen() {
        let mut sampler = Sampler::new(&Settings::default());
        assert_eq!(sampler.choose(&[0.0, 2.0, NEVER, 2.0, f32::NAN]), Some(1));
    }

    #[test]
    fn a_token_that_may_not_come_is_never_drawn() {
        let mut sampler = Sampler::new(&Settings::new().temperature(100.0).seed(1));
        let drawn: std::collections::BTreeSet<_> =
            (0..200).map(|_| sampler.choose(&[NEVER, 1.0, NEVER, 1.0])).collect();
        assert_eq!(drawn, [Some(1), Some(3)].into());
    }

    #[test]
    fn a_share_leaves_the_unlikely_tokens_out() {
        let mut sampler = Sampler::new(&Settings::new().temperature(1.0).top_p(0.9).seed(1));
        // 49 %, 49 % and 2 %.
        let drawn: std::collections::BTreeSet<_> = (0..200).map(|_| sampler.choose(&[3.2, 0.0, 3.2])).collect();
        assert_eq!(drawn, [Some(0), Some(2)].into());
    }

    #[test]
    fn nothing_is_chosen_where_nothing_may_come() {
        assert_eq!(Sampler::new(&Settings::default()).choose(&[NEVER, f32::NAN]), None);
    }

    #[test]
    fn what_was_written_is_less_likely_to_come_again() {
        let mut logits = [1.1, -1.0, 1.0];
        avoid_repetition(&mut logits, &[0, 1]);
        let differ = |(one, other): (&f32, f32)| (one - other).abs() > 1e-6;
        assert!(!logits.iter().zip([1.0, -1.1, 1.0]).any(differ), "{logits:?}");
    }
}
