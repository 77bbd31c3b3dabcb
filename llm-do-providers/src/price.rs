//! What models cost.

// The table is ours: crates that carry one (llm-budget, llm-cost-cap, aicost, openai-cost, gemini-cost; as of 2026-11)
// count in floats and give no source beside a figure. The package genai-prices is kept better than any, but for Python
// and JavaScript only; most figures of `prices.json` were read in it.

mod file;
mod money;
mod table;

pub use self::money::{Money, MoneyError};
pub use self::table::{PriceEntry, PriceTable, PriceTableError};
use crate::usage::Usage;

/// What a model costs, in US dollars for a million tokens.
///
/// # Examples
///
/// ```
/// # use llm_do_providers as llm_do;
/// use llm_do::{Money, Price, Usage};
/// let long = Price::per_million(Money::from_dollars(4), Money::from_dollars(15));
/// let price = Price::per_million(Money::from_dollars(2), Money::from_dollars(10))
///     .cached_input(Money::from_cents(20))
///     .above(272_000, long);
/// assert_eq!(price.cost(&Usage::of_request(1_000, 100)), "0.003".parse()?);
/// assert_eq!(price.cost(&Usage::of_request(300_000, 100)), "1.2015".parse()?);
/// # Ok::<_, llm_do_providers::MoneyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// Of tokens read.
    pub input: Money,
    /// Of tokens read from the provider's cache; `None`: the same as of others.
    pub cached_input: Option<Money>,
    /// Of tokens written to the provider's cache, in place of the price of tokens read; `None`: the same.
    pub cache_write: Option<Money>,
    /// Of tokens of audio read; `None`: the same as of others.
    pub audio_input: Option<Money>,
    /// Of tokens of audio read from the provider's cache; `None`: the same as of others from there.
    pub cached_audio_input: Option<Money>,
    /// Of tokens written, reasoning included.
    pub output: Money,
    /// The prices of long requests, each with the input tokens above which it holds.
    steps: Vec<(u64, Price)>,
}

impl Price {
    /// Returns the price of a million input and of a million output tokens, cached or not, however long the request.
    #[must_use]
    pub const fn per_million(input: Money, output: Money) -> Self {
        let (audio_input, cached_audio_input) = (None, None);
        Self {
            input,
            cached_input: None,
            cache_write: None,
            audio_input,
            cached_audio_input,
            output,
            steps: Vec::new(),
        }
    }

    /// Sets the price of input that the provider has in its cache. Default: the price of input.
    #[must_use]
    pub fn cached_input(self, price: Money) -> Self {
        Self { cached_input: Some(price), ..self }
    }

    /// Sets the price of input that the provider puts into its cache. Default: the price of input.
    #[must_use]
    pub fn cache_write(self, price: Money) -> Self {
        Self { cache_write: Some(price), ..self }
    }

    /// Sets the price of input of audio. Default: the price of input.
    #[must_use]
    pub fn audio_input(self, price: Money) -> Self {
        Self { audio_input: Some(price), ..self }
    }

    /// Sets the price of input of audio that the provider has in its cache. Default: the price of cached input.
    #[must_use]
    pub fn cached_audio_input(self, price: Money) -> Self {
        Self { cached_audio_input: Some(price), ..self }
    }

    /// Sets the price of all tokens of a request that reads more than `tokens` tokens. Default: the same price.
    #[must_use]
    pub fn above(mut self, tokens: u64, price: Self) -> Self {
        self.steps.push((tokens, price));
        self.steps.sort_by_key(|(tokens, _)| *tokens);
        self
    }

    /// Returns what one request costs.
    ///
    /// It is one request's usage that counts, since a long request may have another price; where one answer took
    /// several, they are taken to be of a length. Cached tokens and audio are part of the input, reasoning is part of the
    /// output, as in [`Usage`].
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Money {
        let price = self.at(usage.input_tokens / usage.requests.max(1));
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let kept = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let fresh = usage.input_tokens - cached - kept;
        let cached_audio = usage.cached_audio_tokens.min(cached);
        let audio = usage.audio_tokens.saturating_sub(cached_audio).min(fresh);
        let cached_input = price.cached_input.unwrap_or(price.input);
        Money::of_tokens(&[
            (fresh - audio, price.input),
            (audio, price.audio_input.unwrap_or(price.input)),
            (cached - cached_audio, cached_input),
            (cached_audio, price.cached_audio_input.unwrap_or(cached_input)),
            (kept, price.cache_write.unwrap_or(price.input)),
            (usage.output_tokens, price.output),
        ])
    }

    /// The price of a request that reads so many tokens.
    fn at(&self, input_tokens: u64) -> &Self {
        let step = self.steps.iter().rev().find(|(above, _)| input_tokens > *above);
        step.map_or(self, |(_, price)| price.at(input_tokens))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Money, Price};
    use crate::usage::Usage;

