//! Price tables as JSON files.

mod batch;
mod fees;

use std::fmt::Display;

use serde::Deserialize;

use self::batch::Batch;
use self::fees::{Fees, TierName};
use super::table::{PriceEntry, PriceTable, PriceTableError};
use super::{Money, Price};
use crate::model_pattern::is_day;

/// The built-in prices: list prices of single requests, each with its source and date.
pub(super) const BUILTIN: &str = include_str!("../../prices.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    date: String,
    prices: Vec<Entry>,
    /// The prices of server-side tools, for models of `prices` that a pattern matches.
    #[serde(default)]
    fees: Vec<Fees>,
    /// The prices of tokens at service tiers other than the standard one, for models of `prices`.
    #[serde(default)]
    service_tiers: Vec<Entry>,
    /// The prices of tokens in batches, for all models of a provider in `prices`.
    #[serde(default)]
    batches: Vec<Batch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    provider: String,
    models: Vec<String>,
    /// The service tier of an entry of `service_tiers`.
    tier: Option<TierName>,
    input: Money,
    cached_input: Option<Money>,
    cache_write: Option<Money>,
    audio_input: Option<Money>,
    cached_audio_input: Option<Money>,
    output: Money,
    #[serde(default)]
    above: Vec<Tier>,
    source: Option<String>,
    seen: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tier {
    tokens: u64,
    input: Money,
    cached_input: Option<Money>,
    cache_write: Option<Money>,
    audio_input: Option<Money>,
    cached_audio_input: Option<Money>,
    output: Money,
}

/// Parses a price table.
pub(super) fn read(json: &str) -> Result<PriceTable, PriceTableError> {
    let fault = |error| PriceTableError::new(format!("invalid price table: {error}"));
    let Table { date, prices, fees, service_tiers, batches } = serde_json::from_str(json).map_err(fault)?;
    if !is_day(&date) {
        return Err(PriceTableError::new(format!("invalid `date` `{date}`: expected a day such as `2026-11-22`")));
    }
    let mut entries = Vec::with_capacity(prices.len());
    for (index, entry) in prices.into_iter().enumerate() {
        let checked = entry.check().and_then(|()| entry.check_standard());
        checked.map_err(|fault| fault_at(index, "", fault))?;
        entries.extend(entry.models.iter().map(|model| entry.for_model(model)));
    }
    for (index, entry) in service_tiers.into_iter().enumerate() {
        entry.add_to(&mut entries).map_err(|fault| fault_at(index, " of `service_tiers`", fault))?;
    }
    for (index, batch) in batches.into_iter().enumerate() {
        batch.add_to(&mut entries).map_err(|fault| fault_at(index, " of `batches`", fault))?;
    }
    for (index, fees) in fees::by_length(fees).into_iter().enumerate() {
        fees.add_to(&mut entries).map_err(|fault| fault_at(index, " of `fees`", fault))?;
    }
    PriceTable::new(date, entries)
}

/// Returns the error for the entry at the 0-based `index` of a list.
fn fault_at(index: usize, list: &str, fault: impl Display) -> PriceTableError {
    PriceTableError::new(format!("entry {}{list}: {fault}", index + 1))
}

impl Entry {
    fn check(&self) -> Result<(), &'static str> {
        check_names(&self.provider, &self.models)?;
        if self.above.windows(2).any(|pair| pair[0].tokens >= pair[1].tokens) {
            return Err("the `tokens` of `above` must be strictly increasing");
        }
        Ok(())
    }

    fn check_standard(&self) -> Result<(), &'static str> {
        if self.tier.is_some() {
            return Err("`tier` is for entries of `service_tiers`");
        }
        Ok(())
    }

    fn for_model(&self, model: &str) -> PriceEntry {
        PriceEntry {
            model: format!("{}:{model}", self.provider),
            price: self.price(),
            source: self.source.clone(),
            seen: self.seen.clone(),
        }
    }

    fn price(&self) -> Price {
        let optional = [self.cached_input, self.cache_write, self.audio_input, self.cached_audio_input];
        let price = price(self.input, optional, self.output);
        self.above.iter().fold(price, |price, tier| price.above(tier.tokens, tier.price()))
    }
}

