//! The charges in addition to tokens of the standard tier: for server-side tools, and for other service tiers.

use serde::Deserialize;

use super::{Entry, check_names};
use crate::model_pattern::ModelPattern;
use crate::price::table::PriceEntry;
use crate::price::{Money, Price};

/// The prices of the server-side tools of some models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fees {
    provider: String,
    /// Names, or patterns with `*`.
    models: Vec<String>,
    web_search: Option<Money>,
    searching_request: Option<Money>,
    file_search: Option<Money>,
    container: Option<Money>,
    source: Option<String>,
    seen: Option<String>,
}

/// A service tier other than the standard one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TierName {
    Flex,
    Priority,
}

/// Sorts the fees by the length of their patterns, longest first: the first match of a model applies.
pub(super) fn by_length(mut fees: Vec<Fees>) -> Vec<Fees> {
    let longest = |fees: &Fees| fees.models.iter().map(String::len).max().unwrap_or_default();
    fees.sort_by_key(|fees| std::cmp::Reverse(longest(fees)));
    fees
}

impl Fees {
    /// Adds the fees to the entries of their models, except fees that an entry already has.
    pub(super) fn add_to(&self, entries: &mut [PriceEntry]) -> Result<(), String> {
        check_names(&self.provider, &self.models)?;
        let patterns: Vec<_> =
            self.models.iter().map(|model| ModelPattern::new(&full_name(&self.provider, model))).collect();
        for entry in entries {
            let name = entry.model.to_ascii_lowercase();
            if patterns.iter().any(|pattern| pattern.rank(&name).is_some()) {
                self.add_to_price(&mut entry.price);
                cite(entry, self.source.as_deref(), self.seen.as_deref());
            }
        }
        Ok(())
    }

    fn add_to_price(&self, price: &mut Price) {
        // An entry with either of the two has a price for searches.
        if price.web_search.is_none() && price.searching_request.is_none() {
            (price.web_search, price.searching_request) = (self.web_search, self.searching_request);
        }
        price.file_search = price.file_search.or(self.file_search);
        price.container = price.container.or(self.container);
    }
}

impl Entry {
    /// Adds the price of a service tier to the entries of its models.
    pub(super) fn add_to(&self, entries: &mut [PriceEntry]) -> Result<(), String> {
        self.check()?;
        let tier = self.tier.ok_or("missing `tier`: expected `flex` or `priority`")?;
        for model in &self.models {
            let name = full_name(&self.provider, model);
            let mut listed = entries.iter_mut().filter(|entry| entry.model.eq_ignore_ascii_case(&name)).peekable();
            if listed.peek().is_none() {
                return Err(format!("`{name}` has no entry in `prices`"));
            }
            for entry in listed {
                let price = Some(Box::new(self.price()));
                match tier {
                    TierName::Flex => entry.price.flex = price,
                    TierName::Priority => entry.price.priority = price,
                }
                cite(entry, self.source.as_deref(), self.seen.as_deref());
            }
        }
        Ok(())
    }
}

fn full_name(provider: &str, model: &str) -> String {
    format!("{provider}:{model}").to_ascii_lowercase()
}

/// Adds a source to those of an entry, whose day is the earliest of its sources.
pub(super) fn cite(entry: &mut PriceEntry, source: Option<&str>, seen: Option<&str>) {
    let sources = entry.source.get_or_insert_default();
    for page in source.unwrap_or_default().split(' ').filter(|page| !page.is_empty()) {
        if !sources.split(' ').any(|known| known == page) {
            let space = if sources.is_empty() { "" } else { " " };
            sources.extend([space, page]);
        }
    }
    if sources.is_empty() {
        entry.source = None;
    }
    if let Some(seen) = seen
        && entry.seen.as_deref().is_none_or(|known| seen < known)
    {
        entry.seen = Some(seen.to_owned());
    }
}
