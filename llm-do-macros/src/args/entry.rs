//! `#[entry(..)]`

use super::shared_keys::{self, HasSharedKeys, SharedKeys};
use super::{Grammar, Key};

/// The arguments of `#[entry]`.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) shared_keys: SharedKeys,
}

impl HasSharedKeys for Entry {
    fn shared_keys(&mut self) -> &mut SharedKeys {
        &mut self.shared_keys
    }
}

impl Grammar for Entry {
    const DOCS: &'static str = "llm_do::entry";
    const KEYS: &'static [Key<Self>] = &[
        shared_keys::name(),
        shared_keys::args(),
        shared_keys::error(),
        shared_keys::timeout(),
        shared_keys::toolsets(),
        shared_keys::description(),
    ];
}
