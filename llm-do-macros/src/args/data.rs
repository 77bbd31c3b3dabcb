//! `#[data(..)]`

use syn::LitBool;

use super::{Grammar, Key};

/// The arguments of `#[data]`.
#[derive(Default)]
pub(crate) struct Data {
    /// Whether the type gets `Debug`.
    pub(crate) debug: Option<LitBool>,
}

impl Grammar for Data {
    const DOCS: &'static str = "llm_do::data";
    const KEYS: &'static [Key<Self>] = &[Key::new("debug = false", |data, value| value.fill(&mut data.debug))];
}
