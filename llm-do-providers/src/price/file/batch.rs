//! The prices of batches, as a share of those of single requests.

use serde::Deserialize;

use super::fees::cite;
use crate::price::table::PriceEntry;

/// What tokens cost in batches of a provider, in percent of their price in single requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    provider: String,
    percent: u32,
    /// The percentage for tokens that are read from the cache. Default: `percent`.
    cached_percent: Option<u32>,
    source: Option<String>,
    seen: Option<String>,
}

impl Batch {
    /// Adds the price of batches to the entries of the provider.
    pub(super) fn add_to(&self, entries: &mut [PriceEntry]) -> Result<(), String> {
        let cached_percent = self.cached_percent.unwrap_or(self.percent);
        if self.percent.max(cached_percent) > 100 {
            return Err("`percent` and `cached_percent` must be from 0 to 100".to_owned());
        }
        let is_listed = |entry: &&mut PriceEntry| {
            entry.model.split_once(':').is_some_and(|(provider, _)| provider == self.provider)
        };
        let mut listed = entries.iter_mut().filter(is_listed).peekable();
        if listed.peek().is_none() {
            return Err(format!("`{}` has no entry in `prices`", self.provider));
        }
        for entry in listed {
            entry.price.batch = Some(Box::new(entry.price.scaled(self.percent, cached_percent)));
            cite(entry, self.source.as_deref(), self.seen.as_deref());
        }
        Ok(())
    }
}
