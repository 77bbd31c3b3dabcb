//! Headers of the caller's own.

use std::collections::BTreeMap;
use std::fmt;

/// Headers that go with a request, by name in lower case; `Debug` shows the names alone, since a value may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ExtraHeaders(BTreeMap<String, String>);

impl ExtraHeaders {
    /// Adds a header; a second one of that name takes the place of the first.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into().to_ascii_lowercase(), value.into());
    }

    /// Returns the headers, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(super) fn over(mut self, base: &Self) -> Self {
        for (name, value) in &base.0 {
            self.0.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self
    }
}

impl fmt::Debug for ExtraHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
