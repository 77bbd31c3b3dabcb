//! Prices by the names of models.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::file;
use super::{Money, Price};
use crate::model_pattern::ModelPattern;
use crate::usage::Usage;

/// The prices that are compiled in.
static BUILTIN: LazyLock<PriceTable> =
    LazyLock::new(|| file::read(file::BUILTIN).unwrap_or_else(|error| unreachable!("the prices compiled in: {error}")));

/// What a model costs that runs in this process.
static NOTHING: Price = Price::per_million(Money::ZERO, Money::ZERO);

/// Prefixes of models, and those under which the table has their prices.
const ALIASES: [(&str, &str); 2] = [("gemini", "google"), ("openai-responses", "openai")];
/// The providers whose models run in this process.
const FREE: [&str; 4] = ["local", "test", "function", "scripted"];

/// What models cost, by name: a dated table that you extend.
///
/// **Prices change**, and the built-in table was right on its [`date`](Self::date) at best. It has the list prices of
/// the main models of `openai`, `anthropic`, `google`, `deepseek`, `mistral` and `groq` for single requests, in US
/// dollars; it knows nothing of batches, faster or slower tiers, charges for tools that a provider runs, cache writes
/// that last longer than the shortest, regions, or what you negotiated. Where the price depends on the hour, it has the
/// highest. A server of your own behind `openai:` is charged like OpenAI if its models have the same names: give them a
/// price of zero.
///
/// [`with`](Self::with) adds a price or replaces one, [`from_json`](Self::from_json) reads a table of yours, and
/// [`over`](Self::over) puts it over another.
///
/// A name `provider:model` is found without regard to case, as it is listed, as a dated snapshot of a listed one
/// (`openai:gpt-4.1-2025-04-14` is `openai:gpt-4.1`; `openai:gpt-4.1-mini` is not), or by a listed pattern with `*`.
/// What matches with the most letters wins, then what was added last. A model that is not found has no price, which is
/// not the same as being free; those that run in this process, `local:..` and the test models, are free unless listed.
///
/// # Examples
///
/// ```
/// # use llm_do_providers::{Money, Price, PriceTable, Usage};
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
    date: Arc<str>,
    rows: Arc<Vec<Row>>,
}

/// A model's price, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceEntry {
    /// The model or models, `provider:model`, perhaps with `*`.
    pub model: String,
    /// What it costs.
    pub price: Price,
    /// The page or package in which the price was found.
    pub source: Option<String>,
    /// The day on which it was found there, such as `2026-11-22`.
    pub seen: Option<String>,
}

#[derive(Clone, Debug)]
struct Row {
    pattern: ModelPattern,
    entry: PriceEntry,
}

impl PriceTable {
    /// Returns the table that is compiled in; it is shared, so this is cheap.
    #[must_use]
    pub fn builtin() -> Self {
        BUILTIN.clone()
    }

    /// Reads a table of yours, with nothing of the built-in one.
    ///
    /// Amounts are dollars for a million tokens, strings or numbers. Of an entry, `provider`, `models`, `input` and
    /// `output` are required.
    ///
    /// ```
    /// # use llm_do_providers::PriceTable;
    /// let ours = PriceTable::from_json(r#"{
    ///     "date": "2026-11-22",
    ///     "prices": [{
    ///         "provider": "openai", "models": ["our-model", "our-test-*"],
    ///         "input": "0.30", "cached_input": "0.03", "cache_write": "0.375", "output": "1",
    ///         "audio_input": "1", "cached_audio_input": "0.10",
    ///         "above": [{"tokens": 200000, "input": "0.60", "output": "1.50"}],
    ///         "source": "https://example.com/prices", "seen": "2026-11-20"
    ///     }]
    /// }"#)?;
    /// let prices = ours.over(&PriceTable::builtin());
    /// assert!(prices.price("openai:our-model").is_some() && prices.price("openai:gpt-4.1").is_some());
    /// # Ok::<_, llm_do_providers::PriceTableError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names the entry or the line if the text is no such table.
    pub fn from_json(json: &str) -> Result<Self, PriceTableError> {
        file::read(json)
    }

