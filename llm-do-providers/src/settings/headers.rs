//! Additional request headers.

use std::collections::BTreeMap;
use std::fmt;

/// Additional request headers by lower-case name; `Debug` shows the names only, since a value may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ExtraHeaders(BTreeMap<String, String>);

impl ExtraHeaders {
    /// Sets a header, replacing one of the same name.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into().to_ascii_lowercase(), value.into());
    }

    /// Returns the headers, sorted by name.
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
