//! Prices of models.

// Own table, since crates with one (llm-budget, llm-cost-cap, aicost, openai-cost, gemini-cost; as of 2026-11)
// compute with floats and give no sources. The best-maintained package, genai-prices, is for Python and JavaScript
// only; most figures of `prices.json` come from it.

mod charge;
mod file;
mod money;
mod table;
mod unpriced;

pub use self::charge::Charge;
pub use self::money::{Money, MoneyError};
pub use self::table::{PriceEntry, PriceTable, PriceTableError};
pub use self::unpriced::Unpriced;
use crate::usage::Usage;

/// The price of a model in US dollars: of a million tokens, and of one use of a server-side tool.
///
/// A charge without a price here is not free: [`charge`](Self::charge) lists it as unpriced.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as usage; }
/// use llm_do::usage::{Money, Price, Usage};
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
    /// The price of input tokens.
    pub input: Money,
    /// The price of input tokens read from the provider's cache; `None`: the price of input.
    pub cached_input: Option<Money>,
    /// The price of input tokens written to the provider's cache, in place of the input price; `None`: the price of
    /// input.
    pub cache_write: Option<Money>,
    /// The price of audio input tokens; `None`: the price of input.
    pub audio_input: Option<Money>,
    /// The price of audio input tokens read from the provider's cache; `None`: the price of cached input.
    pub cached_audio_input: Option<Money>,
    /// The price of output tokens, including reasoning.
    pub output: Money,
    /// The price of one web search; `None`: unknown.
    pub web_search: Option<Money>,
    /// The price of a request that searched the web, however many searches it made, in place of the price of each.
    pub searching_request: Option<Money>,
    /// The price of one file search; `None`: unknown.
    pub file_search: Option<Money>,
    /// The price of a container in which code ran, for its shortest charged time; `None`: unknown.
    pub container: Option<Money>,
    /// The prices of long requests, each with the number of input tokens above which it applies.
    tiers: Vec<(u64, Price)>,
    /// The prices of tokens at the tiers `flex` and `priority`.
    flex: Option<Box<Price>>,
    priority: Option<Box<Price>>,
    /// The price of tokens in a batch.
    batch: Option<Box<Price>>,
}

