//! Code that makes calls by its text: its literals are known, and what it computes is made from what it has read.

use std::collections::BTreeSet;

use crate::observe::event::{Label, Labels, ValueOrigin};

/// The text of code that makes calls: a script of the program, or code that a model wrote.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenCode {
    is_by_model: bool,
    /// The texts that it contains, without spaces around them.
    literals: BTreeSet<String>,
    /// The labels of its text.
    labels: Labels,
}

impl WrittenCode {
    /// Returns code that a model wrote, which had the labels `labels` then.
    pub(crate) fn of_model(literals: BTreeSet<String>, labels: Labels) -> Self {
        Self { is_by_model: true, literals, labels }
    }

    /// Returns a script of the program.
    #[cfg(feature = "script")]
    pub(crate) fn of_program(literals: BTreeSet<String>) -> Self {
        Self { is_by_model: false, literals, labels: Labels::default() }
    }

    pub(crate) fn is_by_model(&self) -> bool {
        self.is_by_model
    }

    /// Returns the origin and the labels of a text that the code contains, unless an untrusted text may have put it there.
    pub(super) fn find(&self, text: &str) -> Option<(ValueOrigin, Labels)> {
        let is_known = self.labels.integrity != Label::Untrusted && self.literals.contains(text);
        let origin = if self.is_by_model { ValueOrigin::Literal } else { ValueOrigin::Code };
        is_known.then_some((origin, self.labels))
    }
}

#[cfg(test)]
mod tests {
    use super::{Label, Labels, ValueOrigin, WrittenCode};

    #[test]
    fn a_literal_is_as_trusted_as_the_code() {
        let literals = || ["Ann".to_owned()].into();
        let labels = Labels::public(Label::Bounded);
        let code = WrittenCode::of_model(literals(), labels);
        assert_eq!(code.find("Ann"), Some((ValueOrigin::Literal, labels)));
        assert_eq!(code.find("An"), None);
        assert_eq!(WrittenCode::of_model(literals(), Labels::unknown()).find("Ann"), None);
    }
}