    /// Returns the day for which the table was made, such as `2026-11-22`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.date
    }

    /// Adds the price of a model, or of several by a pattern with `*`, over what the table says of that very name.
    ///
    /// # Errors
    ///
    /// Returns an error if `model` is not `provider:model`.
    pub fn with(mut self, model: &str, price: Price) -> Result<Self, PriceTableError> {
        let entry = PriceEntry { model: model.to_owned(), price, source: None, seen: None };
        Arc::make_mut(&mut self.rows).push(Row::new(entry)?);
        Ok(self)
    }

    /// Returns these prices, and those of `base` where these say nothing; the date is that of these.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        let rows = base.rows.iter().chain(self.rows.iter()).cloned().collect();
        Self { date: self.date, rows: Arc::new(rows) }
    }

    /// Returns the entry for a model, `provider:model`.
    ///
    /// A provider that is known by several prefixes has its prices by one: `openai-responses:` costs what `openai:` does, and
    /// `gemini:` what `google:` does, unless there is an entry for it by itself.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<&PriceEntry> {
        let name = model.trim().to_ascii_lowercase();
        self.best(&name).or_else(|| self.best(&alias(&name)?))
    }

    /// Lists the models of a provider by the names in the table, without the prefix and without patterns.
    pub(crate) fn models(&self, prefix: &str) -> Vec<&str> {
        let listed = ALIASES.into_iter().find(|(alias, _)| *alias == prefix).map_or(prefix, |(_, listed)| listed);
        let exact = self.rows.iter().filter(|row| matches!(row.pattern, ModelPattern::Exact(_)));
        let split = exact.filter_map(|row| row.entry.model.split_once(':'));
        split.filter(|(provider, _)| *provider == listed).map(|(_, model)| model).collect()
    }

    fn best(&self, name: &str) -> Option<&PriceEntry> {
        let ranked = self.rows.iter().filter_map(|row| Some((row.pattern.rank(name)?, &row.entry)));
        // Of equals, the last.
        ranked.max_by_key(|(rank, _)| *rank).map(|(_, entry)| entry)
    }

    /// Returns the price of a model, `provider:model`; `None` if it is not known, zero for one in this process.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<&Price> {
        self.find(model).map(|entry| &entry.price).or_else(|| is_free(model).then_some(&NOTHING))
    }

    /// Returns what one request to a model cost; `None` if that is not known. See [`Price::cost`].
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Money> {
        Some(self.price(model)?.cost(usage))
    }

    /// Returns a table of `entries`.
    pub(super) fn new(date: String, entries: Vec<PriceEntry>) -> Result<Self, PriceTableError> {
        let rows = entries.into_iter().map(Row::new).collect::<Result<_, _>>()?;
        Ok(Self { date: date.into(), rows: Arc::new(rows) })
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
            let text = format!("`{model}` is not a model's name; write `provider:model`");
            return Err(PriceTableError::new(text));
        }
        Ok(Self { pattern: ModelPattern::new(&model.to_ascii_lowercase()), entry })
    }
}

/// Returns the name by which the table knows a model that is known by another, too.
fn alias(name: &str) -> Option<String> {
    let (prefix, model) = name.split_once(':')?;
    let (_, listed) = ALIASES.into_iter().find(|(alias, _)| *alias == prefix)?;
    Some(format!("{listed}:{model}"))
}

/// Whether a model runs in this process.
fn is_free(model: &str) -> bool {
    let provider = model.trim().split_once(':').map(|(provider, _)| provider);
    provider.is_some_and(|provider| FREE.iter().any(|free| provider.eq_ignore_ascii_case(free)))
}

/// Why a text is no table of prices, or a name that of no model.
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

#[cfg(test)]
mod tests {
    use super::{Money, Price, PriceTable, Usage};
    use crate::model_pattern::{ModelPattern, is_day};

    fn input(cents: u64) -> Price {
        Price::per_million(Money::from_cents(cents), Money::ZERO)
    }

    #[test]
    fn every_price_compiled_in_says_where_and_when_it_was_found_and_is_found_by_its_name() {
        let table = PriceTable::builtin();
        assert!(is_day(table.date()));
        for row in table.rows.iter() {
            let entry = &row.entry;
            assert!(entry.source.as_ref().is_some_and(|source| source.starts_with("https://")), "{entry:?}");
            assert!(entry.seen.as_deref().is_some_and(|seen| seen <= table.date()), "{entry:?}");
            assert_eq!(table.find(&entry.model), Some(entry));
        }
        assert!(table.rows.len() > 80);
    }

