//! Tables of prices by model name.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::LazyLock;

use super::file;
use super::{Charge, Money, Price};
use crate::dated_rows::DatedRows;
use crate::model_pattern::ModelPattern;
use crate::usage::Usage;

/// The built-in prices.
static BUILTIN: LazyLock<PriceTable> = LazyLock::new(|| {
    file::read(file::BUILTIN).unwrap_or_else(|error| unreachable!("invalid built-in prices: {error}"))
});

/// The price of a model that runs in this process.
static FREE: Price = Price::free();

/// Provider prefixes, and the prefixes of their prices in the table.
const ALIASES: [(&str, &str); 2] = [("gemini", "google"), ("openai-responses", "openai")];
/// The providers whose models run in this process.
const FREE_PROVIDERS: [&str; 4] = ["local", "test", "function", "scripted"];

/// A dated, extensible table of prices by model name.
///
/// **Prices change**: the built-in table is correct on its [`date`](Self::date) at best. It has the list prices of
/// the main models of `openai`, `anthropic`, `google`, `deepseek`, `mistral` and `groq`, in US
/// dollars, with the charges for web searches, file searches and containers, and the prices of the tiers `flex` and
/// `priority`, and of batches, where the provider states them; free quotas are not subtracted. It does not cover the storage of
/// files, cache writes with a longer than the shortest lifetime, or negotiated prices. If a price depends on the time of
/// day, it has the highest. Your own server behind `openai:` is charged like OpenAI if its models have the same names: set their
/// price to zero.
///
/// [`with`](Self::with) adds or replaces a price, [`from_json`](Self::from_json) reads your own table, and
/// [`over`](Self::over) combines two tables.
///
/// A name `provider:model` matches case-insensitively: exactly, as a dated snapshot of a listed model
/// (`openai:gpt-4.1-2025-04-14` is `openai:gpt-4.1`; `openai:gpt-4.1-mini` is not), or by a listed pattern with `*`.
/// The match with the most characters wins, then the one added last. An unknown model has no price, which is
/// different from being free; models that run in this process, `local:..` and the test models, are free unless
/// listed.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as usage; }
/// use llm_do::usage::{Money, Price, PriceTable, Usage};
/// let usage = Usage::of_request(10_000, 500);
/// let prices = PriceTable::builtin();
/// assert_eq!(prices.cost("openai:gpt-4.1", &usage).unwrap().to_string(), "$0.024");
/// assert_eq!(prices.cost("openai:our-model", &usage), None);
///
/// let ours = Price::per_million(Money::from_cents(30), Money::from_dollars(1));
/// let prices = prices.with("openai:our-*", ours)?;
/// assert_eq!(prices.cost("openai:our-model", &usage).unwrap().to_string(), "$0.0035");
/// # Ok::<_, llm_do_providers::PriceTableError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PriceTable {
    listed: DatedRows<Row>,
}

/// A price and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceEntry {
    /// The model name `provider:model`, or a pattern with `*`.
    pub model: String,
    /// The price.
    pub price: Price,
    /// The pages or packages that state the price, separated by spaces.
    pub source: Option<String>,
    /// The day when it was read there, such as `2026-11-22`.
    pub seen: Option<String>,
}

#[derive(Clone, Debug)]
struct Row {
    pattern: ModelPattern,
    entry: PriceEntry,
}

impl PriceTable {
    /// Returns the built-in table; it is shared, so this is cheap.
    #[must_use]
    pub fn builtin() -> Self {
        Self { listed: DatedRows::Builtin(|| &BUILTIN.listed) }
    }

