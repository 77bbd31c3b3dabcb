//! Code that makes calls by its text: its literals are known, and what it computes is made from what it has read.

use std::collections::BTreeMap;

use crate::observe::event::{Label, Labels, ValueOrigin};

/// The text of code that makes calls: a script of the program, or code that a model wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenCode {
    is_by_model: bool,
    /// The texts that it contains, without spaces around them, each with the labels of the code.
    literals: BTreeMap<String, Labels>,
}

impl WrittenCode {
    /// Returns code that a model wrote, without the texts that it contains.
    pub(crate) fn of_model() -> Self {
        Self { is_by_model: true, literals: BTreeMap::new() }
    }

    /// Returns a script of the program.
    #[cfg(feature = "script")]
    pub(crate) fn of_program(literals: impl IntoIterator<Item = String>) -> Self {
        Self::default().with_literals(literals, Labels::default())
    }

    /// Adds texts of the code that had these labels when it was written.
    #[cfg(any(feature = "script", test))]
    #[must_use]
    pub(crate) fn with_literals(mut self, literals: impl IntoIterator<Item = String>, labels: Labels) -> Self {
        // What an untrusted text may have put there is looked for as any other text.
        if labels.integrity != Label::Untrusted {
            self.literals.extend(literals.into_iter().map(|literal| (literal, labels)));
        }
        self
    }

    /// Adds the texts of code that ran before, whose variables this code may use.
    #[cfg(feature = "script")]
    #[must_use]
    pub(crate) fn after(mut self, earlier: &Self) -> Self {
        for (literal, labels) in &earlier.literals {
            let own = self.literals.entry(literal.clone()).or_insert(*labels);
            *own = own.meet(*labels);
        }
        self
    }

    pub(crate) fn is_by_model(&self) -> bool {
        self.is_by_model
    }

    /// Returns the origin and the labels of a text that the code contains, unless an untrusted text may have put it there.
    pub(super) fn find(&self, text: &str) -> Option<(ValueOrigin, Labels)> {
        let origin = if self.is_by_model { ValueOrigin::Literal } else { ValueOrigin::Code };
        self.literals.get(text).map(|labels| (origin, *labels))
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, Labels, ValueOrigin, WrittenCode};

    #[test]
    fn a_literal_is_as_trusted_as_the_code() {
        let code = |labels| WrittenCode::of_model().with_literals(["Ann".to_owned()], labels);
        let labels = Labels::public(Label::Bounded);
        assert_eq!(code(labels).find("Ann"), Some((ValueOrigin::Literal, labels)));
        assert_eq!(code(labels).find("An"), None);
        assert_eq!(code(Labels::unknown()).find("Ann"), None);
    }
}