    #[test]
    fn the_names_that_are_asked_for_most_have_a_price() {
        let names = [
            "mistral:mistral-large-latest",
            "mistral:codestral-latest",
            "gemini:gemini-3-pro-preview",
            "gemini:gemini-flash-latest",
            "gemini:gemini-2.0-flash",
            "groq:moonshotai/kimi-k2-instruct-0905",
            "groq:meta-llama/llama-4-scout-17b-16e-instruct",
            "deepseek:deepseek-v4-flash-vision-exp",
            "openai:gpt-5.1-codex",
            "openai:gpt-5-chat-latest",
            "openai:gpt-6.1-terra",
            "openai-responses:gpt-6.2-sol",
            "anthropic:claude-3-5-sonnet-20241022",
        ];
        let table = PriceTable::builtin();
        for name in names {
            assert!(table.price(name).is_some(), "{name}");
        }
    }

    #[test]
    fn audio_costs_more_than_text_where_google_says_so() {
        let heard = Usage { audio_tokens: 1_000_000, ..Usage::of_request(1_000_000, 0) };
        let table = PriceTable::builtin();
        assert_eq!(table.cost("gemini:gemini-2.5-flash", &heard), Some(Money::from_dollars(1)));
        assert_eq!(
            table.cost("gemini:gemini-2.5-flash", &Usage::of_request(1_000_000, 0)),
            Some(Money::from_cents(30))
        );
        assert_eq!(table.cost("gemini:gemini-3.8-flash", &heard), Some(Money::from_cents(75)));
    }

    #[test]
    fn no_name_is_listed_twice_and_none_by_a_pattern() {
        let table = PriceTable::builtin();
        let mut names: Vec<_> = table.rows.iter().map(|row| &row.entry.model).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(table.rows.iter().all(|row| matches!(row.pattern, ModelPattern::Exact(_))));
    }

    #[test]
    fn cached_input_never_costs_more_than_other_input_and_long_requests_never_less() {
        for row in PriceTable::builtin().rows.iter() {
            let price = &row.entry.price;
            assert!(price.cached_input.is_none_or(|cached| cached <= price.input), "{row:?}");
            assert!(price.cache_write.is_none_or(|kept| kept >= price.input), "{row:?}");
            for (_, long) in &price.steps {
                assert!(long.input >= price.input && long.output >= price.output, "{row:?}");
            }
        }
    }

    #[test]
    fn models_of_gemini_are_those_of_google() {
        let table = PriceTable::builtin();
        assert_eq!(table.find("gemini:gemini-2.5-pro").unwrap().model, "google:gemini-2.5-pro");
        let table = table.with("gemini:gemini-2.5-pro", input(1)).unwrap();
        assert_eq!(table.price("Gemini:gemini-2.5-pro").unwrap().input, Money::from_cents(1));
        assert_eq!(table.find("gemini:gpt-4.1"), None);
    }

    #[test]
    fn the_longest_match_wins_then_the_name_without_a_pattern_then_the_last() {
        let empty = PriceTable::from_json(r#"{"date": "2026-01-01", "prices": []}"#).unwrap();
        let table = empty.with("a:model*", input(1)).unwrap().with("a:*", input(2)).unwrap();
        let table = table.with("a:model-b", input(3)).unwrap().with("a:model-*", input(4)).unwrap();
        let of = |name: &str| table.price(name).map(|price| price.input);
        assert_eq!(of("a:model-b"), Some(Money::from_cents(3)));
        assert_eq!(of("a:model-b-2025-01-31"), Some(Money::from_cents(3)));
        assert_eq!(of("a:model-bc"), Some(Money::from_cents(4)));
        assert_eq!(of("a:models"), Some(Money::from_cents(1)));
        assert_eq!(of("a:other"), Some(Money::from_cents(2)));
        assert_eq!(of("b:model"), None);
        let again = table.with("A:Model-B", input(9)).unwrap();
        assert_eq!(again.price("a:MODEL-b").unwrap().input, Money::from_cents(9));
    }
}
