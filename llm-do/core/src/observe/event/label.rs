//! Whose text a value may carry, and whether it is private.

use serde::{Deserialize, Serialize};

/// Whose text a value may carry, by where it came from: lower labels compare as less.
///
/// As JSON: `"trusted"`, `"bounded"` or `"untrusted"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Label {
    /// That of the user and of the program only.
    #[default]
    Trusted,
    /// Only values of a fixed set, such as numbers: anyone may have chosen which.
    Bounded,
    /// Text of anyone, which may contain instructions.
    Untrusted,
}

impl Label {
    /// Returns the label of a value that is made from two.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Bounded => "bounded",
            Self::Untrusted => "untrusted",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}

/// What is known of a value: whose text it may carry, and whether it is private.
///
/// As JSON: `{"label": "untrusted", "is_private": true}`, without the fields of a trusted or public value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Labels {
    /// Whose text the value may carry.
    #[serde(default, rename = "label", skip_serializing_if = "Label::is_trusted")]
    pub integrity: Label,
    /// Whether it is made from what a [private source](crate::plane::approval::Policy::private) returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_private: bool,
}

impl Labels {
    /// Creates the labels of a public value.
    #[must_use]
    pub fn public(integrity: Label) -> Self {
        Self { integrity, is_private: false }
    }

    /// Returns the labels of a value of which nothing is known: untrusted and private.
    pub(crate) fn unknown() -> Self {
        Self { integrity: Label::Untrusted, is_private: true }
    }

    /// Returns the labels of a value that is made from two.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { integrity: self.integrity.join(other.integrity), is_private: self.is_private || other.is_private }
    }

    /// Returns the labels of a value that has both, such as one of a conversation of which the worst is known.
    pub(crate) fn meet(self, other: Self) -> Self {
        let is_private = self.is_private && other.is_private;
        Self { integrity: self.integrity.min(other.integrity), is_private }
    }

    /// Returns them for a value that carries no text.
    pub(crate) fn bounded(self) -> Self {
        Self { integrity: self.integrity.min(Label::Bounded), ..self }
    }

    /// Returns them as a remark after a text, such as ` (untrusted, private)`; empty for what is trusted and public.
    #[doc(hidden)]
    #[must_use]
    pub fn remark(self) -> String {
        let words = self.words();
        if words.is_empty() { words } else { format!(" ({words})") }
    }

    /// Returns the words for them, without those for what is trusted or public.
    #[doc(hidden)]
    #[must_use]
    pub fn words(self) -> String {
        let integrity = Some(self.integrity.word()).filter(|_| self.integrity != Label::Trusted);
        let words: Vec<_> = integrity.into_iter().chain(self.is_private.then_some("private")).collect();
        words.join(", ")
    }

    /// Returns whether the value is trusted and public.
    #[doc(hidden)]
    #[must_use]
    pub fn is_default(self) -> bool {
        self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Label, Labels};

    #[test]
    fn a_join_is_at_least_both_and_a_meet_at_most_both() {
        let all = [Label::Trusted, Label::Bounded, Label::Untrusted];
        let all: Vec<_> = all
            .into_iter()
            .flat_map(|integrity| [false, true].map(|is_private| Labels { integrity, is_private }))
            .collect();
        for one in &all {
            for other in &all {
                let (join, meet) = (one.join(*other), one.meet(*other));
                assert_eq!(join, other.join(*one));
                assert_eq!((join.join(*one), meet.join(*one)), (join, *one));
                assert!(join.integrity >= one.integrity && meet.integrity <= one.integrity);
            }
        }
    }

    #[test]
    fn json_has_only_what_is_not_trusted_or_public() {
        let private = Labels { integrity: Label::Bounded, is_private: true };
        for (labels, written) in
            [(Labels::default(), json!({})), (private, json!({ "label": "bounded", "is_private": true }))]
        {
            assert_eq!(json!(labels), written);
            assert_eq!(serde_json::from_value::<Labels>(written).unwrap(), labels);
        }
    }
}