impl Price {
    /// Creates a price per million input and output tokens, the same for cached input and for requests of any length.
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
            web_search: None,
            searching_request: None,
            file_search: None,
            container: None,
            tiers: Vec::new(),
            flex: None,
            priority: None,
            batch: None,
        }
    }

    /// Creates the price of a model that runs in this process: nothing has a charge.
    pub(super) const fn free() -> Self {
        let mut price = Self::per_million(Money::ZERO, Money::ZERO);
        price.web_search = Some(Money::ZERO);
        price.file_search = Some(Money::ZERO);
        price.container = Some(Money::ZERO);
        price
    }

    /// Sets the price of input read from the provider's cache. Default: the price of input.
    #[must_use]
    pub fn cached_input(self, price: Money) -> Self {
        Self { cached_input: Some(price), ..self }
    }

    /// Sets the price of input written to the provider's cache. Default: the price of input.
    #[must_use]
    pub fn cache_write(self, price: Money) -> Self {
        Self { cache_write: Some(price), ..self }
    }

    /// Sets the price of audio input. Default: the price of input.
    #[must_use]
    pub fn audio_input(self, price: Money) -> Self {
        Self { audio_input: Some(price), ..self }
    }

    /// Sets the price of audio input read from the provider's cache. Default: the price of cached input.
    #[must_use]
    pub fn cached_audio_input(self, price: Money) -> Self {
        Self { cached_audio_input: Some(price), ..self }
    }

    /// Sets the price of all tokens of a request with more than `tokens` input tokens. Default: the same price.
    #[must_use]
    pub fn above(mut self, tokens: u64, price: Self) -> Self {
        self.tiers.push((tokens, price));
        self.tiers.sort_by_key(|(tokens, _)| *tokens);
        self
    }

    /// Sets the price of one web search. Default: unknown.
    #[must_use]
    pub fn web_search(self, price: Money) -> Self {
        Self { web_search: Some(price), ..self }
    }

    /// Sets the price of a request that searched the web, however many searches it made. Default: the price of each
    /// search.
    #[must_use]
    pub fn searching_request(self, price: Money) -> Self {
        Self { searching_request: Some(price), ..self }
    }

    /// Sets the price of one file search. Default: unknown.
    #[must_use]
    pub fn file_search(self, price: Money) -> Self {
        Self { file_search: Some(price), ..self }
    }

    /// Sets the price of a container in which the provider runs code, for its shortest charged time. Default: unknown.
    #[must_use]
    pub fn container(self, price: Money) -> Self {
        Self { container: Some(price), ..self }
    }

    /// Sets the price of tokens at the service tier `flex`. Default: unknown.
    #[must_use]
    pub fn flex(self, price: Self) -> Self {
        Self { flex: Some(Box::new(price)), ..self }
    }

    /// Sets the price of tokens at the service tier `priority`. Default: unknown.
    #[must_use]
    pub fn priority(self, price: Self) -> Self {
        Self { priority: Some(Box::new(price)), ..self }
    }

    /// Sets the price of tokens in a batch. Default: unknown.
    #[must_use]
    pub fn batch(self, price: Self) -> Self {
        Self { batch: Some(Box::new(price)), ..self }
    }

    /// Returns the price of tokens at `percent` of this one, and of tokens read from the cache at `cached_percent`.
    fn scaled(&self, percent: u32, cached_percent: u32) -> Self {
        let at = |price: Money, percent: u32| {
            Money::from_picodollars((price.picodollars() * u128::from(percent)).div_ceil(100))
        };
        let part = |price: Option<Money>| price.map(|price| at(price, percent));
        let cached = |price: Option<Money>| price.map(|price| at(price, cached_percent));
        let tiers = self.tiers.iter().map(|(tokens, price)| (*tokens, price.scaled(percent, cached_percent)));
        Self {
            cached_input: cached(self.cached_input),
            cache_write: part(self.cache_write),
            audio_input: part(self.audio_input),
            cached_audio_input: cached(self.cached_audio_input),
            tiers: tiers.collect(),
            ..Self::per_million(at(self.input, percent), at(self.output, percent))
        }
    }

    /// Returns the known cost of one request, without the charges that have no price here; [`charge`](Self::charge)
    /// returns these too.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Money {
        self.charge(usage).known
    }

    /// Returns the cost of the tokens at the standard tier.
    fn cost_of_tokens(&self, usage: &Usage) -> Money {
        let price = self.at(usage.input_tokens / usage.requests.max(1));
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let cache_write = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let uncached = usage.input_tokens - cached - cache_write;
        let cached_audio = usage.cached_audio_tokens.min(cached);
        let audio = usage.audio_tokens.saturating_sub(cached_audio).min(uncached);
        let cached_input = price.cached_input.unwrap_or(price.input);
        Money::cost_of_tokens(&[
            (uncached - audio, price.input),
            (audio, price.audio_input.unwrap_or(price.input)),
            (cached - cached_audio, cached_input),
            (cached_audio, price.cached_audio_input.unwrap_or(cached_input)),
            (cache_write, price.cache_write.unwrap_or(price.input)),
            (usage.output_tokens, price.output),
        ])
    }

    /// Returns the price of a request with `input_tokens` tokens.
    fn at(&self, input_tokens: u64) -> &Self {
        let tier = self.tiers.iter().rev().find(|(above, _)| input_tokens > *above);
        tier.map_or(self, |(_, price)| price.at(input_tokens))
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
    fn each_token_is_charged_once_at_its_own_price() {
        assert_eq!(price().cost(&usage(1_000, 600, 300, 50)), dollars("0.00157"));
        let plain = Price::per_million(dollars("2"), dollars("10"));
        assert_eq!(plain.cost(&usage(1_000, 600, 300, 50)), dollars("0.0025"));
    }

    #[test]
    fn reasoning_is_part_of_the_output() {
        let with_reasoning = Usage { reasoning_tokens: 40, ..usage(10, 0, 0, 50) };
        assert_eq!(price().cost(&with_reasoning), price().cost(&usage(10, 0, 0, 50)));
    }

    #[test]
    fn audio_is_charged_at_the_audio_price() {
        let price = price().audio_input(dollars("7")).cached_audio_input(dollars("0.7"));
        let with_audio = Usage { audio_tokens: 500, cached_audio_tokens: 200, ..usage(1_000, 600, 0, 50) };
        // 100 text and 300 audio tokens, 400 text and 200 audio tokens from the cache, 50 output tokens.
        assert_eq!(price.cost(&with_audio), dollars("0.00302"));
        let plain = Price::per_million(dollars("2"), dollars("10"));
        assert_eq!(
            plain.cost(&with_audio),
            dollars("0.0025"),
            "without its own price audio costs the same as other input"
        );
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
    fn several_short_requests_are_not_charged_as_a_long_one() {
        assert_eq!(price().cost(&(usage(600, 0, 0, 0) + usage(600, 0, 0, 0))), dollars("0.0024"));
    }

    #[test]
    fn cached_tokens_beyond_the_input_are_not_charged() {
        assert_eq!(price().cost(&usage(10, 20, 30, 0)), dollars("0.000002"));
    }

    #[test]
    fn a_fraction_of_a_picodollar_is_rounded_up_once() {
        let fine = Price::per_million(dollars("0.0000001"), Money::ZERO);
        assert_eq!(fine.cost(&usage(1, 0, 0, 0)).picodollars(), 1);
        assert_eq!(fine.cost(&usage(15, 0, 0, 0)).picodollars(), 2);
    }

    proptest! {
        #[test]
        fn more_tokens_never_cost_less(
            input in 0..2_000_u64, cached in 0..2_000_u64, cache_write in 0..2_000_u64, output in 0..2_000_u64,
            more_input in 0..2_000_u64, more_output in 0..2_000_u64,
        ) {
            let less = price().cost(&usage(input, cached, cache_write, output));
            let more = price().cost(&usage(input + more_input, cached, cache_write, output + more_output));
            prop_assert!(less <= more);
        }

        #[test]
        fn without_tiers_the_cost_of_a_sum_is_the_sum_of_costs(
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