    fn dollars(text: &str) -> Money {
        text.parse().unwrap()
    }

    fn price() -> Price {
        let long =
            Price::per_million(dollars("4"), dollars("15")).cached_input(dollars("0.4")).cache_write(dollars("5"));
        let short = Price::per_million(dollars("2"), dollars("10"));
        short.cached_input(dollars("0.2")).cache_write(dollars("2.5")).above(1_000, long)
    }

    fn usage(input_tokens: u64, cached_tokens: u64, cache_write_tokens: u64, output_tokens: u64) -> Usage {
        Usage { cached_tokens, cache_write_tokens, ..Usage::of_request(input_tokens, output_tokens) }
    }

    #[test]
    fn each_token_is_charged_once_at_the_price_of_its_kind() {
        assert_eq!(price().cost(&usage(1_000, 600, 300, 50)), dollars("0.00157"));
        let plain = Price::per_million(dollars("2"), dollars("10"));
        assert_eq!(plain.cost(&usage(1_000, 600, 300, 50)), dollars("0.0025"));
    }

    #[test]
    fn reasoning_is_part_of_the_output() {
        let thought = Usage { reasoning_tokens: 40, ..usage(10, 0, 0, 50) };
        assert_eq!(price().cost(&thought), price().cost(&usage(10, 0, 0, 50)));
    }

    #[test]
    fn audio_is_charged_as_audio() {
        let price = price().audio_input(dollars("7")).cached_audio_input(dollars("0.7"));
        let heard = Usage { audio_tokens: 500, cached_audio_tokens: 200, ..usage(1_000, 600, 0, 50) };
        // 100 of text and 300 of audio, 400 of text and 200 of audio from the cache, 50 written.
        assert_eq!(price.cost(&heard), dollars("0.00302"));
        let plain = Price::per_million(dollars("2"), dollars("10"));
        assert_eq!(plain.cost(&heard), dollars("0.0025"), "without a price of its own it is like other input");
        let more_than_read = Usage { audio_tokens: 50, cached_audio_tokens: 60, ..usage(10, 0, 0, 0) };
        assert_eq!(price.cost(&more_than_read), dollars("0.00007"));
    }

    #[test]
    fn a_long_request_has_its_price_for_all_its_tokens() {
        assert_eq!(price().cost(&usage(1_000, 0, 0, 10)), dollars("0.0021"));
        assert_eq!(price().cost(&usage(1_001, 0, 0, 10)), dollars("0.004154"));
        let longer = price().above(10_000, Price::per_million(dollars("8"), dollars("30")));
        assert_eq!(longer.cost(&usage(10_001, 0, 0, 0)), dollars("0.080008"));
    }

    #[test]
    fn an_answer_of_several_requests_is_not_one_long_one() {
        assert_eq!(price().cost(&(usage(600, 0, 0, 0) + usage(600, 0, 0, 0))), dollars("0.0024"));
    }

    #[test]
    fn more_cached_tokens_than_were_read_are_not_charged() {
        assert_eq!(price().cost(&usage(10, 20, 30, 0)), dollars("0.000002"));
    }

    #[test]
    fn a_price_finer_than_a_picodollar_a_token_is_rounded_up_once() {
        let fine = Price::per_million(dollars("0.0000001"), Money::ZERO);
        assert_eq!(fine.cost(&usage(1, 0, 0, 0)).picodollars(), 1);
        assert_eq!(fine.cost(&usage(15, 0, 0, 0)).picodollars(), 2);
    }

    proptest! {
        #[test]
        fn more_tokens_never_cost_less(
            input in 0..2_000_u64, cached in 0..2_000_u64, kept in 0..2_000_u64, output in 0..2_000_u64,
            more_input in 0..2_000_u64, more_output in 0..2_000_u64,
        ) {
            let less = price().cost(&usage(input, cached, kept, output));
            let more = price().cost(&usage(input + more_input, cached, kept, output + more_output));
            prop_assert!(less <= more);
        }

        #[test]
        fn without_steps_requests_cost_what_their_sum_costs(
            requests in prop::collection::vec((0..1_u64 << 40, 0..1_u64 << 40, 0..1_u64 << 40), 0..16),
        ) {
            let price = Price::per_million(dollars("1.75"), dollars("14")).cached_input(dollars("0.003625"));
            let requests: Vec<_> =
                requests.into_iter().map(|(fresh, cached, output)| usage(fresh + cached, cached, 0, output)).collect();
            let sum = requests.iter().copied().fold(Usage::default(), |sum, request| sum + request);
            prop_assert_eq!(requests.iter().map(|request| price.cost(request)).sum::<Money>(), price.cost(&sum));
        }
    }
}