    /// Parses your own table, without the built-in prices.
    ///
    /// Amounts are dollars per million tokens, as strings or numbers. An entry requires `provider`, `models`, `input`
    /// and `output`. The entries of `fees` are dollars per use, for all listed models that a pattern matches:
    /// `web_search` or `searching_request`, `file_search` and `container`, as in [`Price`]; the longest pattern wins. Those of
    /// `service_tiers` are the prices of listed models at the tier `flex` or `priority`. Those of `batches` are what tokens cost in
    /// batches of a provider, in percent: `percent`, and `cached_percent` for tokens read from the cache.
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers as usage; }
    /// use llm_do::usage::PriceTable;
    /// let ours = PriceTable::from_json(r#"{
    ///     "date": "2026-11-22",
    ///     "prices": [{
    ///         "provider": "openai", "models": ["our-model", "our-test-*"],
    ///         "input": "0.30", "cached_input": "0.03", "cache_write": "0.375", "output": "1",
    ///         "audio_input": "1", "cached_audio_input": "0.10",
    ///         "above": [{"tokens": 200000, "input": "0.60", "output": "1.50"}],
    ///         "source": "https://example.com/prices", "seen": "2026-11-20"
    ///     }],
    ///     "fees": [{"provider": "openai", "models": ["our-*"], "web_search": "0.01", "container": "0.03"}],
    ///     "batches": [{"provider": "openai", "percent": 50}],
    ///     "service_tiers": [
    ///         {"provider": "openai", "models": ["our-model"], "tier": "flex", "input": "0.15", "output": "0.50"}
    ///     ]
    /// }"#)?;
    /// let prices = ours.over(&PriceTable::builtin());
    /// assert!(prices.price("openai:our-model").is_some() && prices.price("openai:gpt-4.1").is_some());
    /// # Ok::<_, llm_do_providers::PriceTableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error with the entry or the line if the table is invalid.
    pub fn from_json(json: &str) -> Result<Self, PriceTableError> {
        file::read(json)
    }

    /// Returns the date of the table, such as `2026-11-22`.
    #[must_use]
    pub fn date(&self) -> &str {
        self.listed.date()
    }

    /// Adds the price of a model, or of several by a pattern with `*`; it replaces the price of the same name.
    ///
    /// # Errors
    ///
    /// Returns an error if `model` is not `provider:model`.
    pub fn with(mut self, model: &str, price: Price) -> Result<Self, PriceTableError> {
        let entry = PriceEntry { model: model.to_owned(), price, source: None, seen: None };
        self.listed.push(Row::new(entry)?);
        Ok(self)
    }

    /// Returns these prices, with those of `base` for models that are missing here; the date is that of this table.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        Self { listed: self.listed.over(&base.listed) }
    }

    /// Returns the entry for a model, `provider:model`.
    ///
    /// A provider with several prefixes has one set of prices: `openai-responses:` costs the same as `openai:`, and
    /// `gemini:` the same as `google:`, unless it has its own entry.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<&PriceEntry> {
        let name = model.trim().to_ascii_lowercase();
        self.best(&name).or_else(|| self.best(&alias(&name)?))
    }

    /// Returns the listed models of a provider, without the prefix and without patterns.
    pub(crate) fn models(&self, prefix: &str) -> Vec<&str> {
        let listed = ALIASES.into_iter().find(|(alias, _)| *alias == prefix).map_or(prefix, |(_, listed)| listed);
        let exact = self.rows().iter().filter(|row| matches!(row.pattern, ModelPattern::Exact(_)));
        let split = exact.filter_map(|row| row.entry.model.split_once(':'));
        split.filter(|(provider, _)| *provider == listed).map(|(_, model)| model).collect()
    }

    fn rows(&self) -> &[Row] {
        self.listed.rows()
    }

    fn best(&self, name: &str) -> Option<&PriceEntry> {
        let ranked = self.rows().iter().filter_map(|row| Some((row.pattern.rank(name)?, &row.entry)));
        // The last of equal ranks wins.
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
    }

    /// Returns the price of a model `provider:model`; `None` if it is unknown, zero for a model in this process.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.find(model).map(|entry| &entry.price).or_else(|| is_free(model).then_some(&FREE))
    }

    /// Returns the cost of one request to a model; `None` if its price or that of one of its charges is unknown.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Money> {
        self.charge(model, usage).filter(|charge| charge.unpriced.is_empty()).map(|charge| charge.known)
    }

    /// Returns what one request costs, as [`Price::charge`] does; `None` if the price of the model is unknown.
    #[must_use]
    pub fn charge(&self, model: &str, usage: &Usage) -> Option<Charge> {
        Some(self.price(model)?.charge(usage))
    }

    /// Creates a table of `entries`.
    pub(super) fn new(date: String, entries: Vec<PriceEntry>) -> Result<Self, PriceTableError> {
        let rows = entries.into_iter().map(Row::new).collect::<Result<_, _>>()?;
        Ok(Self { listed: DatedRows::new(date, rows) })
    }
}

impl Default for PriceTable {
    /// Returns the built-in table.
    fn default() -> Self {
        Self::builtin()
    }
}

impl Row {
    fn new(entry: PriceEntry) -> Result<Self, PriceTableError> {
        let model = entry.model.trim();
        if model.split_once(':').is_none_or(|(provider, rest)| provider.is_empty() || rest.is_empty()) {
            let text = format!("invalid model name `{model}`: expected `provider:model`");
            return Err(PriceTableError::new(text));
        }
        Ok(Self { pattern: ModelPattern::new(&model.to_ascii_lowercase()), entry })
    }
}

/// Returns the name under which the table lists a model with an alias prefix.
fn alias(name: &str) -> Option<String> {
    let (prefix, model) = name.split_once(':')?;
    let (_, listed) = ALIASES.into_iter().find(|(alias, _)| *alias == prefix)?;
    Some(format!("{listed}:{model}"))
}

/// Returns whether a model runs in this process.
fn is_free(model: &str) -> bool {
    let provider = model.trim().split_once(':').map(|(provider, _)| provider);
    provider.is_some_and(|provider| FREE_PROVIDERS.iter().any(|free| provider.eq_ignore_ascii_case(free)))
}

/// An error that a price table or a model name is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTableError(String);

impl PriceTableError {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for PriceTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PriceTableError {}
