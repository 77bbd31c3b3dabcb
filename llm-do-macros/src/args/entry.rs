//! `#[entry(..)]`

use super::heading::{self, Headed, Heading};
use super::{Grammar, Key};

/// The arguments of `#[entry]`.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) heading: Heading,
}

impl Headed for Entry {
    fn heading(&mut self) -> &mut Heading {
        &mut self.heading
    }
}

impl Grammar for Entry {
    const DOCS: &'static str = "llm_do::entry";
    const KEYS: &'static [Key<Self>] =
        &[heading::name(), heading::args(), heading::timeout(), heading::toolsets(), heading::description()];
}
