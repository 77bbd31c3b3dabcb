//! Tables of prices as files.

use serde::Deserialize;

use super::table::{PriceEntry, PriceTable, PriceTableError, is_day};
use super::{Money, Price};

/// The prices that are compiled in: list prices for single requests, each with where and when it was found.
pub(super) const BUILTIN: &str = include_str!("../../prices.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    date: String,
    prices: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    provider: String,
    models: Vec<String>,
    input: Money,
    cached_input: Option<Money>,
    cache_write: Option<Money>,
    audio_input: Option<Money>,
    cached_audio_input: Option<Money>,
    output: Money,
    #[serde(default)]
    above: Vec<Step>,
    source: Option<String>,
    seen: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    tokens: u64,
    input: Money,
    cached_input: Option<Money>,
    cache_write: Option<Money>,
    audio_input: Option<Money>,
    cached_audio_input: Option<Money>,
    output: Money,
}

/// Reads a table.
pub(super) fn read(json: &str) -> Result<PriceTable, PriceTableError> {
    let fault = |error| PriceTableError::new(format!("not a table of prices: {error}"));
    let Table { date, prices } = serde_json::from_str(json).map_err(fault)?;
    if !is_day(&date) {
        return Err(PriceTableError::new(format!("`date` is `{date}`; write a day such as `2026-11-22`")));
    }
    let mut entries = Vec::with_capacity(prices.len());
    for (place, entry) in prices.into_iter().enumerate() {
        entry.check().map_err(|fault| PriceTableError::new(format!("entry {}: {fault}", place + 1)))?;
        entries.extend(entry.models.iter().map(|model| entry.of(model)));
    }
    PriceTable::new(date, entries)
}

impl Entry {
    fn check(&self) -> Result<(), &'static str> {
        if self.provider.is_empty() || self.provider.contains(':') {
            return Err("`provider` is what stands before the colon of `provider:model`");
        }
        if self.models.is_empty() {
            return Err("`models` is empty; name at least one");
        }
        if self.above.windows(2).any(|pair| pair[0].tokens >= pair[1].tokens) {
            return Err("the `tokens` of `above` must rise");
        }
        Ok(())
    }

    fn of(&self, model: &str) -> PriceEntry {
        PriceEntry {
            model: format!("{}:{model}", self.provider),
            price: self.price(),
            source: self.source.clone(),
            seen: self.seen.clone(),
        }
    }

    fn price(&self) -> Price {
        let (audio_input, cached_audio_input) = (self.audio_input, self.cached_audio_input);
        let price = price(self.input, self.cached_input, self.cache_write, self.output);
        let price = Price { audio_input, cached_audio_input, ..price };
        self.above.iter().fold(price, |price, step| price.above(step.tokens, step.price()))
    }
}

impl Step {
    fn price(&self) -> Price {
        let (audio_input, cached_audio_input) = (self.audio_input, self.cached_audio_input);
        Price { audio_input, cached_audio_input, ..price(self.input, self.cached_input, self.cache_write, self.output) }
    }
}

fn price(input: Money, cached_input: Option<Money>, cache_write: Option<Money>, output: Money) -> Price {
    Price { cached_input, cache_write, ..Price::per_million(input, output) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    fn fault(table: &Value) -> String {
        read(&table.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn a_fault_of_a_table_names_its_place_and_what_to_write() {
        let table = |entry: Value| json!({"date": "2026-01-01", "prices": [entry]});
        let entry = |key: &str, value: Value| {
            let mut entry = json!({"provider": "a", "models": ["b"], "input": 1, "output": "2"});
            entry[key] = value;
            table(entry)
        };
        assert!(read(&entry("seen", json!("2026-01-01")).to_string()).is_ok());
        let steps = json!([{"tokens": 2, "input": 1, "output": 1}, {"tokens": 2, "input": 1, "output": 1}]);
        let faults = [
            (entry("provider", json!("a:")), "entry 1: `provider` is what stands before the colon"),
            (entry("models", json!([])), "entry 1: `models` is empty"),
            (entry("models", json!([""])), "`a:` is not a model's name; write `provider:model`"),
            (entry("above", steps), "entry 1: the `tokens` of `above` must rise"),
            (entry("input", json!("cheap")), "invalid amount `cheap`"),
            (entry("cached", json!(1)), "unknown field `cached`"),
            (json!({"prices": []}), "missing field `date`"),
            (json!({"date": "today", "prices": []}), "`date` is `today`; write a day"),
        ];
        for (table, text) in faults {
            assert!(fault(&table).contains(text), "{}", fault(&table));
        }
        assert!(read("{").unwrap_err().to_string().contains("line 1"));
    }
}
