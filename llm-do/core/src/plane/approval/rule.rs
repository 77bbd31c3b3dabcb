//! Whether a call needs approval.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Approval;
use crate::observe::event::{DecidedBy, RuleSource};
use crate::plane::definition::DeclaredRule;

/// Whether calls of a tool need approval.
///
/// As JSON: `"ask"`, `"pre_approved"`, `"blocked"` or `{"blocked": {"reason": ".."}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Calls are refused, regardless of other rules, the mode and the approver.
    Blocked {
        /// The reason; models may see it.
        reason: String,
    },
    /// Calls run without approval.
    PreApproved,
    /// Calls need approval: the run's [`ApprovalMode`](super::ApprovalMode) decides, by default by asking the approver.
    Ask,
}

impl Rule {
    /// Returns the rule that refuses calls; the caller's error contains `reason`.
    #[must_use]
    pub fn blocked(reason: impl Into<String>) -> Self {
        Self::Blocked { reason: reason.into() }
    }

    /// Returns [`Rule::Ask`] or [`Rule::PreApproved`].
    pub(super) fn asking(asks: bool) -> Self {
        if asks { Self::Ask } else { Self::PreApproved }
    }

    pub(super) fn is_blocked(&self) -> bool {
        matches!(self, Self::Blocked { .. })
    }

    /// Returns the rank among rules of the same precedence: the highest wins.
    pub(super) fn strictness(&self) -> u8 {
        match self {
            Self::PreApproved => 0,
            Self::Ask => 1,
            Self::Blocked { .. } => 2,
        }
    }
}

/// A rule that applies to a call, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct AppliedRule {
    pub(super) rule: Rule,
    pub(crate) source: RuleSource,
    /// The number of policies before the one that contains the rule.
    pub(super) layer: usize,
}

impl AppliedRule {
    /// Creates a rule that comes after all policies.
    pub(super) fn new(rule: Rule, source: RuleSource) -> Self {
        Self { rule, source, layer: usize::MAX }
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.rule.is_blocked()
    }

    /// Returns whether it is the rule about where values came from.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.source, RuleSource::Flow(_))
    }

    /// Returns the decision of the rule about a call; `None` if the call needs approval.
    pub(crate) fn approval(&self) -> Option<Approval> {
        match &self.rule {
            Rule::PreApproved => Some(Approval::approved(DecidedBy::Policy)),
            Rule::Blocked { reason } => Some(Approval::blocked(reason)),
            Rule::Ask => None,
        }
    }
}

/// The reason of a rule that is only the word `blocked`.
const BLOCKED: &str = "a rule of the policy blocks it";
/// The words for rules.
const WORDS: &[&str] = &["blocked", "pre_approved", "ask"];

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

/// Reads a rule that is a word or a map.
struct RuleVisitor;

/// A rule that is a map.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RuleMap {
    Blocked { reason: String },
    PreApproved,
    Ask,
}

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = Rule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"`"ask"`, `"pre_approved"`, `"blocked"` or `{"blocked": {"reason": ".."}}`"#)
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Rule, E> {
        match word {
            "blocked" => Ok(Rule::blocked(BLOCKED)),
            "pre_approved" => Ok(Rule::PreApproved),
            "ask" => Ok(Rule::Ask),
            _ => Err(E::unknown_variant(word, WORDS)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rule, A::Error> {
        Ok(match RuleMap::deserialize(MapAccessDeserializer::new(map))? {
            RuleMap::Blocked { reason } => Rule::Blocked { reason },
            RuleMap::PreApproved => Rule::PreApproved,
            RuleMap::Ask => Rule::Ask,
        })
    }
}

impl From<DeclaredRule> for Rule {
    fn from(declared: DeclaredRule) -> Self {
        match declared {
            DeclaredRule::Ask => Self::Ask,
            DeclaredRule::PreApproved => Self::PreApproved,
            DeclaredRule::Blocked(reason) => Self::blocked(reason),
        }
    }
}

/// Returns the first rule that blocks, or else the first.
pub(super) fn first_or_block<T>(rules: impl IntoIterator<Item = T>, is_blocked: impl Fn(&T) -> bool) -> Option<T> {
    let mut rules = rules.into_iter();
    let first = rules.next()?;
    if is_blocked(&first) {
        return Some(first);
    }
    Some(rules.find(is_blocked).unwrap_or(first))
}