/// Checks the names of an entry.
fn check_names(provider: &str, models: &[String]) -> Result<(), &'static str> {
    if provider.is_empty() || provider.contains(':') {
        return Err("`provider` must be the part before the colon of `provider:model`");
    }
    if models.is_empty() {
        return Err("`models` is empty: expected at least one name");
    }
    Ok(())
}

impl Tier {
    fn price(&self) -> Price {
        let optional = [self.cached_input, self.cache_write, self.audio_input, self.cached_audio_input];
        price(self.input, optional, self.output)
    }
}

/// Returns a price; the optional ones are for cached input, cache writes, audio input and cached audio input.
fn price(input: Money, optional: [Option<Money>; 4], output: Money) -> Price {
    let [cached_input, cache_write, audio_input, cached_audio_input] = optional;
    Price { cached_input, cache_write, audio_input, cached_audio_input, ..Price::per_million(input, output) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    fn fault(table: &Value) -> String {
        read(&table.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn an_invalid_table_is_an_error_with_the_entry_and_the_fix() {
        let table = |entry: Value| json!({"date": "2026-01-01", "prices": [entry]});
        let entry = |key: &str, value: Value| {
            let mut entry = json!({"provider": "a", "models": ["b"], "input": 1, "output": "2"});
            entry[key] = value;
            table(entry)
        };
        let with = |list: &str, entry: Value| {
            let mut table = table(json!({"provider": "a", "models": ["b"], "input": 1, "output": "2"}));
            table[list] = json!([entry]);
            table
        };
        assert!(read(&entry("seen", json!("2026-01-01")).to_string()).is_ok());
        let tiers = json!([{"tokens": 2, "input": 1, "output": 1}, {"tokens": 2, "input": 1, "output": 1}]);
        let faults = [
            (entry("provider", json!("a:")), "entry 1: `provider` must be the part before the colon"),
            (entry("models", json!([])), "entry 1: `models` is empty"),
            (entry("models", json!([""])), "invalid model name `a:`: expected `provider:model`"),
            (entry("above", tiers.clone()), "entry 1: the `tokens` of `above` must be strictly increasing"),
            (entry("input", json!("cheap")), "invalid amount `cheap`"),
            (entry("cached", json!(1)), "unknown field `cached`"),
            (json!({"prices": []}), "missing field `date`"),
            (with("fees", json!({"provider": "a", "models": []})), "entry 1 of `fees`: `models` is empty"),
            (with("fees", json!({"provider": "a", "models": ["b"], "search": 1})), "unknown field `search`"),
            (
                with(
                    "service_tiers",
                    json!({"provider": "a", "models": ["c"], "tier": "flex", "input": 1, "output": 1}),
                ),
                "entry 1 of `service_tiers`: `a:c` has no entry in `prices`",
            ),
            (
                with(
                    "service_tiers",
                    json!({"provider": "a", "models": ["b"], "tier": "slow", "input": 1, "output": 1}),
                ),
                "unknown variant `slow`",
            ),
            (
                with("service_tiers", json!({"provider": "a", "models": ["b"], "input": 1, "output": 1})),
                "entry 1 of `service_tiers`: missing `tier`",
            ),
            (
                with(
                    "service_tiers",
                    json!({
                        "provider": "a", "models": ["b"], "tier": "flex", "input": 1, "output": 1, "above": tiers,
                    }),
                ),
                "entry 1 of `service_tiers`: the `tokens` of `above` must be strictly increasing",
            ),
            (entry("tier", json!("flex")), "entry 1: `tier` is for entries of `service_tiers`"),
            (
                with("batches", json!({"provider": "b", "percent": 50})),
                "entry 1 of `batches`: `b` has no entry in `prices`",
            ),
            (
                with("batches", json!({"provider": "a", "percent": 150})),
                "entry 1 of `batches`: `percent` and `cached_percent` must be from 0 to 100",
            ),
            (json!({"date": "today", "prices": []}), "invalid `date` `today`: expected a day"),
        ];
        for (table, text) in faults {
            assert!(fault(&table).contains(text), "{}", fault(&table));
        }
        assert!(read("{").unwrap_err().to_string().contains("line 1"));
    }
}
